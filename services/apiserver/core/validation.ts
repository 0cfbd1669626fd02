// Validation of objects in the API server's words: what a world file and a create request must satisfy alike.
import type { FieldProblem } from "../errors.ts";
import type { JsonObject, Manifest } from "../types.ts";
import { isObject, objectAt, objectsAt, textAt, textsAt } from "./fields.ts";
import { containersOf } from "./pod.ts";

const RBAC_GROUP = "rbac.authorization.k8s.io";
const DOCKER_CONFIG_KEYS: Readonly<Record<string, string>> = {
  "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
  "kubernetes.io/dockercfg": ".dockercfg",
};

/** All problems of an object whose kind is known, after defaulting. */
export function listObjectProblems(object: Manifest): FieldProblem[] {
  return [...listNameProblems(object), ...(VALIDATIONS[object.kind]?.(object) ?? [])];
}

const VALIDATIONS: Readonly<Record<string, (object: Manifest) => FieldProblem[]>> = {
  Pod: listPodProblems,
  Secret: listSecretProblems,
  Role: listRuleProblems,
  ClusterRole: listRuleProblems,
  RoleBinding: listBindingProblems,
  ClusterRoleBinding: listBindingProblems,
};

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function listNameProblems({ kind, apiVersion, metadata }: Manifest): FieldProblem[] {
  const path = "metadata.name";
  const name = metadata.name ?? "";
  if (name === "") return [{ path, message: "Required value: name or generateName is required" }];
  const invalid = (why: string) => [{ path, message: `Invalid value: "${name}": ${why}` }];
  if (apiVersion.startsWith(RBAC_GROUP)) {
    return name === "." || name === ".." || /[/%]/.test(name)
      ? invalid("may not be '.', '..' or contain '/' or '%'")
      : [];
  }
  if (kind === "Namespace") {
    const why = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'";
    return LABEL.test(name) && name.length <= 63 ? [] : invalid(why);
  }
  const why = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";
  return SUBDOMAIN.test(name) && name.length <= 253 ? [] : invalid(why);
}

function listPodProblems(pod: Manifest): FieldProblem[] {
  const spec = objectAt(pod, "spec");
  if (objectsAt(spec, "containers").length === 0) return [{ path: "spec.containers", message: "Required value" }];
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  for (const [index, container] of containersOf(spec).entries()) {
    const path = `spec.containers[${index}]`;
    const name = textAt(container, "name");
    if (name === "") problems.push({ path: `${path}.name`, message: "Required value" });
    else if (seen.has(name)) problems.push({ path: `${path}.name`, message: `Duplicate value: "${name}"` });
    seen.add(name);
    if (textAt(container, "image").trim() === "") problems.push({ path: `${path}.image`, message: "Required value" });
    problems.push(...listPullPolicyProblems(`${path}.imagePullPolicy`, container));
  }
  return problems;
}

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

function listPullPolicyProblems(path: string, container: JsonObject): FieldProblem[] {
  const policy = container.imagePullPolicy;
  if (policy === undefined || PULL_POLICIES.includes(String(policy))) return [];
  const supported = PULL_POLICIES.map((each) => `"${each}"`).join(", ");
  return [{ path, message: `Unsupported value: "${policy}": supported values: ${supported}` }];
}

function listSecretProblems(secret: Manifest): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const data = objectAt(secret, "data");
  for (const [key, value] of Object.entries(data)) {
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
      problems.push({
        path: `data[${key}]`,
        message: `Invalid value: "${key}": a valid config key must consist of alphanumeric characters, '-', '_' or '.'`,
      });
    }
    if (typeof value !== "string" || !isBase64(value)) {
      problems.push({ path: `data[${key}]`, message: "Invalid value: expected base64 text" });
    }
  }
  const required = DOCKER_CONFIG_KEYS[textAt(secret, "type")];
  if (required === undefined) return problems;
  if (!(required in data)) return [...problems, { path: `data[${required}]`, message: "Required value" }];
  const text = Buffer.from(textAt(data, required), "base64").toString("utf8");
  // The content is secret: never part of the message.
  if (!isJson(text))
    problems.push({ path: `data[${required}]`, message: 'Invalid value: "<secret contents redacted>": expected JSON' });
  return problems;
}

function listRuleProblems(role: Manifest): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, rule] of objectsAt(role, "rules").entries()) {
    const path = `rules[${index}]`;
    if (textsAt(rule, "verbs").length === 0) {
      problems.push({ path: `${path}.verbs`, message: "Required value: verbs must contain at least one value" });
    }
    if (textsAt(rule, "nonResourceURLs").length > 0) {
      if (role.kind === "Role") {
        const why = "namespaced rules cannot apply to non-resource URLs";
        problems.push({ path: `${path}.nonResourceURLs`, message: `Invalid value: ${why}` });
      }
      continue;
    }
    if (textsAt(rule, "apiGroups").length === 0) {
      const why = "resource rules must supply at least one api group";
      problems.push({ path: `${path}.apiGroups`, message: `Required value: ${why}` });
    }
    if (textsAt(rule, "resources").length === 0) {
      const why = "resource rules must supply at least one resource";
      problems.push({ path: `${path}.resources`, message: `Required value: ${why}` });
    }
  }
  return problems;
}

function listBindingProblems(binding: Manifest): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const ref = objectAt(binding, "roleRef");
  const kinds = binding.kind === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
  problems.push(...unsupported("roleRef.apiGroup", textAt(ref, "apiGroup"), [RBAC_GROUP]));
  problems.push(...unsupported("roleRef.kind", textAt(ref, "kind"), kinds));
  if (textAt(ref, "name") === "") problems.push({ path: "roleRef.name", message: "Required value" });
  for (const [index, subject] of objectsAt(binding, "subjects").entries()) {
    const path = `subjects[${index}]`;
    const kind = textAt(subject, "kind");
    if (textAt(subject, "name") === "") problems.push({ path: `${path}.name`, message: "Required value" });
    problems.push(...unsupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]));
    if (kind === "ServiceAccount" && textAt(subject, "namespace") === "") {
      problems.push({ path: `${path}.namespace`, message: "Required value" });
    }
  }
  return problems;
}

function unsupported(path: string, found: string, supported: readonly string[]): FieldProblem[] {
  if (supported.includes(found)) return [];
  const list = supported.map((each) => `"${each}"`).join(", ");
  return [{ path, message: `Unsupported value: "${found}": supported values: ${list}` }];
}

function isBase64(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64") === text.replace(/\s/g, "");
}

function isJson(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false; // the question was whether it is JSON
  }
}
