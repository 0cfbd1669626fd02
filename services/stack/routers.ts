// Each room's router with what it needs; how requests get to them is in routes.ts.
import type { RequestHandler } from "express";
import { createApiServerRouter } from "../apiserver/index.ts";
import { createEcrRouter } from "../ecr/index.ts";
import { createOidcRouter } from "../oidc/index.ts";
import { createRegistryRouter } from "../registry/index.ts";
import { type MovableClock, systemClock } from "../shared/clock.ts";
import type { EventSink } from "../shared/event.ts";
import type { Random } from "../shared/random.ts";
import { createStsRouter } from "../sts/index.ts";
import type { HostRoom } from "./hosts.ts";
import type { Rooms } from "./rooms.ts";
import type { World } from "./types.ts";

export interface RoutersDeps {
  readonly world: World;
  readonly rooms: Rooms;
  readonly clock: MovableClock;
  readonly random: Random;
  readonly events: EventSink;
}

/** One router per room that is reached over HTTP. */
export function createRouters({ world, rooms, ...base }: RoutersDeps): Readonly<Record<HostRoom, RequestHandler>> {
  const { apiServer, ecr, sts, registries, issuers } = rooms;
  return {
    oidc: createOidcRouter({ ...base, issuers: [...issuers.values()] }),
    apiserver: createApiServerRouter({ ...base, apiServer }),
    sts: createStsRouter({ ...base, sts, systemClock, defaultRegion: world.region }),
    ecr: createEcrRouter({ ...base, ecr, resolver: sts.resolver, systemClock }),
    registry: createRegistryRouter({ ...base, registries }),
  };
}
