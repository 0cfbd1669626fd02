// certs.d/<host>/hosts.toml: where containerd goes for a registry, and which CA it trusts there (spec wiring 1.7).
import { FILES, NODE_PATHS } from "./paths.ts";
import type { KindPlan } from "./types.ts";

/** Path → text, one file for each registry host of the world. */
export function renderHosts({ registryHosts, mirror }: KindPlan): Readonly<Record<string, string>> {
  return Object.fromEntries(
    registryHosts.map((host) => [`${FILES.hostsFolder}/${hostFolder(host)}/hosts.toml`, renderHost(host, mirror)]),
  );
}

/** A colon cannot be in a mounted path; containerd looks for this spelling first. */
function hostFolder(host: string): string {
  return host.replace(/:(\d+)$/, "_$1_");
}

/**
 * `server` is where containerd ends when a host fails: never left out, for then it is the real registry. The table [host]
 * is there for containerd before 2.0, which wants one.
 */
function renderHost(host: string, mirror: string | undefined): string {
  const url = `https://${mirror ?? host}`;
  const why = mirror
    ? `# Images of ${host} come from ${mirror}, which learns the name from the query parameter ns.`
    : `# ${host} is the stack itself, by its alias in kind's network.`;
  return `${why}
server = "${url}"
ca = "${NODE_PATHS.ca}"

[host."${url}"]
  capabilities = ["pull", "resolve"]
  ca = "${NODE_PATHS.ca}"
`;
}
