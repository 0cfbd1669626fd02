// Which registry a request is for: by host, by `?ns=`, or by the first path component on a generic host. And what a
// host that is no registry of its own answers to `/v2/`.
import type { IncomingMessage } from "node:http";
import { decodeComponent } from "./core/route.ts";
import type { Registry } from "./registry.ts";

/** The registries that are served. `find` takes a host name without port, in lower case. */
export interface RegistryDirectory {
  find(host: string): Registry | undefined;
  list(): Iterable<Registry>;
}

export interface Address {
  readonly registry: Registry | undefined;
  /** The host name asked, without port. */
  readonly host: string;
  /** The raw path after `base`. */
  readonly rest: string;
  readonly base: string;
  readonly query: URLSearchParams;
}

const PREFIX = "/v2/";
const NO_QUERY = new URLSearchParams();

/** True for paths that belong to registries. */
export function isRegistryPath(rawUrl: string): boolean {
  return rawUrl.startsWith(PREFIX) || rawUrl === "/v2" || rawUrl.startsWith("/v2?");
}

/** Takes a raw request apart. `ns` and the path only count where the host names no registry. */
export function parseAddress(request: IncomingMessage, rawUrl: string, registries: RegistryDirectory): Address {
  const mark = rawUrl.indexOf("?");
  const path = mark < 0 ? rawUrl : rawUrl.slice(0, mark);
  const query = mark < 0 ? NO_QUERY : new URLSearchParams(rawUrl.slice(mark + 1));
  const rest = path.slice(PREFIX.length);
  const host = hostName(request.headers.host ?? "");
  const registry = registries.find(host) ?? findByNamespace(query, registries);
  if (registry) return { registry, host, rest, base: PREFIX, query };
  const slash = rest.indexOf("/");
  const first = slash < 0 ? rest : rest.slice(0, slash);
  const named = first === "" ? undefined : registries.find(hostName(decodeComponent(first) ?? ""));
  if (!named) return { registry: undefined, host, rest, base: PREFIX, query };
  return { registry: named, host, rest: slash < 0 ? "" : rest.slice(slash + 1), base: `${PREFIX}${first}/`, query };
}

function findByNamespace(query: URLSearchParams, registries: RegistryDirectory): Registry | undefined {
  const namespace = query.get("ns");
  return namespace ? registries.find(hostName(namespace)) : undefined;
}

function hostName(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

/**
 * Whether credentials are good for any of the registries. Clients that will name the registry in the path ask the bare
 * `/v2/` first, and must be challenged there.
 */
export async function isKnownSomewhere(
  authorization: string | undefined,
  registries: RegistryDirectory,
): Promise<boolean> {
  if (authorization === undefined) return false;
  for (const registry of registries.list()) {
    const authentication = await registry.authenticator.authenticate(authorization);
    if (authentication.kind === "principal" && !authentication.principal.anonymous) return true;
  }
  return false;
}
