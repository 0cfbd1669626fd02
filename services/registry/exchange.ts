// One request on its way through the registry: what the handlers are given, and the few ways they answer.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventDraft } from "../shared/event.ts";
import type { Route } from "./core/route.ts";
import { RegistryError } from "./errors.ts";
import type { Registry } from "./registry.ts";
import type { RepositoryContent } from "./store.ts";
import type { AccessDecision, RegistryOperation, RegistryPrincipal, RequestContext } from "./types.ts";

/** A request that is authenticated and authorised for `operation` on `route.name`. */
export interface Exchange {
  readonly registry: Registry;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly operation: RegistryOperation;
  readonly query: URLSearchParams;
  readonly principal: RegistryPrincipal;
  readonly context: RequestContext;
  readonly event: EventDraft;
  /** `/v2/`, or `/v2/<registry>/` where the path names the registry. */
  readonly base: string;
}

/**
 * The repository of the route, for reading.
 * @throws RegistryError name-unknown
 */
export async function openRepository(exchange: Exchange): Promise<RepositoryContent> {
  const { registry, route } = exchange;
  if (!registry.directory.find(route.name)) throw unknownName(route.name);
  return registry.open(route.name);
}

/**
 * The repository of the route, for pushing: created where the directory allows that.
 * @throws RegistryError name-unknown
 */
export async function openForPush(exchange: Exchange): Promise<RepositoryContent> {
  const { registry, route } = exchange;
  if (!registry.directory.find(route.name)) {
    if (!registry.directory.create) throw unknownName(route.name);
    registry.directory.create(route.name);
  }
  return registry.open(route.name);
}

function unknownName(name: string): RegistryError {
  return new RegistryError("name-unknown", "repository name not known to registry", { detail: { name } });
}

/** Whether the caller may do something on another repository too; the decision goes to the caller of this function. */
export function decideAlso(exchange: Exchange, repository: string, operation: RegistryOperation): AccessDecision {
  const { registry, principal, context } = exchange;
  return registry.authorizer.authorize({ principal, repository, operation, context });
}

/** A `Location` below the repository of the route, relative or absolute as the profile has it. */
export function locate(exchange: Exchange, path: string): string {
  const { registry, request, context, base, route } = exchange;
  const relative = `${base}${route.name}/${path}`;
  if (registry.profile.behaviour.location === "relative") return relative;
  return `${context.secure ? "https" : "http"}://${request.headers.host ?? registry.host}${relative}`;
}
