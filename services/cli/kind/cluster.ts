// kind.yaml: the cluster (spec wiring 1.3). Unversioned kubeadm patches in map form fit v1beta3 and v1beta4 alike.
import type { Minor } from "./minors.ts";
import { FILES, NODE_PATHS } from "./paths.ts";
import type { KindPlan } from "./types.ts";
import { yaml } from "./yaml.ts";

/** Kind's own images, for the policy that verifies everything else: they have no record and no credentials. */
const KIND_IMAGES = ["registry.k8s.io/*", "docker.io/kindest/*"];

const CONTAINERD_PATCH = `[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "${NODE_PATHS.hosts}"`;

/** The cluster configuration that \`kind create cluster\` takes. */
export function renderCluster(plan: KindPlan & { readonly facts: Minor }): string {
  const { facts, minor, name, workers } = plan;
  const parts = [
    `# A kind cluster of Kubernetes ${minor} whose nodes get image credentials from the stack. Made by pullproof kind generate.
# Paths of the host are relative: run kind in this folder, or use ${FILES.create}.`,
    yaml({ kind: "Cluster", apiVersion: "kind.x-k8s.io/v1alpha4", name }),
  ];
  if (Object.keys(facts.gates).length > 0) {
    parts.push(
      `# Off by default in ${minor}. kind hands gates to every component.`,
      yaml({ featureGates: facts.gates }),
    );
  }
  parts.push(
    "# One path only: containerd reads hosts.toml below it. kind's containerd configuration has version 2, hence the section's name.",
    yaml({ containerdConfigPatches: [CONTAINERD_PATCH] }),
    "# Without apiVersion they apply to v1beta3 and v1beta4. The first node reads InitConfiguration, the others JoinConfiguration.",
    yaml({ kubeadmConfigPatches: kubeadmPatches(plan) }),
    yaml({ nodes: [controlPlane(plan), ...Array.from({ length: workers }, (_, at) => worker(plan, at))] }),
  );
  return `${parts.map((part) => part.trimEnd()).join("\n")}\n`;
}

function kubeadmPatches(plan: KindPlan): readonly string[] {
  const nodeRegistration = {
    kubeletExtraArgs: {
      "image-credential-provider-config": NODE_PATHS.provider,
      "image-credential-provider-bin-dir": NODE_PATHS.plugins,
    },
  };
  const patches: object[] = [
    { kind: "InitConfiguration", nodeRegistration },
    { kind: "JoinConfiguration", nodeRegistration },
    { kind: "KubeletConfiguration", apiVersion: "kubelet.config.k8s.io/v1beta1", ...kubeletFields(plan) },
  ];
  if (plan.issuer === "stack")
    patches.push({ kind: "ClusterConfiguration", apiServer: { extraArgs: issuerArgs(plan) } });
  return patches.map((patch) => yaml(patch));
}

function kubeletFields({ kubelet, policy }: KindPlan): object {
  const { preloadedImagesVerificationAllowlist: given, ...fields } = kubelet;
  const own = Array.isArray(given) ? given.map(String) : [];
  // The list with any other policy is an error at the kubelet's start.
  const allowlist =
    policy === "NeverVerifyAllowlistedImages"
      ? { preloadedImagesVerificationAllowlist: [...new Set([...KIND_IMAGES, ...own])] }
      : {};
  return { ...fields, imagePullCredentialsVerificationPolicy: policy, ...allowlist };
}

/** The cluster's tokens carry the stack's issuer and are signed with its key; api-audiences stays unset on purpose. */
function issuerArgs({ issuerUrl }: KindPlan): object {
  return {
    "service-account-issuer": issuerUrl,
    "service-account-jwks-uri": `${issuerUrl.replace(/\/$/, "")}/keys`,
  };
}

function controlPlane(plan: KindPlan): object {
  // On the first control plane only, and writable: kubeadm keeps an existing key, but then wants the public one too.
  const keys = [mount(FILES.key, NODE_PATHS.key), mount(FILES.publicKey, NODE_PATHS.publicKey)];
  return {
    role: "control-plane",
    image: plan.image,
    extraMounts: [...nodeMounts(), ...(plan.issuer === "stack" ? keys : [])],
  };
}

function worker(plan: KindPlan, at: number): object {
  return {
    role: "worker",
    image: plan.image,
    labels: { "pullproof.dev/node": `node-${at + 1}` },
    extraMounts: nodeMounts(),
  };
}

/** Every node needs its own, from the kubelet's first start on. */
function nodeMounts(): readonly object[] {
  return [
    mount(FILES.pluginFolder, NODE_PATHS.plugins, true),
    mount("plugin/config", NODE_PATHS.providerFolder, true),
    mount(FILES.ca, NODE_PATHS.ca, true),
    mount(FILES.hostsFolder, NODE_PATHS.hosts, true),
  ];
}

function mount(host: string, containerPath: string, readOnly = false): object {
  return { hostPath: `./${host}`, containerPath, ...(readOnly ? { readOnly } : {}) };
}
