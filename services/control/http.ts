// The control API under `/_pullproof/` (design 11): parse, call, render. Guards come first.
import { timingSafeEqual } from "node:crypto";
import { type NextFunction, type Request, type RequestHandler, type Response, Router } from "express";
import type { MovableClock } from "../shared/clock.ts";
import { hostOf } from "../shared/edge.ts";
import { drain, rawPath, readBytes } from "../shared/http.ts";
import { parseClockChange, parseEventFilter, parseMintRequest, parseObject, parseRotation } from "./core/requests.ts";
import { ControlError, renderError } from "./errors.ts";
import { renderShellExports } from "./render.ts";
import type { EventLog } from "./store.ts";
import type { ControlledIssuer, StackController } from "./types.ts";

const BODY_LIMIT_BYTES = 1 << 20;
const PREFIX = "/_pullproof";
/** Readable without a key, also on a non-loopback bind. */
const OPEN_PATHS = new Set([`${PREFIX}/health`, `${PREFIX}/ca.pem`]);

export interface ControlRouterDeps {
  readonly stack: StackController;
  readonly log: EventLog;
  readonly clock: MovableClock;
  /** Set on a non-loopback bind: then everything but health and the CA needs it as a bearer token. */
  readonly requiredKey?: string;
}

/** Routes of the control API. */
export function createControlRouter(deps: ControlRouterDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(PREFIX, guard(deps));
  addStackRoutes(router, deps);
  addClockAndEventRoutes(router, deps);
  addIssuerRoutes(router, deps);
  addNodeRoutes(router, deps);
  router.use(PREFIX, (request) => {
    throw new ControlError(
      "NotFound",
      `expected an operation of the control API, found ${request.method} ${rawPath(request).path}`,
    );
  });
  router.use(PREFIX, (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    drain(request);
    if (response.headersSent) response.destroy();
    else renderError(error, response);
  });
  return router;
}

