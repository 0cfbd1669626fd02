// What kubectl applies: the permission of nodes for the audience, and the world's own objects.
import type { KindPlan } from "./types.ts";
import { yaml } from "./yaml.ts";

const NAME = "pullproof-node-audience";

/** Nodes may ask for tokens with the providers' audiences: nothing grants that by default (spec kubelet 5.2). */
export function renderAudience({ audiences }: KindPlan): string {
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: NAME },
    // The resource is the audience itself. resourceNames would limit it to ServiceAccounts of these names.
    rules: [{ apiGroups: [""], verbs: ["request-serviceaccounts-token-audience"], resources: audiences }],
  };
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: NAME },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: NAME },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:nodes" }],
  };
  return `# Lets every kubelet ask for ServiceAccount tokens with the audience that the credential provider needs.\n${join([role, binding])}`;
}

/** Kinds that a kind cluster makes itself, or that name simulated nodes. */
const LEFT_OUT = new Set(["Node", "Pod"]);

/** The world's Namespaces, ServiceAccounts, Secrets and RBAC objects; undefined if it has none. */
export function renderWorldObjects({ world }: KindPlan): string | undefined {
  const objects = world.cluster.objects.filter(({ kind }) => !LEFT_OUT.has(kind));
  if (objects.length === 0) return undefined;
  const order = (kind: string) => (kind === "Namespace" ? 0 : 1);
  const sorted = [...objects].sort((left, right) => order(left.kind) - order(right.kind));
  return `# The objects of the world: the tenants' Namespaces, ServiceAccounts and Secrets.\n${join(sorted)}`;
}

function join(objects: readonly object[]): string {
  return objects.map((object) => yaml(object)).join("---\n");
}
