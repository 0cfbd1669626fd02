// Judges what comes to a registry host, for the registry that knows nothing of AWS: who is it, and may they?
// Asked anew on every request, with identity and repository policies as they are at that moment.
import type { AccessDecision, Authentication, AuthorizationRequest } from "../registry/index.ts";
import { renderRepositoryArn } from "../shared/aws/arn.ts";
import type { AwsPrincipal } from "../shared/aws/principal.ts";
import type { EcrHost } from "../shared/aws/registry-host.ts";
import type { Clock } from "../shared/clock.ts";
import type { Sealer } from "../shared/seal.ts";
import { type AccessDeps, decideOnRepository } from "./access.ts";
import { openPassword, type PasswordClaims } from "./core/authorization-token.ts";
import { REGISTRY_ACTIONS } from "./core/registry-action.ts";
import type { RegistryAuth } from "./types.ts";

export interface RegistryAuthDeps extends AccessDeps {
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Makes a repository that a push names and that is not there; left out, nothing is ever made so. */
  readonly createRepository?: ((host: EcrHost, name: string) => void) | undefined;
}

const USER = "AWS";
/** Opened passwords that are remembered: what a password says never changes, only whether it has expired. */
const REMEMBERED = 512;

/** What an authenticated principal carries through the registry and back to the authorizer. */
class EcrIdentity {
  readonly principal: AwsPrincipal;

  constructor(principal: AwsPrincipal) {
    this.principal = principal;
  }
}

/** The authenticator, authorizer and directory of one registry host. */
export function createRegistryAuth(host: EcrHost, deps: RegistryAuthDeps): RegistryAuth {
  const { account, region } = host;
  const { createRepository } = deps;
  const open = createPasswordReader(deps.sealer);
  return {
    authenticator: {
      authenticate: (authorization) => authenticate(authorization, { open, region, clock: deps.clock }),
    },
    authorizer: { authorize: (request) => authorize(request, host, deps) },
    directory: {
      find(name) {
        const found = deps.repositories.find({ account, region, name });
        return found && { immutableTags: found.imageTagMutability.startsWith("IMMUTABLE") };
      },
      ...(createRepository ? { create: (name: string) => createRepository(host, name) } : {}),
    },
  };
}

type PasswordReader = (password: string) => PasswordClaims | undefined;

/** In order: parse, token, region (spec aws 5.1). */
function authenticate(
  authorization: string | undefined,
  { open, region, clock }: { open: PasswordReader; region: string; clock: Clock },
): Authentication {
  const credentials = parseBasic(authorization);
  if (!credentials) return { kind: "refused", refusal: authorization ? "bad-credentials" : "no-credentials" };
  const { user, password } = credentials;
  // Some clients send an empty user and password where they have none.
  if (user === "" && password === "") return { kind: "refused", refusal: "no-credentials" };
  if (user !== USER) return { kind: "refused", refusal: "bad-credentials" };
  const claims = open(password);
  if (!claims) return { kind: "refused", refusal: "malformed" };
  const { principal, lineage } = claims;
  if (clock.now().getTime() >= claims.expiresAt * 1000) return { kind: "refused", refusal: "expired", lineage };
  if (claims.region !== region) return { kind: "refused", refusal: "wrong-region", lineage };
  const detail = new EcrIdentity(principal);
  return { kind: "principal", principal: { name: principal.arn, anonymous: false, lineage, detail } };
}

function parseBasic(authorization: string | undefined): { user: string; password: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]*={0,2}) *$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function authorize(request: AuthorizationRequest, host: EcrHost, deps: AccessDeps): AccessDecision {
  const { detail } = request.principal;
  if (!(detail instanceof EcrIdentity)) return { effect: "deny", reason: "no-principal", decidedBy: "ecr" };
  const action = REGISTRY_ACTIONS[request.operation];
  if (action === undefined) return { effect: "allow", reason: "valid-token", decidedBy: "authorization token" };
  const repository = { ...host, name: request.repository === "" ? "*" : request.repository };
  const { decision, message } = decideOnRepository(
    { principal: detail.principal, action, repository, context: request.context },
    deps,
  );
  const { effect, reason, decidedBy, outcomes } = decision;
  const resource = renderRepositoryArn(repository);
  return { effect, reason, decidedBy, outcomes, resource, ...(effect === "deny" ? { message } : {}) };
}

/** Opening costs a decryption; the same password comes with every request of a pull. */
function createPasswordReader(sealer: Sealer): PasswordReader {
  const opened = new Map<string, PasswordClaims>();
  return (password) => {
    const known = opened.get(password);
    if (known) return known;
    const claims = openPassword(sealer, password);
    if (!claims) return undefined;
    const [oldest] = opened.keys();
    if (opened.size >= REMEMBERED && oldest !== undefined) opened.delete(oldest);
    opened.set(password, claims);
    return claims;
  };
}
