// What every cluster has before anybody adds to it: two namespaces and the RBAC objects that this server's paths need.
import type { Manifest } from "../types.ts";

const GROUP = "rbac.authorization.k8s.io";

/** Manifests that are stored before the world's own. */
export const BOOTSTRAP_OBJECTS: readonly Manifest[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } },
  ...role(
    "cluster-admin",
    ["system:masters"],
    [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["*"] },
    ],
  ),
  // Anonymous callers get no key set until somebody binds this to them (spec kubelet 4.4).
  ...role(
    "system:service-account-issuer-discovery",
    ["system:serviceaccounts"],
    [
      {
        nonResourceURLs: [
          "/.well-known/openid-configuration",
          "/.well-known/openid-configuration/",
          "/openid/v1/jwks",
          "/openid/v1/jwks/",
        ],
        verbs: ["get"],
      },
    ],
  ),
  ...role(
    "system:discovery",
    ["system:authenticated"],
    [
      {
        nonResourceURLs: [
          "/api",
          "/api/*",
          "/apis",
          "/apis/*",
          "/healthz",
          "/livez",
          "/readyz",
          "/version",
          "/version/",
        ],
        verbs: ["get"],
      },
    ],
  ),
  ...role(
    "system:public-info-viewer",
    ["system:authenticated", "system:unauthenticated"],
    [{ nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"], verbs: ["get"] }],
  ),
];

function role(name: string, groups: readonly string[], rules: readonly unknown[]): Manifest[] {
  const apiVersion = `${GROUP}/v1`;
  const roleRef = { apiGroup: GROUP, kind: "ClusterRole", name };
  const subjects = groups.map((group) => ({ apiGroup: GROUP, kind: "Group", name: group }));
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, roleRef, subjects },
  ];
}
