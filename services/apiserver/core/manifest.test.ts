import { expect, test } from "vitest";
import { defaultPullPolicy } from "./admission.ts";
import { parseAttributes } from "./attributes.ts";
import { listManifestProblems } from "./manifest.ts";
import { createProfile } from "./profile.ts";

const NS = { apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } };
const account = (metadata: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "s", namespace: "a", ...metadata },
  ...more,
});
const secret = (more: Record<string, unknown>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s", namespace: "a" },
  ...more,
});
const role = (rules: unknown[], kind = "ClusterRole") => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind,
  metadata: { name: "r", ...(kind === "Role" ? { namespace: "a" } : {}) },
  rules,
});
const binding = (more: Record<string, unknown>) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: "r" },
  roleRef: { kind: "ClusterRole", name: "x" },
  subjects: [],
  ...more,
});
const podOf = (containers: unknown[]) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "a" },
  spec: { containers },
});
const DOCKER = { type: "kubernetes.io/dockerconfigjson" };

test.each([
  ["a good account", account(), []],
  ["no object", "x", ["expected a Kubernetes manifest"]],
  ["an unknown kind", { ...account(), kind: "Servant" }, ["kind", "found v1 Servant"]],
  ["another version", { ...account(), apiVersion: "v2" }, ["kind", "found v2 ServiceAccount"]],
  ["an unknown member", account({}, { spec: {} }), ["spec", 'unknown field "spec"']],
  ["an unknown member of metadata", account({ nam: "x" }), ["metadata.nam", 'unknown field "metadata.nam"']],
  [
    "an annotation that is a number",
    account({ annotations: { "a.b/c": 1 } }),
    ["metadata.annotations.a.b/c", "expected string"],
  ],
  ["no name", account({ name: undefined }), ["metadata.name", "Required value"]],
  ["an upper-case name", account({ name: "S" }), ["metadata.name", 'Invalid value: "S"']],
  ["an unknown namespace", account({ namespace: "b" }), ["metadata.namespace", "found b"]],
  ["the namespace that is always there", account({ namespace: "default" }), []],
  [
    "a namespaced Namespace",
    { ...NS, metadata: { name: "c", namespace: "a" } },
    ["metadata.namespace", "has no namespace"],
  ],
  ["text data", secret({ stringData: { a: "b" } }), []],
  ["data that is no base64", secret({ data: { a: "!" } }), ["data.a", "expected base64"]],
  ["a bad data key", secret({ stringData: { "a b": "c" } }), ["data.a b", "valid config key"]],
  ["a docker config", secret({ ...DOCKER, stringData: { ".dockerconfigjson": "{}" } }), []],
  [
    "a docker config without its key",
    secret({ ...DOCKER, stringData: { config: "{}" } }),
    ["data..dockerconfigjson", "Required value"],
  ],
  [
    "a docker config that is no JSON",
    secret({ ...DOCKER, stringData: { ".dockerconfigjson": "geheim" } }),
    ["data..dockerconfigjson", "redacted"],
  ],
  ["a rule", role([{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }]), []],
  ["a rule without verbs", role([{ apiGroups: [""], resources: ["pods"] }]), ["rules.0.verbs", "Required value"]],
  ["a rule without groups", role([{ verbs: ["get"], resources: ["pods"] }]), ["rules.0.apiGroups", "Required value"]],
  ["a rule without resources", role([{ verbs: ["get"], apiGroups: [""] }]), ["rules.0.resources", "Required value"]],
  [
    "a path rule in a Role",
    role([{ verbs: ["get"], nonResourceURLs: ["/x"] }], "Role"),
    ["rules.0.nonResourceURLs", "Invalid value"],
  ],
  ["a path rule in a ClusterRole", role([{ verbs: ["get"], nonResourceURLs: ["/x"] }]), []],
  ["a binding", binding({ subjects: [{ kind: "User", name: "u" }] }), []],
  [
    "a binding to a Role across namespaces",
    binding({ roleRef: { kind: "Role", name: "x" } }),
    ["roleRef.kind", 'Unsupported value: "Role"'],
  ],
  ["a subject of no kind", binding({ subjects: [{ name: "u" }] }), ["subjects.0.kind", "Unsupported value"]],
  [
    "an account without namespace",
    binding({ subjects: [{ kind: "ServiceAccount", name: "u" }] }),
    ["subjects.0.namespace", "Required value"],
  ],
  ["a Pod", podOf([{ name: "c", image: "i" }]), []],
  ["a Pod without containers", podOf([]), ["spec.containers", "Required value"]],
  ["a container without image", podOf([{ name: "c" }]), ["spec.containers.0.image", "Required value"]],
  [
    "two containers of one name",
    podOf([
      { name: "c", image: "i" },
      { name: "c", image: "i" },
    ]),
    ["spec.containers.1.name", "Duplicate value"],
  ],
  [
    "a pull policy that is none",
    podOf([{ name: "c", image: "i", imagePullPolicy: "Sometimes" }]),
    ["spec.containers.0.imagePullPolicy", "Unsupported value"],
  ],
])("a world with %s", (_what, object, expected) => {
  const problems = listManifestProblems([NS, object]);
  expect(problems.map((problem) => problem.index)).toEqual(expected.length > 0 ? [1] : []);
  const text = problems.map(({ path, message }) => `${path.join(".")} ${message}`).join("\n");
  for (const part of expected) expect(text).toContain(part);
  expect(text).not.toContain("geheim");
});

