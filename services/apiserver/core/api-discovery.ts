// The documents by which clients find out what this server has: groups, resources, version.
import { RESOURCES, renderApiVersion } from "./resources.ts";

/** The document at a discovery path, or undefined if there is none. */
export function createDiscovery(path: string, version: string): unknown {
  const parts = path.split("/").filter(Boolean);
  const [root, group = "", groupVersion] = parts;
  if (path === "/version") return renderVersion(version);
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
  if (path === "/api/v1") return renderResources("");
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups().map(renderGroup) };
  if (root !== "apis" || parts.length > 3 || !groups().includes(group)) return undefined;
  if (groupVersion === undefined) return { kind: "APIGroup", apiVersion: "v1", ...renderGroup(group) };
  return groupVersion === "v1" ? renderResources(group) : undefined;
}

function groups(): string[] {
  return [...new Set(Object.values(RESOURCES).map((resource) => resource.group))].filter(Boolean);
}

function renderGroup(name: string): { name: string; versions: unknown; preferredVersion: unknown } {
  const version = { groupVersion: `${name}/v1`, version: "v1" };
  return { name, versions: [version], preferredVersion: version };
}

function renderResources(group: string): unknown {
  const resources = Object.entries(RESOURCES)
    .filter(([, resource]) => resource.group === group)
    .flatMap(([name, { kind, namespaced, verbs }]) => [
      { name, singularName: kind.toLowerCase(), namespaced, kind, verbs },
      ...(name === "serviceaccounts" ? [TOKEN_RESOURCE] : []),
    ]);
  const groupVersion = renderApiVersion({ group, version: "v1" });
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
}

const TOKEN_RESOURCE = {
  name: "serviceaccounts/token",
  singularName: "",
  namespaced: true,
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  verbs: ["create"],
};

function renderVersion(version: string): unknown {
  const [major, minor] = version.split(".");
  return { major, minor, gitVersion: `v${version}.0`, platform: "linux/amd64" };
}
