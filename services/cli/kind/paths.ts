// Where things are in the generated folder, and where the nodes find them.

/** Relative to the generated folder. */
export const FILES = {
  readme: "README.md",
  ignore: ".gitignore",
  cluster: "kind.yaml",
  create: "create.sh",
  connect: "connect.sh",
  provider: "plugin/config/config.yaml",
  pluginFolder: "plugin/bin",
  hostsFolder: "certs.d",
  audience: "manifests/audience.yaml",
  world: "manifests/world.yaml",
  ca: "tls/ca.pem",
  /** What the stack's container mounts as /etc/pullproof: its world, and the key that signs the cluster's tokens. */
  configFolder: "config",
  config: "config/pullproof.yaml",
  key: "config/sa.key",
  publicKey: "config/sa.pub",
} as const;

/** In a node. The CA is where Go programs look by themselves: kubelet, containerd and plugins written in Go trust it. */
export const NODE_PATHS = {
  provider: "/etc/kubernetes/credential-provider/config.yaml",
  providerFolder: "/etc/kubernetes/credential-provider",
  plugins: "/opt/credential-provider/bin",
  hosts: "/etc/containerd/certs.d",
  ca: "/etc/ssl/certs/pullproof-ca.pem",
  key: "/etc/kubernetes/pki/sa.key",
  publicKey: "/etc/kubernetes/pki/sa.pub",
} as const;
