// Which room answers a request: by host name, then by shape (design 4).
import type { RequestHandler } from "express";
import type { EdgeRequest, EdgeRoute } from "../shared/edge.ts";
import { type HostRoom, type HostTable, roomOfShape } from "./hosts.ts";
import type { World } from "./types.ts";

/** The edge's routes in order: the control API on every name, then each room by host or shape. */
export function createRoutes(
  world: World,
  hosts: HostTable,
  routers: Readonly<Record<HostRoom | "control", RequestHandler>>,
): readonly EdgeRoute[] {
  const issuerPaths = world.issuers
    .filter((issuer) => !issuer.foreign && hosts.isGeneric(new URL(issuer.url).hostname))
    .map((issuer) => new URL(issuer.url).pathname.replace(/\/$/, ""));
  const roomOf = (request: EdgeRequest): HostRoom | undefined =>
    hosts.roomOf(request.host) ?? (hosts.isGeneric(request.host) ? roomOfShape(request, issuerPaths) : undefined);
  const rooms: readonly HostRoom[] = ["registry", "sts", "ecr", "oidc", "apiserver"];
  return [
    { room: "control", matches: ({ path }) => path.startsWith("/_pullproof/"), router: routers.control },
    ...rooms.map((room) => ({
      room,
      matches: (request: EdgeRequest) => roomOf(request) === room,
      router: routers[room],
    })),
  ];
}
