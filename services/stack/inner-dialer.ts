// Requests from inside the stack: to its own names without DNS, to others only where the world says so.
import { createDialer, type Dialer } from "../shared/dial.ts";
import type { Endpoints } from "./environment.ts";
import type { HostTable } from "./hosts.ts";
import type { World } from "./types.ts";

/** Where the stack turns out to be; empty until it listens. */
export interface Whereabouts {
  endpoints?: Endpoints;
  /** The CA, once it was made. */
  caPem: string;
}

/** The stack's own names lead to its own port; plain inside the process unless `tls` (docs/decisions/0001). */
export function createInnerDialer(world: World, inner: { hosts: HostTable; at: Whereabouts; tls: boolean }): Dialer {
  const { hosts, at, tls } = inner;
  const trusted = world.issuers.filter(({ foreign }) => foreign && "trust" in foreign);
  const fetched = new Set(trusted.map(({ url }) => new URL(url).hostname)); // the world says so by name
  return createDialer({
    resolve: (host) =>
      at.endpoints && !fetched.has(host) && hosts.isServed(host.toLowerCase())
        ? { address: "127.0.0.1", port: Number(new URL(at.endpoints.http).port), tls }
        : undefined,
    ca: () => at.caPem,
    mayLeave: (host) => world.switches.outsideNetwork || fetched.has(host),
  });
}
