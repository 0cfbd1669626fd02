// Everything this server keeps, one line each. A resource that is not in this table does not exist.
import type { Attributes } from "../types.ts";

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Members beside apiVersion, kind and metadata. */
  readonly fields: readonly string[];
}

const RBAC = "rbac.authorization.k8s.io";
const BASIC = ["create", "get", "list", "delete"];
const REPLACEABLE = [...BASIC, "update"];
const SPEC = ["spec", "status"];
const ROLE = ["rules", "aggregationRule"];
const BINDING = ["roleRef", "subjects"];
const SECRET = ["data", "stringData", "type", "immutable"];
const ACCOUNT = ["secrets", "imagePullSecrets", "automountServiceAccountToken"];

function line(key: string, kind: string, verbs: readonly string[], fields: readonly string[]): Resource {
  const [scope = "", group = ""] = key.split(":");
  return { group, version: "v1", kind, namespaced: scope === "namespaced", verbs, fields };
}

export const RESOURCES: Readonly<Record<string, Resource>> = {
  namespaces: line("cluster:", "Namespace", BASIC, SPEC),
  nodes: line("cluster:", "Node", BASIC, SPEC),
  pods: line("namespaced:", "Pod", BASIC, SPEC),
  secrets: line("namespaced:", "Secret", REPLACEABLE, SECRET),
  serviceaccounts: line("namespaced:", "ServiceAccount", REPLACEABLE, ACCOUNT),
  persistentvolumeclaims: line("namespaced:", "PersistentVolumeClaim", BASIC, SPEC),
  persistentvolumes: line("cluster:", "PersistentVolume", BASIC, SPEC),
  csidrivers: line("cluster:storage.k8s.io", "CSIDriver", BASIC, ["spec"]),
  clusterroles: line(`cluster:${RBAC}`, "ClusterRole", REPLACEABLE, ROLE),
  clusterrolebindings: line(`cluster:${RBAC}`, "ClusterRoleBinding", REPLACEABLE, BINDING),
  roles: line(`namespaced:${RBAC}`, "Role", REPLACEABLE, ["rules"]),
  rolebindings: line(`namespaced:${RBAC}`, "RoleBinding", REPLACEABLE, BINDING),
  tokenreviews: line("cluster:authentication.k8s.io", "TokenReview", ["create"], SPEC),
};

/** `v1` or `<group>/v1`. */
export function renderApiVersion(resource: Pick<Resource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** The plural name and line of a manifest's kind, or undefined. */
export function findKind(apiVersion: unknown, kind: unknown): { name: string; resource: Resource } | undefined {
  for (const [name, resource] of Object.entries(RESOURCES)) {
    if (resource.kind === kind && renderApiVersion(resource) === apiVersion) return { name, resource };
  }
  return undefined;
}

const VERB_NAMES: Readonly<Record<string, string>> = {
  create: "Create",
  get: "Get",
  list: "List",
  delete: "Delete",
  update: "Update",
};

const PATH_OPERATIONS: Readonly<Record<string, string>> = {
  "/.well-known/openid-configuration": "GetDiscovery",
  "/openid/v1/jwks": "GetKeys",
};

/** The operation's one name: `apiserver:CreateToken`, `apiserver:GetServiceAccount`, … */
export function nameOperation(attributes: Attributes): string {
  if (attributes.kind === "path") return `apiserver:${PATH_OPERATIONS[attributes.path] ?? "GetPath"}`;
  const kind = Object.hasOwn(RESOURCES, attributes.resource) ? RESOURCES[attributes.resource]?.kind : undefined;
  const verb = VERB_NAMES[attributes.verb];
  if (!kind || !verb) return "apiserver:Unknown";
  if (attributes.resource === "serviceaccounts" && attributes.subresource === "token") return `apiserver:${verb}Token`;
  return `apiserver:${verb}${kind}${attributes.verb === "list" ? "s" : ""}`;
}
