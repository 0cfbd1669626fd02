// Who asks, and may they: settled before anything stored is looked at (spec registry 3.2). A denial is a function of
// the request and the caller only.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventDraft } from "../shared/event.ts";
import { callerOf } from "../shared/http.ts";
import type { Address } from "./address.ts";
import { answerRefusal, type RefusalTarget, writeRefusal } from "./answer.ts";
import { PROFILES } from "./core/profile.ts";
import type { Route } from "./core/route.ts";
import { RegistryError } from "./errors.ts";
import type { Registry } from "./registry.ts";
import type { AuthenticationRefusal, RegistryOperation, RegistryPrincipal, RequestContext } from "./types.ts";

/** A request below `/v2/` as it came in. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly event: EventDraft;
  readonly address: Address;
  readonly route: Route;
}

export type RegistryArrival = Arrival & { readonly registry: Registry };

/** An admitted caller. */
interface Caller {
  readonly principal: RegistryPrincipal;
  readonly context: RequestContext;
}

/**
 * Authenticates the caller and asks whether they may run the operation; both on every request.
 * @returns the caller, or undefined if the refusal has been answered
 */
export async function admit(arrival: RegistryArrival, operation: RegistryOperation): Promise<Caller | undefined> {
  const { request, event, registry } = arrival;
  const authentication = await registry.authenticator.authenticate(request.headers.authorization);
  if (authentication.kind === "refused") {
    if (authentication.lineage !== undefined) event.lineage = authentication.lineage;
    event.reason = authentication.refusal;
    event.decidedBy = "authentication";
    refuseCredentials(arrival, authentication.refusal, authentication.message);
    return undefined;
  }
  const { principal } = authentication;
  event.principal = principal.name;
  if (principal.lineage !== undefined) event.lineage = principal.lineage;
  const caller = { principal, context: callerOf(request) };
  return isAllowed(arrival, operation, caller) ? caller : undefined;
}

function isAllowed(arrival: RegistryArrival, operation: RegistryOperation, caller: Caller): boolean {
  const { event, registry, route } = arrival;
  const repository = operation === "Ping" ? "" : route.name;
  const decision = registry.authorizer.authorize({ ...caller, operation, repository });
  event.decision = decision.effect;
  event.reason = decision.reason;
  event.decidedBy = decision.decidedBy;
  if (decision.resource !== undefined) event.resource = decision.resource;
  const { because, outcomes } = decision;
  if (because !== undefined) event.notes = { ...event.notes, because };
  if (outcomes !== undefined) event.notes = { ...event.notes, outcomes };
  if (decision.effect === "allow") return true;
  if (caller.principal.anonymous) {
    refuseCredentials(arrival, "no-credentials", undefined);
    return false;
  }
  const detail = [{ Type: repository === "" ? "registry" : "repository", Name: repository, Action: operation }];
  const message = decision.message ?? registry.profile.deniedMessage;
  answerRefusal(targetOf(arrival), new RegistryError("denied", message, { detail }));
  return false;
}

function refuseCredentials(arrival: RegistryArrival, refusal: AuthenticationRefusal, text: string | undefined): void {
  const { registry } = arrival;
  const shape = registry.profile.authentication[refusal];
  arrival.event.decision = "deny";
  const headers = shape.challenge
    ? { "WWW-Authenticate": renderChallenge(registry.profile.challenge, registry.host) }
    : {};
  if (shape.body === "text") {
    const type = { "Content-Type": "text/plain; charset=utf-8" };
    writeRefusal(arrival, shape.status, { ...type, ...headers }, `${shape.message}\n`);
    return;
  }
  const name = shape.status === 401 ? "unauthorized" : "denied";
  const error = new RegistryError(name, text ?? shape.message, { headers });
  answerRefusal({ ...targetOf(arrival), status: shape.status }, error);
}

/** One challenge, one line: naive parsers read no more (spec registry 3.6). */
export function renderChallenge(challenge: string, host: string): string {
  return challenge.replace("<host>", () => host.replace(/["\\]/g, ""));
}

/** Where refusals of this request are answered. */
export function targetOf({ request, response, address, route }: Arrival): RefusalTarget {
  const { registry, host } = address;
  const registryId = registry?.options.registryId ?? host;
  return { request, response, profile: registry?.profile ?? PROFILES.oci, repository: route.name, registryId };
}
