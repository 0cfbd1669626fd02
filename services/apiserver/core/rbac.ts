// Role-based access control: who is bound to which rules, and whether one of them covers the request.
// Aggregated ClusterRoles are taken as written; a role that does not exist grants nothing.
import type { Attributes, Authorization, JsonObject, KubeObject, ObjectLookup, User } from "../types.ts";
import { objectAt, objectsAt, textAt, textsAt } from "./fields.ts";

/** Decides by ClusterRoleBindings and by the RoleBindings of the request's namespace. */
export function decideRbac(user: User, attributes: Attributes, objects: ObjectLookup): Authorization {
  const missing: string[] = [];
  for (const binding of bindingsFor(attributes, objects)) {
    if (!objectsAt(binding, "subjects").some((subject) => namesUser(subject, user))) continue;
    const role = findRole(binding, objects);
    if (!role.found) missing.push(`${role.name} not found`);
    const rule = role.rules.find((candidate) => covers(candidate, attributes));
    if (rule) return { allowed: true, by: `${describe(binding)} → ${role.name}` };
  }
  return { allowed: false, text: renderMissing(missing), because: "no-rbac-rule" };
}

/** True if one of these rules allows the request (also used for rules that are not bound by objects). */
export function covers(rule: JsonObject, attributes: Attributes): boolean {
  if (!has(textsAt(rule, "verbs"), attributes.verb)) return false;
  if (attributes.kind === "path")
    return textsAt(rule, "nonResourceURLs").some((url) => matchesUrl(url, attributes.path));
  const { group, resource, subresource, name } = attributes;
  if (!has(textsAt(rule, "apiGroups"), group)) return false;
  if (!coversResource(textsAt(rule, "resources"), resource, subresource)) return false;
  const names = textsAt(rule, "resourceNames");
  return names.length === 0 || names.includes(name);
}

function coversResource(resources: readonly string[], resource: string, subresource: string): boolean {
  const wanted = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (each) => each === "*" || each === wanted || (subresource !== "" && each === `*/${subresource}`),
  );
}

function* bindingsFor(attributes: Attributes, objects: ObjectLookup): Iterable<KubeObject> {
  yield* objects.list("clusterrolebindings");
  if (attributes.kind === "resource") yield* objects.list("rolebindings", attributes.namespace);
}

function findRole(
  binding: KubeObject,
  objects: ObjectLookup,
): { name: string; found: boolean; rules: readonly JsonObject[] } {
  const ref = objectAt(binding, "roleRef");
  const name = textAt(ref, "name");
  const namespaced = textAt(ref, "kind") === "Role";
  const namespace = binding.metadata.namespace ?? "";
  const role = namespaced ? objects.find("roles", namespace, name) : objects.find("clusterroles", "", name);
  const title = `${namespaced ? "role" : "clusterrole"}.rbac.authorization.k8s.io "${name}"`;
  return { name: title, found: role !== undefined, rules: role ? objectsAt(role, "rules") : [] };
}

function namesUser(subject: JsonObject, user: User): boolean {
  const name = textAt(subject, "name");
  switch (subject.kind) {
    case "User":
      return name === user.name;
    case "Group":
      return user.groups.includes(name);
    case "ServiceAccount":
      return `system:serviceaccount:${textAt(subject, "namespace")}:${name}` === user.name;
    default:
      return false;
  }
}

function describe(binding: KubeObject): string {
  const { namespace, name } = binding.metadata;
  return `${binding.kind} ${namespace ? `${namespace}/` : ""}${name}`;
}

function renderMissing(missing: readonly string[]): string {
  if (missing.length === 0) return "";
  return missing.length === 1 ? `RBAC: ${missing[0]}` : `RBAC: [${missing.join(", ")}]`;
}

function has(list: readonly string[], wanted: string): boolean {
  return list.includes("*") || list.includes(wanted);
}

function matchesUrl(pattern: string, path: string): boolean {
  if (pattern.endsWith("*")) return path.startsWith(pattern.slice(0, -1));
  return pattern === path;
}
