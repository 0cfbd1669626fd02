// One request on its way through the registry: what the handlers are given, and the few ways they answer.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { EventDraft } from "../shared/event.ts";
import type { Route } from "./core/reference.ts";
import { RegistryError, renderErrorDocument } from "./errors.ts";
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

export type AnswerHeaders = Readonly<OutgoingHttpHeaders>;

/** Answers with a small body in one write; HEAD gets the headers only. */
export function answer(exchange: Exchange, status: number, headers: AnswerHeaders, body?: Buffer): void {
  const { request, response } = exchange;
  response.writeHead(status, status === 204 ? { ...headers } : { ...headers, "Content-Length": body?.length ?? 0 });
  if (body && request.method !== "HEAD") response.end(body);
  else response.end();
}

/** Answers 304 for a condition that holds. */
export function answerNotModified(exchange: Exchange, headers: AnswerHeaders): void {
  exchange.response.writeHead(304, { ...headers });
  exchange.response.end();
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

/** Where a refusal is answered: also before it is known who asks. */
export type RefusalTarget = Pick<Exchange, "request" | "response"> &
  Pick<Registry, "profile"> & {
    readonly repository: string;
    readonly registryId: string;
    /** Where the profile gives another status than the refusal's own. */
    readonly status?: number;
  };

/** Answers a refusal in the shape of the registry's profile. */
export function answerRefusal(target: RefusalTarget, error: RegistryError): void {
  const { profile, repository, registryId } = target;
  const override = { ...profile.refusals[error.refusal], ...profile.behaviour.refusals[error.refusal] };
  const message = override.text?.({ ...error.facts, repository, registryId, message: error.message }) ?? error.message;
  const detail = profile.details ? error.facts.detail : undefined;
  const document = renderErrorDocument(override.code ?? error.code, message, detail) + profile.documentEnd;
  const headers = { "Content-Type": profile.documentType, ...error.facts.headers };
  writeRefusal(target, target.status ?? override.status ?? error.status, headers, document);
}

/** Writes a refusal's head and, except for HEAD, its body. */
export function writeRefusal(
  target: Pick<Exchange, "request" | "response">,
  status: number,
  headers: AnswerHeaders,
  body: string,
): void {
  target.response.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body) });
  target.response.end(target.request.method === "HEAD" ? undefined : body);
}
