// Which host names this stack answers for, and which room each belongs to (design 4, spec aws 1.7). Pure.
import { parseEcrHost } from "../shared/aws/registry-host.ts";
import type { EdgeRequest } from "../shared/edge.ts";
import type { World, WorldIssuer } from "./types.ts";

export type HostRoom = "oidc" | "apiserver" | "sts" | "ecr" | "registry";

/** Names under which the API server is known inside a cluster. */
const API_SERVER_HOSTS = [
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  "kubernetes.default",
  "kubernetes",
];
export const API_SERVER_URL = "https://kubernetes.default.svc";
/** Names that say nothing about a room: the request's shape decides. */
const GENERIC_HOSTS = ["localhost", "pullproof", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"];

/** Addresses that stand for every address of a machine; a client cannot dial them. */
const WILDCARD_ADDRESSES = ["0.0.0.0", "::"];

/** The address by which this machine reaches a stack that listens on `host`. */
export function localAddress(host: string): string {
  return WILDCARD_ADDRESSES.includes(host) ? "127.0.0.1" : host;
}

/** The stack's names. */
export interface HostTable {
  /** The room that a name belongs to; undefined for generic and foreign names. */
  roomOf(host: string): HostRoom | undefined;
  isGeneric(host: string): boolean;
  isServed(host: string): boolean;
  /** True for names and addresses that never leave this machine. */
  isLoopback(host: string): boolean;
  /** Every exact name, for certificates, aliases and `up`'s report. */
  names(): readonly string[];
}

/** The host table of a world; `extraHosts` are further generic names (a container's alias, say). */
export function createHostTable(world: World, extraHosts: readonly string[] = []): HostTable {
  const exact = new Map<string, HostRoom>(API_SERVER_HOSTS.map((host) => [host, "apiserver"]));
  for (const issuer of world.issuers)
    if (isPublishedHere(issuer)) exact.set(new URL(issuer.url).hostname.toLowerCase(), "oidc");
  for (const registry of world.registries) exact.set(registry.host.toLowerCase().replace(/:\d+$/, ""), "registry");
  exact.set("sts.amazonaws.com", "sts");
  for (const region of regionsOf(world)) {
    exact.set(`sts.${region}.amazonaws.com`, "sts");
    exact.set(`api.ecr.${region}.amazonaws.com`, "ecr");
  }
  for (const host of ecrHostsOf(world)) exact.set(host, "registry");
  const generic = new Set([...GENERIC_HOSTS, ...extraHosts.map((host) => host.toLowerCase())]);
  for (const host of generic) exact.delete(host); // an issuer on localhost is found by its path
  const accounts = new Set(world.accounts.map((account) => account.id));

  const roomOf = (host: string): HostRoom | undefined => {
    const known = exact.get(host);
    if (known) return known;
    const ecr = parseEcrHost(host);
    return ecr && accounts.has(ecr.account) ? "registry" : undefined;
  };
  const isLoopback = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.");
  const isGeneric = (host: string) => generic.has(host) || isLoopback(host);
  return {
    roomOf,
    isGeneric,
    isLoopback,
    isServed: (host) => isGeneric(host) || roomOf(host) !== undefined,
    names: () => [...exact.keys()],
  };
}

function regionsOf(world: World): ReadonlySet<string> {
  return new Set([world.region, ...world.accounts.flatMap((account) => account.regions)]);
}

/** Our own issuers, and foreign ones whose key set was uploaded; those trusted by fetch publish elsewhere. */
export function isPublishedHere({ foreign }: WorldIssuer): boolean {
  return !foreign || "jwks" in foreign;
}

/** The registry host of every account in each of its regions. */
export function ecrHostsOf(world: World): readonly string[] {
  return world.accounts.flatMap(({ id, regions }) => regions.map((region) => `${id}.dkr.ecr.${region}.amazonaws.com`));
}

/** The room of a request on a generic host, by its shape; undefined if it has none. */
export function roomOfShape(request: EdgeRequest, issuerPaths: readonly string[]): HostRoom | undefined {
  const { path, headers, query } = request;
  if (path === "/v2" || path.startsWith("/v2/")) return "registry";
  if (String(headers["x-amz-target"] ?? "").startsWith("AmazonEC2ContainerRegistry_V20150921.")) return "ecr";
  if (issuerPaths.some((prefix) => path.startsWith(`${prefix}/`))) return "oidc";
  if (/^\/(api|apis|openid|\.well-known)(\/|$)/.test(path)) return "apiserver";
  if (String(headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded")) return "sts";
  return /(^|&)Action=/.test(query) ? "sts" : undefined;
}
