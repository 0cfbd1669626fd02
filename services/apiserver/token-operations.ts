// TokenRequest and TokenReview: the core decides, the issuer signs or verifies.
import type { Issuer } from "../oidc/index.ts";
import { createUuid } from "../shared/random.ts";
import type { Authenticator } from "./authenticator.ts";
import type { AuthorizationFacts } from "./core/authorize.ts";
import { createClaims } from "./core/claims.ts";
import { objectAt, textAt, textsAt } from "./core/fields.ts";
import { nodeNameOf } from "./core/node-authorizer.ts";
import { admitNodeTokenRequest } from "./core/node-restriction.ts";
import { decideTokenRequest, parseTokenRequest, type TokenGrant } from "./core/token-request.ts";
import { StatusError } from "./errors.ts";
import { type OperationContext, type ResourceRequest, renderTime } from "./operations.ts";
import type { ApiAnswer, TokenRequest } from "./types.ts";

export interface TokenContext extends OperationContext {
  readonly issuer: Issuer;
  readonly authenticator: Authenticator;
  readonly facts: AuthorizationFacts;
  readonly apiAudiences: readonly string[];
  readonly maxExpirationSeconds: number;
  readonly extendExpiration: boolean;
}

const API_VERSION = "authentication.k8s.io/v1";

/** `POST …/serviceaccounts/<name>/token`, after authorization: NodeRestriction, then the handler. */
export async function createToken(request: ResourceRequest, context: TokenContext): Promise<ApiAnswer> {
  const { attributes, user } = request;
  const { namespace, name } = attributes;
  checkKind(request.body, "TokenRequest");
  const wanted = parseTokenRequest(request.body);
  const { spec } = wanted;
  request.note({
    audience: spec.audiences.join(","),
    ...(spec.boundObjectRef ? { boundTo: spec.boundObjectRef.name } : {}),
  });
  const node = nodeNameOf(user);
  const decidedBy =
    node === undefined
      ? undefined
      : admitNodeTokenRequest({ node, user, namespace, serviceAccount: name, spec }, context.facts);
  const { objects, profile } = context.facts;
  const grant = decideTokenRequest(wanted, { ...context, namespace, name, objects, profile });
  const jti = createUuid(context.random);
  const now = context.now();
  const { claims, expiration } = createClaims({ ...grant, issuer: context.issuer.url, jti, now });
  const token = await context.issuer.sign(claims);
  const metadata = {
    name,
    namespace,
    ...(profile.tokenRequestUid ? { uid: wanted.metadata.uid || grant.serviceAccount.metadata.uid } : {}),
    creationTimestamp: renderTime(now),
  };
  const status = { token, expirationTimestamp: renderTime(expiration) };
  const body = { apiVersion: API_VERSION, kind: "TokenRequest", metadata, spec: renderSpec(wanted, grant), status };
  return { status: 201, body, lineage: jti, warnings: grant.warnings, ...(decidedBy ? { decidedBy } : {}) };
}

/** `POST …/tokenreviews`. */
export async function createTokenReview(request: ResourceRequest, context: TokenContext): Promise<ApiAnswer> {
  checkKind(request.body, "TokenReview");
  const spec = objectAt(request.body, "spec");
  const token = textAt(spec, "token");
  if (token === "") throw StatusError.badRequest("token is required for TokenReview in authentication");
  const asked = textsAt(spec, "audiences");
  const verdict = await context.authenticator.review(token, asked.length > 0 ? asked : context.apiAudiences);
  if (!verdict.authenticated) request.note({ authenticated: false, error: verdict.error });
  const status = verdict.authenticated
    ? { authenticated: true, user: renderUser(verdict.user), audiences: verdict.audiences }
    : { user: {}, error: verdict.error };
  const body = { apiVersion: API_VERSION, kind: "TokenReview", metadata: { creationTimestamp: null }, spec, status };
  return { status: 201, body };
}

function renderUser({
  name,
  uid,
  groups,
  extra,
}: {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra?: unknown;
}) {
  return { username: name, ...(uid ? { uid } : {}), groups, ...(extra ? { extra } : {}) };
}

function renderSpec({ spec }: TokenRequest, { audiences, expirationSeconds }: TokenGrant): unknown {
  return { audiences, expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null };
}

function checkKind(body: Readonly<Record<string, unknown>>, kind: string): void {
  const { apiVersion: version = API_VERSION, kind: found = kind } = body;
  if (version !== API_VERSION) {
    const text = `the API version in the data (${version}) does not match the expected API version (${API_VERSION})`;
    throw StatusError.badRequest(text);
  }
  if (found !== kind) throw StatusError.badRequest(`${found} in version "v1" cannot be handled as a ${kind}`);
}
