// README.md of a generated folder: what each file is for, the steps in order, and what this minor cannot do.
import { KIND_VERSION, type Minor } from "./minors.ts";
import { FILES, NODE_PATHS } from "./paths.ts";
import { pluginOf } from "./scripts.ts";
import type { KindPlan } from "./types.ts";

type Plan = KindPlan & { readonly facts: Minor };

/** The README as Markdown. */
export function renderReadme(plan: Plan, warnings: readonly string[]): string {
  const { minor, facts, issuerUrl } = plan;
  return `# A kind cluster of Kubernetes ${minor} that pulls through the stack

Made by \`pullproof kind generate --kubernetes ${minor}\` from the world \`${plan.world.source}\`. Node image \`${plan.image.split("@")[0]}\`
(containerd ${facts.containerd}, kubeadm ${facts.kubeadm}); kind ${KIND_VERSION}.

## Files

| file | what it is for |
| --- | --- |
${fileRows(plan)
  .map(([file, text]) => `| \`${file}\` | ${text} |`)
  .join("\n")}

## Steps

${steps(plan)
  .map((step, index) => `${index + 1}. ${step}`)
  .join("\n")}

## Names in the cluster

- Audience: ${plan.audiences.map((audience) => `\`${audience}\``).join(", ") || "none"}.
- Issuer of the cluster's tokens: ${plan.issuer === "stack" ? `\`${issuerUrl}\`` : "the cluster's own"}.
- Registries: ${plan.registryHosts.map((host) => `\`${host}\``).join(", ")}.
- Policy for images that are on a node: \`${plan.policy}\`.
${warnings.length === 0 ? "" : `\n## Mind\n\n${warnings.map((text) => `- ${text}.`).join("\n")}\n`}
## When it does not work

- \`kind create cluster --retain\`, then \`docker exec ${plan.name}-control-plane journalctl -u kubelet\`: a kubelet that cannot read
  \`${NODE_PATHS.provider}\` or finds no plugin does not start. Since 1.35 it does not start on a host with cgroup v1 either, unless the KubeletConfiguration patch
  says \`failCgroupV1: false\`.
- A Pod that pulls anonymously although a provider matches: the node may not have the audience (\`${FILES.audience}\` not applied), the
  ServiceAccount lacks a required annotation, or the image name has a port. None of these is an error of the kubelet's.
- \`docker exec ${plan.name}-control-plane getent hosts ${plan.registryHosts[0] ?? "sts.amazonaws.com"}\` must print the stack's address in kind's network.
- containerd goes to the real registry if \`hosts.toml\` cannot be read, and says so only in its log: \`journalctl -u containerd\`.
- \`docker exec ${plan.name}-control-plane ls /var/lib/kubelet/image_manager/pulled\` shows the pull records.
`;
}

function fileRows(plan: Plan): readonly (readonly [string, string])[] {
  const own = plan.issuer === "stack";
  const rows: (readonly [string, string] | undefined)[] = [
    [FILES.cluster, "the cluster: nodes, mounts, and the patches for containerd, kubeadm and the kubelet"],
    [FILES.provider, `the kubelet's \`CredentialProviderConfig\`, in every node at \`${NODE_PATHS.provider}\``],
    [
      `${FILES.pluginFolder}/`,
      `the credential provider itself, in every node at \`${NODE_PATHS.plugins}\`; yours to fill`,
    ],
    [
      `${FILES.hostsFolder}/*/hosts.toml`,
      "where containerd goes for each registry of the world, and the CA it trusts there",
    ],
    [FILES.ca, `the stack's CA; \`${FILES.create}\` fetches it. In every node at \`${NODE_PATHS.ca}\``],
    own
      ? [
          `${FILES.key}, ${FILES.publicKey}`,
          "the issuer's key: the API server signs with it, so the stack's STS knows the tokens",
        ]
      : undefined,
    own ? [FILES.config, "the world with that key, for the stack's container (only if the world had none)"] : undefined,
    [FILES.audience, "RBAC: nodes may ask for tokens with the provider's audience"],
    [FILES.world, "the world's Namespaces, ServiceAccounts, Secrets and roles"],
    [FILES.create, "checks, creates the cluster, connects the stack, applies the manifests"],
    [FILES.connect, "only the connection: `docker network connect` with every alias"],
  ];
  return rows.filter((row) => row !== undefined);
}

function steps(plan: Plan): readonly string[] {
  const { container, issuer, world } = plan;
  const plugin = pluginOf(plan);
  const start =
    issuer === "stack"
      ? `Start the stack with this folder's \`config\`, for then it holds the cluster's key:
   \`PULLPROOF_CONFIG_FOLDER="$PWD/config" docker compose up --wait\` in the folder of docker-compose.yml. The container runs as user 1000 and
   must be able to read \`${FILES.key}\`. If \`config/pullproof.yaml\` is not there, the world \`${world.source}\` was given without a key: put
   \`key: {file: sa.key}\` below \`issuers.${world.cluster.issuer}\` in it and copy it to \`${FILES.config}\`.`
      : "Start the stack: `docker compose up --wait` in the folder of docker-compose.yml.";
  const trust = `Tell the stack of the cluster's key: put the answer of \`kubectl get --raw /openid/v1/jwks\` into the world, as
   \`issuers: {kind: {url: "https://kubernetes.default.svc.cluster.local", jwks: …}}\`, name \`kind\` in the accounts' \`oidcProviders\` and the
   issuer in the roles' trust policies, and start the stack again. A new cluster has a new key.`;
  return [
    `Put \`${plugin}\` into \`${FILES.pluginFolder}/\`, executable, built statically for Linux on the nodes' architecture. The official one:
   \`CGO_ENABLED=0 GOOS=linux go build -o ${FILES.pluginFolder}/${plugin} k8s.io/cloud-provider-aws/cmd/ecr-credential-provider\` in a module
   that requires \`k8s.io/cloud-provider-aws\` v1.34.0 or newer. The stack's built-in plugin needs Node and does not run in kind's nodes.`,
    start,
    `\`./${FILES.create} CONTAINER\`, where CONTAINER is the stack's container (\`docker compose ps -q pullproof\`; \`${container}\` if left out).`,
    ...(issuer === "cluster" ? [trust] : []),
    `\`kubectl run\` a Pod with an image of the world and one of its ServiceAccounts. When the stack's container is made anew, run
   \`./${FILES.connect} CONTAINER\` again. \`kind delete cluster --name ${plan.name}\` ends it; the Docker network \`kind\` stays.`,
  ];
}
