// The issuer's own host, in EKS's shape: anonymous, two documents per issuer, also over plain http.
import { type NextFunction, type Request, type Response, Router } from "express";
import type { Clock } from "../shared/clock.ts";
import type { EventSink } from "../shared/event.ts";
import { drain, eventOf, rawPath, requestScope } from "../shared/http.ts";
import type { Random } from "../shared/random.ts";
import { createEksDiscoveryDocument, issuerBase } from "./core/discovery.ts";
import { OidcError, renderOidcError } from "./errors.ts";
import type { PublishedIssuer } from "./types.ts";

export interface OidcRouterOptions {
  readonly issuers: readonly PublishedIssuer[];
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventSink;
}

interface Operation {
  readonly name: string;
  readonly contentType: string;
  answer(issuer: PublishedIssuer): Promise<unknown>;
}

interface Document {
  readonly issuer: PublishedIssuer;
  readonly operation: Operation;
}

/** What follows the issuer's path. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  "/.well-known/openid-configuration": {
    name: "oidc:GetDiscovery",
    contentType: "application/json",
    answer: async (issuer) => createEksDiscoveryDocument(issuer.discovery(`${issuerBase(issuer.url)}/keys`)),
  },
  "/keys": {
    name: "oidc:GetKeys",
    contentType: "application/jwk-set+json",
    answer: (issuer) => issuer.jwks(),
  },
};

/** The router of all issuers of a world: the issuer by host name and path, the document by what follows. */
export function createOidcRouter(options: OidcRouterOptions): Router {
  const router = Router();
  const documents = createDocumentTable(options.issuers);
  router.use(requestScope({ ...options, room: "oidc" }));
  router.get("/healthz", (_request, response) => void response.json({ status: "ok" }));
  router.use(async (request: Request, response: Response) => {
    const { issuer, operation } = findDocument(documents, request);
    const event = eventOf(response);
    event.operation = operation.name;
    event.resource = issuer.url;
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      throw new OidcError("method_not_allowed", `expected GET or HEAD, found ${request.method}`);
    }
    const body = JSON.stringify(await operation.answer(issuer));
    response.setHeader("Content-Type", operation.contentType);
    response.setHeader("Cache-Control", "public, max-age=3600");
    response.end(body);
  });
  router.use(renderRefusal);
  return router;
}

// Issuers do not change while the stack runs (their keys do), so each document has one line in a table.
function createDocumentTable(issuers: readonly PublishedIssuer[]): ReadonlyMap<string, Document> {
  const table = new Map<string, Document>();
  for (const issuer of issuers) {
    const { hostname, pathname } = new URL(issuerBase(issuer.url));
    const base = pathname === "/" ? "" : pathname;
    for (const [suffix, operation] of Object.entries(OPERATIONS)) {
      table.set(hostname + base + suffix, { issuer, operation });
    }
  }
  return table;
}

function findDocument(documents: ReadonlyMap<string, Document>, request: Request): Document {
  const host = (request.headers.host ?? "").toLowerCase().replace(/:\d*$/, "");
  const { path } = rawPath(request);
  const document = documents.get(host + path);
  if (!document) throw new OidcError("not_found", `no issuer of this world has a document at ${host}${path}`);
  return document;
}

// Four parameters make it an error handler for Express.
function renderRefusal(error: unknown, request: Request, response: Response, _next: NextFunction): void {
  const { status, body } = renderOidcError(error);
  const event = eventOf(response);
  event.operation ??= "oidc:GetDocument";
  event.decision = "deny";
  event.reason = body.error.replaceAll("_", "-");
  drain(request);
  response.status(status).json(body);
}
