// Which room answers a request: by host name, then by shape (design 4).
import type { RequestHandler } from "express";
import type { EdgeRequest } from "../shared/edge.ts";
import { type HostRoom, type HostTable, isPublishedHere, roomOfShape } from "./hosts.ts";
import type { World } from "./types.ts";

/** The control API on every name; else the room that the host name belongs to; on a generic name the shape decides. */
export function createRoute(
  world: World,
  hosts: HostTable,
  routers: Readonly<Record<HostRoom | "control", () => RequestHandler>>,
): (request: EdgeRequest) => RequestHandler | undefined {
  const issuerPaths = world.issuers
    .filter((issuer) => isPublishedHere(issuer) && hosts.isGeneric(new URL(issuer.url).hostname))
    .map((issuer) => new URL(issuer.url).pathname.replace(/\/$/, ""));
  return (request) => {
    if (request.path.startsWith("/_pullproof/")) return routers.control();
    const room =
      hosts.roomOf(request.host) ?? (hosts.isGeneric(request.host) ? roomOfShape(request, issuerPaths) : undefined);
    return room && routers[room]();
  };
}