/** Order: known host, no foreign origin, key, JSON for writes. */
function guard(deps: ControlRouterDeps): RequestHandler {
  return (request, _response, next) => {
    const host = hostOf(request.headers.host);
    if (!deps.stack.isKnownHost(host)) {
      throw new ControlError("MisdirectedRequest", `expected a host name of this stack, found "${host}"`);
    }
    const origin = request.headers.origin;
    if (origin !== undefined && !isSameOrigin(origin, request.headers.host)) {
      throw new ControlError("Forbidden", `expected no Origin or this stack's own, found "${origin}"`);
    }
    const { path } = rawPath(request);
    if (deps.requiredKey !== undefined && !OPEN_PATHS.has(path) && !hasKey(request, deps.requiredKey)) {
      throw new ControlError(
        "Unauthorized",
        "expected `Authorization: Bearer <control key>`, found none or another key",
      );
    }
    const type = request.headers["content-type"]?.split(";")[0]?.trim();
    if (request.method !== "GET" && request.method !== "HEAD" && type !== "application/json") {
      throw new ControlError("UnsupportedMediaType", `expected Content-Type application/json, found ${type ?? "none"}`);
    }
    next();
  };
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

function hasKey(request: Request, key: string): boolean {
  const given = Buffer.from(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
  const expected = Buffer.from(key);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function readObject(request: Request): Promise<Readonly<Record<string, unknown>>> {
  return parseObject(await readBytes(request, BODY_LIMIT_BYTES));
}

function addStackRoutes(router: Router, { stack, log, clock }: ControlRouterDeps): void {
  router.get(`${PREFIX}/health`, async (_request, response) => {
    const services = await stack.services();
    const healthy = Object.values(services).every((state) => state === "ok");
    const { version, switches } = stack;
    response
      .status(healthy ? 200 : 503)
      .json({ status: healthy ? "ok" : "unhealthy", version, services, switches, clock: clock.state() });
  });
  router.get(`${PREFIX}/ca.pem`, async (_request, response) => {
    const pem = await stack.caPem();
    response.type("application/x-pem-file").send(pem);
  });
  router.get(`${PREFIX}/env`, async (request, response) => {
    const format = rawPath(request).query.get("format") ?? "json";
    if (format !== "sh" && format !== "json") {
      throw new ControlError("BadRequest", `expected format sh or json, found "${format}"`);
    }
    const environment = await stack.environment();
    if (format === "sh") response.type("text/plain").send(renderShellExports(environment));
    else response.json(environment);
  });
  router.get(`${PREFIX}/world`, (_request, response) => void response.json(stack.world()));
  router.post(`${PREFIX}/reset`, async (request, response) => {
    await readBytes(request, BODY_LIMIT_BYTES);
    clock.reset();
    await stack.reset();
    log.record({ operation: "control:Reset", room: "control", status: 200 });
    response.json({ reset: true });
  });
  router.put(`${PREFIX}/registries/:registry/repositories/*repository`, async (request, response) => {
    const access = await readObject(request);
    const repository = [request.params.repository ?? []].flat().join("/");
    const registry = parameter(request, "registry");
    if (!stack.putRepositoryAccess(registry, repository, access)) {
      throw new ControlError("NotFound", `expected a plain registry of the world, found "${registry}"`);
    }
    response.json({ registry, repository, ...access });
  });
}

function addClockAndEventRoutes(router: Router, { log, clock }: ControlRouterDeps): void {
  router.get(`${PREFIX}/clock`, (_request, response) => void response.json(clock.state()));
  router.put(`${PREFIX}/clock`, async (request, response) => {
    const change = parseClockChange(await readObject(request));
    if (change.kind === "system") clock.reset();
    else if (change.kind === "set") clock.set(change.now);
    else if (change.kind === "advance") clock.advance(change.seconds);
    else clock.freeze(change.frozen);
    log.record({ operation: "control:SetClock", room: "control", status: 200, notes: { ...change } });
    response.json(clock.state());
  });
  router.get(`${PREFIX}/events`, (request, response) => {
    const resumeFrom = request.headers["last-event-id"];
    const filter = parseEventFilter(rawPath(request).query, typeof resumeFrom === "string" ? resumeFrom : undefined);
    if (!request.headers.accept?.includes("text/event-stream")) return void response.json(log.page(filter));
    followEvents(response, log, filter);
  });
  router.get(`${PREFIX}/traces/:id`, (request, response) => {
    const trace = log.trace(parameter(request, "id"));
    if (trace.events.length === 0) {
      throw new ControlError(
        "NotFound",
        `expected the id of a trace or lineage in the event log, found "${trace.trace}"`,
      );
    }
    response.json(trace);
  });
}

/** Server-sent events: what is there already, then every further one. */
function followEvents(response: Response, log: EventLog, filter: ReturnType<typeof parseEventFilter>): void {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  let since = filter.since ?? 0;
  const flush = () => {
    const page = log.page({ ...filter, since });
    since = page.next;
    for (const event of page.events) response.write(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  flush();
  const stop = log.follow(flush);
  response.once("close", stop);
}

function addIssuerRoutes(router: Router, { stack }: ControlRouterDeps): void {
  const find = (name: string): ControlledIssuer => {
    const issuer = stack.issuers.find((candidate) => candidate.name === name);
    if (issuer) return issuer;
    const names = stack.issuers.map((candidate) => candidate.name).join(", ");
    throw new ControlError("NotFound", `expected an issuer of the world (${names}), found "${name}"`);
  };
  router.get(`${PREFIX}/issuers`, async (_request, response) => {
    const issuers = stack.issuers.map(async ({ name, url, alg, keys }) => ({ name, url, alg, keys: await keys() }));
    response.json({ issuers: await Promise.all(issuers) });
  });
  router.post(`${PREFIX}/issuers/:name/keys`, async (request, response) => {
    const issuer = find(parameter(request, "name"));
    response.status(201).json(await issuer.rotate(parseRotation(await readObject(request))));
  });
  router.delete(`${PREFIX}/issuers/:name/keys/:kid`, async (request, response) => {
    const kid = parameter(request, "kid");
    if (!(await find(parameter(request, "name")).withdraw(kid))) {
      throw new ControlError("NotFound", `expected a published key id, found "${kid}"`);
    }
    response.json({ withdrawn: kid });
  });
  router.post(`${PREFIX}/issuers/:name/tokens`, async (request, response) => {
    const issuer = find(parameter(request, "name"));
    response.status(201).json(await stack.mintToken(issuer.name, parseMintRequest(await readObject(request))));
  });
}

function addNodeRoutes(router: Router, { stack }: ControlRouterDeps): void {
  const { nodes } = stack;
  router.get(`${PREFIX}/nodes`, (_request, response) => void response.json({ nodes: nodes.list() }));
  router.post(`${PREFIX}/nodes`, async (request, response) => {
    response.status(201).json(await nodes.create(await readObject(request)));
  });
  router.get(`${PREFIX}/nodes/:node/pods`, async (request, response) => {
    response.json({ pods: await nodes.pods(parameter(request, "node")) });
  });
  router.post(`${PREFIX}/nodes/:node/pods`, async (request, response) => {
    const wait = rawPath(request).query.get("wait") === "true";
    const pod = await nodes.runPod(parameter(request, "node"), await readObject(request), wait);
    response.status(wait ? 200 : 202).json(pod);
  });
  const podPath = `${PREFIX}/nodes/:node/pods/:namespace/:name`;
  router.get(podPath, async (request, response) => {
    const pod = await nodes.findPod(
      parameter(request, "node"),
      parameter(request, "namespace"),
      parameter(request, "name"),
    );
    if (pod === undefined) throw noSuchPod(request);
    response.json(pod);
  });
  router.delete(podPath, async (request, response) => {
    const [node, namespace, name] = [
      parameter(request, "node"),
      parameter(request, "namespace"),
      parameter(request, "name"),
    ];
    if (!(await nodes.deletePod(node, namespace, name))) throw noSuchPod(request);
    response.json({ deleted: `${namespace}/${name}` });
  });
  router.post(`${PREFIX}/nodes/:node/restart`, async (request, response) => {
    await readBytes(request, BODY_LIMIT_BYTES);
    await nodes.restart(parameter(request, "node"));
    response.json({ restarted: parameter(request, "node") });
  });
  router.get(`${PREFIX}/nodes/:node/records`, async (request, response) => {
    response.json(await nodes.records(parameter(request, "node")));
  });
}

function noSuchPod(request: Request): ControlError {
  const name = `${parameter(request, "namespace")}/${parameter(request, "name")}`;
  return new ControlError("NotFound", `expected a Pod that ran on node ${parameter(request, "node")}, found "${name}"`);
}

function parameter(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === "string" ? value : "";
}
