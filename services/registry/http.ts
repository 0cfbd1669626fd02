// The registry on the wire: one pipeline for every request below `/v2/`. Who asks and whether they may is settled before
// anything stored is looked at (spec registry 3.2), so that a denial is a function of the request and the caller only.
import type { ServerResponse } from "node:http";
import { Router } from "express";
import type { Clock } from "../shared/clock.ts";
import type { EventSink } from "../shared/event.ts";
import { drain, eventOf, requestScope } from "../shared/http.ts";
import type { Random } from "../shared/random.ts";
import { redact } from "../shared/redact.ts";
import { isKnownSomewhere, isRegistryPath, parseAddress, type RegistryDirectory } from "./address.ts";
import { type Arrival, admit, type RegistryArrival, renderChallenge, targetOf } from "./admission.ts";
import { answer, answerRefusal } from "./answer.ts";
import { findOperation, METHODS } from "./core/operation.ts";
import { PROFILES } from "./core/profile.ts";
import { parseRoute } from "./core/route.ts";
import { RegistryError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { listCatalog, listReferrers, listTags } from "./list.ts";
import { getBlob, getManifest } from "./pull.ts";
import { cancelUpload, completeUpload, getUpload, startUpload, uploadChunk } from "./push-blob.ts";
import { deleteBlob, deleteManifest, putManifest } from "./push-manifest.ts";
import type { Awaitable, RegistryOperation } from "./types.ts";

export interface RegistryRouterOptions {
  readonly registries: RegistryDirectory;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventSink;
  /** Asked before the operation runs; may delay or throw (faults). */
  readonly gate?: (operation: string, response: ServerResponse) => Awaitable<void>;
}

const OPERATIONS: Readonly<Record<RegistryOperation, (exchange: Exchange) => Awaitable<void>>> = {
  Ping: ping,
  ListCatalog: listCatalog,
  GetManifest: getManifest,
  HeadManifest: getManifest,
  PutManifest: putManifest,
  DeleteManifest: deleteManifest,
  GetBlob: getBlob,
  HeadBlob: getBlob,
  DeleteBlob: deleteBlob,
  StartUpload: startUpload,
  MountBlob: startUpload,
  UploadChunk: uploadChunk,
  GetUpload: getUpload,
  CompleteUpload: completeUpload,
  CancelUpload: cancelUpload,
  ListTags: listTags,
  ListReferrers: listReferrers,
};

/** The router of all registries: `/v2/…` and `/healthz`; other paths go on to whoever comes next. */
export function createRegistryRouter(options: RegistryRouterOptions): Router {
  const router = Router();
  router.use(requestScope({ room: "registry", ...options }));
  router.get("/healthz", (_request, response) => void response.end('{"status":"ok"}'));
  router.use(async (request, response, next) => {
    if (!isRegistryPath(request.originalUrl)) return next();
    const address = parseAddress(request, request.originalUrl, options.registries);
    await serve(options, { request, response, event: eventOf(response), address, route: parseRoute(address.rest) });
  });
  return router;
}

async function serve(options: RegistryRouterOptions, arrival: Arrival): Promise<void> {
  const { request, response, event, address, route } = arrival;
  const { registry } = address;
  response.setHeader("Docker-Distribution-Api-Version", "registry/2.0");
  response.setHeader("Vary", "Authorization");
  response.setHeader("X-Content-Type-Options", "nosniff");
  const asked = findOperation(route.kind, request.method ?? "", address.query.has("mount"));
  event.operation = `registry:${asked ?? "Ping"}`;
  event.resource = `${registry?.host ?? address.host}/${route.name}`;
  if (route.reference !== "") event.notes = { reference: route.reference };
  try {
    if (registry) await decideAndRun(options, { ...arrival, registry }, asked);
    else await answerWithoutRegistry(options, arrival);
  } catch (error) {
    answerError(arrival, error);
  }
  if (!request.complete) drain(request);
}

/** Admission, form, operation: in this order, on every request. */
async function decideAndRun(
  options: RegistryRouterOptions,
  arrival: RegistryArrival,
  asked: RegistryOperation | undefined,
): Promise<void> {
  const { request, response, event, registry, route, address } = arrival;
  const operation = asked !== undefined && route.nameOk ? asked : "Ping";
  const caller = await admit(arrival, operation);
  if (!caller) return;
  refuseForm(arrival, asked);
  await options.gate?.(`registry:${operation}`, response);
  const { query, base } = address;
  await OPERATIONS[operation]({
    request,
    response,
    event,
    registry,
    route,
    ...caller,
    operation,
    query,
    base,
  });
}

/** What is wrong with the request by its form alone; told only to those who may ask at all. */
function refuseForm({ route, request }: RegistryArrival, asked: RegistryOperation | undefined): void {
  if (route.kind === "unknown") throw new RegistryError("unknown-path", "no such path below /v2/");
  if (asked === undefined) {
    const allow = Object.keys(METHODS[route.kind]).join(", ");
    const message = `expected one of ${allow}, found ${request.method}`;
    throw new RegistryError("method-unsupported", message, { headers: { Allow: allow } });
  }
  if (!route.nameOk)
    throw new RegistryError("name-invalid", "invalid repository name", { detail: { name: route.name } });
}

/** The bare `/v2/` of a generic host, and paths there that name no registry of the world. */
async function answerWithoutRegistry(options: RegistryRouterOptions, arrival: Arrival): Promise<void> {
  const { request, response, event, address, route } = arrival;
  event.operation = "registry:Ping";
  if (!(await isKnownSomewhere(request.headers.authorization, options.registries))) {
    const headers = { "WWW-Authenticate": renderChallenge(PROFILES.oci.challenge, address.host) };
    throw new RegistryError("unauthorized", "authentication required", { headers });
  }
  if (route.kind !== "base") {
    throw new RegistryError(
      "unknown-registry",
      `expected the host, ?ns= or the first path component to name a registry`,
    );
  }
  event.decision = "allow";
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 2 }).end("{}");
}

/** GET `/v2/`, and the list of extensions, of which there are none. */
function ping(exchange: Exchange): void {
  const { baseBody } = exchange.registry.profile.behaviour;
  const body = exchange.route.kind === "extensions" ? '{"extensions":[]}' : baseBody;
  answer(exchange, 200, { "Content-Type": "application/json" }, Buffer.from(body));
}

/** The one place where errors become answers; what has already begun can only be cut. */
function answerError(arrival: Arrival, error: unknown): void {
  const { request, response, event } = arrival;
  // Whoever went away hears nothing; the event then says that the answer was cut.
  if (response.destroyed || request.socket.destroyed) return;
  const refusal = error instanceof RegistryError ? error : toInternal(error);
  event.decision = "deny";
  event.reason = refusal.refusal;
  event.decidedBy = "registry";
  event.notes = { ...event.notes, because: refusal.message };
  if (refusal.refusal === "internal") event.notes = { ...event.notes, error: redact(String(error)) };
  if (response.headersSent) response.destroy();
  else answerRefusal(targetOf(arrival), refusal);
}

function toInternal(cause: unknown): RegistryError {
  return new RegistryError("internal", "the registry failed to answer", { cause });
}
