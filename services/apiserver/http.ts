// The HTTP side: host `kubernetes.default.svc` and the shapes /api, /apis, /.well-known, /openid.
import { type NextFunction, type Request, type Response, Router } from "express";
import type { Clock } from "../shared/clock.ts";
import { ProtocolError } from "../shared/errors.ts";
import type { EventSink } from "../shared/event.ts";
import { drain, eventOf, rawPath, readBytes, requestScope } from "../shared/http.ts";
import type { Random } from "../shared/random.ts";
import type { ApiServer } from "./api-server.ts";
import { parseAttributes } from "./core/attributes.ts";
import { parseBody } from "./core/manifest.ts";
import { nameOperation } from "./core/resources.ts";
import { renderStatus, StatusError } from "./errors.ts";
import type { ApiAnswer, Attributes } from "./types.ts";

export interface ApiServerRouterOptions {
  readonly apiServer: ApiServer;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventSink;
}

/** The limit of the real server. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
const UNKNOWN_FORMAT =
  "the body of the request was in an unknown format - accepted media types include: application/json";

/** The router of the Kubernetes API. */
export function createApiServerRouter(options: ApiServerRouterOptions): Router {
  const { apiServer } = options;
  const router = Router();
  router.use(requestScope({ ...options, room: "apiserver" }));
  router.use(async (request: Request, response: Response) => {
    const event = eventOf(response);
    event.operation = "apiserver:Unknown";
    const { path, query } = rawPath(request);
    const attributes = parseAttributes(request.method, path, query);
    event.operation = nameOperation(attributes);
    event.resource = nameResource(attributes);
    const user = await apiServer.authenticate(request.headers.authorization);
    event.principal = user.name;
    const allowedBy = apiServer.authorize(user, attributes);
    const operation = apiServer.findOperation(attributes);
    const body = await readBody(request);
    const note = (facts: Readonly<Record<string, unknown>>) => {
      event.notes = { ...event.notes, ...facts };
    };
    const answer = await operation({ user, attributes, body, note });
    event.decision = "allow";
    event.decidedBy = answer.decidedBy ?? allowedBy;
    event.lineage = answer.lineage;
    send(response, answer);
  });
  router.use(renderRefusal);
  return router;
}

async function readBody(request: Request): Promise<Readonly<Record<string, unknown>>> {
  if (!["POST", "PUT", "DELETE"].includes(request.method)) return {};
  const bytes = await readBytes(request, BODY_LIMIT_BYTES);
  if (bytes.length === 0 && request.method === "DELETE") return {};
  const type = (request.headers["content-type"] ?? "application/json").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new StatusError("UnsupportedMediaType", "unsupported-media-type", UNKNOWN_FORMAT);
  }
  return parseBody(bytes);
}

function send(response: Response, answer: ApiAnswer): void {
  const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  // RFC 7234 §5.5: code 299, no agent, quoted text.
  const warnings = (answer.warnings ?? []).map((warning) => `299 - ${JSON.stringify(warning)}`);
  if (warnings.length > 0) response.setHeader("Warning", warnings);
  response.statusCode = answer.status;
  response.setHeader("Content-Type", answer.contentType ?? "application/json");
  response.end(text);
}

function nameResource(attributes: Attributes): string {
  if (attributes.kind === "path") return attributes.path;
  const { namespace, resource, name } = attributes;
  return [namespace, resource, name].filter(Boolean).join("/");
}

// Four parameters make it an error handler for Express.
function renderRefusal(error: unknown, request: Request, response: Response, _next: NextFunction): void {
  const { code, because, body } = renderStatus(error);
  const event = eventOf(response);
  event.decision = "deny";
  event.reason = because;
  if (error instanceof ProtocolError && code < 500) event.notes = { because: error.message, ...event.notes };
  if (code === 500) event.notes = { ...event.notes, cause: error instanceof Error ? error.name : typeof error };
  drain(request);
  response.statusCode = code;
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(body));
}
