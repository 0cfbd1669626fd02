// Each room's router with what it needs; how requests get to them is in routes.ts.
import type { RequestHandler } from "express";
import { createApiServerRouter } from "../apiserver/index.ts";
import { createEcrRouter } from "../ecr/index.ts";
import { createOidcRouter, createUploadedIssuer, type PublishedIssuer } from "../oidc/index.ts";
import { createRegistryRouter } from "../registry/index.ts";
import { type MovableClock, systemClock } from "../shared/clock.ts";
import type { EventSink } from "../shared/event.ts";
import { lazy } from "../shared/lazy.ts";
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

/** One router per room that is reached over HTTP, made with its room when the first request comes. */
export function createRouters({
  world,
  rooms,
  ...base
}: RoutersDeps): Readonly<Record<HostRoom, () => RequestHandler>> {
  const defaultRegion = world.region;
  return {
    oidc: lazy(() => createOidcRouter({ ...base, issuers: [...rooms.issuers.values(), ...uploadedIssuers(world)] })),
    apiserver: lazy(() => createApiServerRouter({ ...base, apiServer: rooms.apiServer })),
    sts: lazy(() => createStsRouter({ ...base, sts: rooms.sts, systemClock, defaultRegion })),
    ecr: lazy(() => createEcrRouter({ ...base, ecr: rooms.ecr, resolver: rooms.sts.resolver, systemClock })),
    registry: lazy(() => createRegistryRouter({ ...base, registries: rooms.registries })),
  };
}

function uploadedIssuers({ issuers }: World): readonly PublishedIssuer[] {
  return issuers.flatMap(({ url, alg, foreign }) =>
    foreign && "jwks" in foreign ? [createUploadedIssuer({ url, alg, jwks: foreign.jwks })] : [],
  );
}
