// From attributes to the operation behind them; what no line of the tables covers does not exist.
import { createDiscovery } from "./core/api-discovery.ts";
import { RESOURCES } from "./core/resources.ts";
import { StatusError } from "./errors.ts";
import { OBJECT_OPERATIONS } from "./operations.ts";
import { createToken, createTokenReview, type TokenContext } from "./token-operations.ts";
import type { ApiAnswer, ApiRequest, Attributes, PathAttributes, ResourceAttributes } from "./types.ts";

/** An operation that is ready to run. */
export type ReadyOperation = (request: ApiRequest) => Promise<ApiAnswer>;

export interface RouteContext extends TokenContext {
  readonly jwksUri: string;
}

/**
 * The operation for these attributes.
 * @throws StatusError NotFound or MethodNotAllowed
 */
export function findOperation(attributes: Attributes, context: RouteContext): ReadyOperation {
  return attributes.kind === "path"
    ? findPathOperation(attributes, context)
    : findResourceOperation(attributes, context);
}

function findResourceOperation(attributes: ResourceAttributes, context: TokenContext): ReadyOperation {
  const { group, version, namespace, name, subresource, verb } = attributes;
  const resource = Object.hasOwn(RESOURCES, attributes.resource) ? RESOURCES[attributes.resource] : undefined;
  if (!resource || resource.group !== group || resource.version !== version) throw unknownPath();
  if (namespace !== "" && !resource.namespaced) throw unknownPath();
  if (resource.namespaced && namespace === "" && verb !== "list") throw unknownPath();
  const isToken = resource.kind === "ServiceAccount" && subresource === "token";
  if (subresource !== "" && !isToken) throw unknownPath();
  const run = isToken ? createToken : resource.kind === "TokenReview" ? createTokenReview : OBJECT_OPERATIONS[verb];
  const verbs = isToken ? ["create"] : resource.verbs;
  // A name in the path of a POST, or none in that of a PUT, is the wrong method for that path.
  const named = name !== "";
  const fits = verb === "list" || (verb === "create" ? named === isToken : named);
  if (!run || !verbs.includes(verb) || !fits) throw wrongMethod();
  return async (request) => run({ ...request, attributes, resource }, context);
}

const HEALTH_PATHS = ["/healthz", "/livez", "/readyz"];

function findPathOperation({ path, verb }: PathAttributes, context: RouteContext): ReadyOperation {
  const trimmed = path.replace(/(?<=.)\/$/, "");
  const answer = HEALTH_PATHS.includes(trimmed)
    ? ok
    : (findIssuerDocument(trimmed, context) ?? findDiscovery(trimmed, context));
  if (!answer) throw unknownPath();
  if (verb !== "get" && verb !== "head") throw wrongMethod();
  return answer;
}

// Absent altogether unless the issuer is an https URL (spec kubelet 4.4).
function findIssuerDocument(path: string, { issuer, jwksUri }: RouteContext): ReadyOperation | undefined {
  if (!issuer.url.startsWith("https://")) return undefined;
  const headers = { "Cache-Control": "public, max-age=3600" };
  if (path === "/.well-known/openid-configuration") {
    return async () => ({ status: 200, body: issuer.discovery(jwksUri), headers });
  }
  if (path !== "/openid/v1/jwks") return undefined;
  return async () => ({ status: 200, body: await issuer.jwks(), contentType: "application/jwk-set+json", headers });
}

function findDiscovery(path: string, { facts }: RouteContext): ReadyOperation | undefined {
  const body = createDiscovery(path, facts.profile.version);
  return body === undefined ? undefined : async () => ({ status: 200, body });
}

async function ok(): Promise<ApiAnswer> {
  return { status: 200, body: "ok", contentType: "text/plain; charset=utf-8" };
}

function unknownPath(): StatusError {
  return new StatusError("NotFound", "not-found", "the server could not find the requested resource", {});
}

function wrongMethod(): StatusError {
  const text = "the server does not allow this method on the requested resource";
  return new StatusError("MethodNotAllowed", "method-not-allowed", text, {});
}