test("all mistakes are told at once, duplicates too", () => {
  const problems = listManifestProblems([
    NS,
    account(),
    account(),
    { kind: "x" },
    account({ name: "t", namespace: "z" }),
  ]);
  expect(problems.map(({ index, path }) => [index, ...path])).toEqual([
    [2, "metadata", "name"],
    [3, "kind"],
    [4, "metadata", "namespace"],
  ]);
});

test.each([
  ["app", "Always"],
  ["app:latest", "Always"],
  ["app:1", "IfNotPresent"],
  ["host:5000/app", "Always"],
  ["host:5000/app:1", "IfNotPresent"],
  ["app@sha256:00", "IfNotPresent"],
  ["app:latest@sha256:00", "Always"],
  ["app:1@sha256:00", "IfNotPresent"],
])("without a pull policy, %s gets %s", (image, policy) => {
  expect(defaultPullPolicy(image)).toBe(policy);
});

test.each([
  [
    "GET",
    "/api/v1/namespaces/a/pods/p",
    { verb: "get", group: "", version: "v1", resource: "pods", namespace: "a", name: "p", subresource: "" },
  ],
  ["HEAD", "/api/v1/namespaces/a/pods/p", { verb: "get" }],
  ["GET", "/api/v1/namespaces/a/pods", { verb: "list", name: "" }],
  ["GET", "/api/v1/pods?watch=true", { verb: "watch", namespace: "" }],
  ["GET", "/api/v1/namespaces/a/secrets?fieldSelector=metadata.name=s", { verb: "list", name: "s" }],
  ["GET", "/api/v1/namespaces/a", { verb: "get", resource: "namespaces", namespace: "", name: "a" }],
  [
    "PUT",
    "/api/v1/namespaces/a/finalize",
    { verb: "update", resource: "namespaces", name: "a", subresource: "finalize" },
  ],
  [
    "POST",
    "/api/v1/namespaces/a/serviceaccounts/s/token",
    { verb: "create", resource: "serviceaccounts", name: "s", subresource: "token" },
  ],
  ["DELETE", "/api/v1/namespaces/a/pods", { verb: "deletecollection" }],
  [
    "PATCH",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/r",
    { verb: "patch", group: "rbac.authorization.k8s.io", resource: "clusterroles", name: "r" },
  ],
  ["GET", "/api/v1/namespaces/a/secrets/%61%2Fb", { name: "a/b" }],
  ["GET", "/apis/x/v1", { kind: "path", verb: "get" }],
  ["GET", "/", { kind: "path", path: "/" }],
])("%s %s", (method, url, expected) => {
  const [path = "", query = ""] = url.split("?");
  expect(parseAttributes(method, path, new URLSearchParams(query))).toMatchObject(expected);
});

test.each([
  ["a gate of the version", "1.34", { PodCertificateRequest: true }, undefined],
  [
    "a gate of a later version",
    "1.36",
    { APIServerWebhookAuthenticationToken: true },
    /feature gate of Kubernetes 1\.36, found API/,
  ],
  ["an unknown gate", "1.36", { toString: true }, /found toString/],
  ["an unknown version", "1.32", {}, /expected a version out of 1\.33, .*found 1\.32/],
])("a profile with %s", (_what, version, gates, message) => {
  if (message) expect(() => createProfile(version, gates)).toThrow(message);
  else expect(createProfile(version, gates).gates).toMatchObject(gates);
});
