// What the control API is handed: one running stack behind small operations.
import type { StackController } from "../control/index.ts";
import type { Dialer } from "../shared/dial.ts";
import type { CertificateAuthority } from "../shared/tls.ts";
import { VERSION } from "../shared/version.ts";
import { checkServices } from "./health.ts";
import type { HostTable } from "./hosts.ts";
import { redactWorld } from "./redacted-world.ts";
import type { Rooms } from "./rooms.ts";
import type { World } from "./types.ts";

export interface ControllerDeps {
  readonly world: World;
  readonly rooms: Rooms;
  readonly hosts: HostTable;
  readonly ca: CertificateAuthority;
  readonly dialer: Dialer;
  env(): Promise<Readonly<Record<string, string>>>;
  reset(): Promise<void>;
  /** Whether what the stack was given to do first is still going on; undefined if there was nothing. */
  preparation(): "running" | "ok" | undefined;
}

export function createController(deps: ControllerDeps): StackController {
  const { world, rooms, hosts, ca, dialer, env } = deps;
  return {
    version: VERSION,
    switches: { ...world.switches },
    async services() {
      const init = deps.preparation();
      return { ...(await checkServices(world, dialer)), ...(init ? { init } : {}) };
    },
    caPem: () => ca.caPem(),
    environment: env,
    get issuers() {
      return [...rooms.issuers.values()].map((issuer) => ({
        name: issuer.name,
        url: issuer.url,
        alg: issuer.alg,
        keys: () => issuer.keys(),
        rotate: (request: { alg?: string; keepOld: boolean }) => rooms.rotateKey(issuer.name, request),
        withdraw: (kid: string) => issuer.withdraw(kid),
      }));
    },
    mintToken: (issuer, request) => rooms.tokens.mint(issuer, request),
    nodes: rooms.nodes,
    world: () => redactWorld(world),
    reset: deps.reset,
    putRepositoryAccess: (registry, repository, access) => rooms.putRepositoryAccess(registry, repository, access),
    isKnownHost: (host) => hosts.isServed(host),
  };
}
