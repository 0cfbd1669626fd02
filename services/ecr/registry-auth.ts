// Judges what comes to a registry host, for the registry that knows nothing of AWS: who is it, and may they?
// Asked anew on every request, with identity and repository policies as they are at that moment.
import type { AccessDecision, Authentication, AuthenticationRefusal, AuthorizationRequest } from "../registry/index.ts";
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
  const read = createCredentialReader(deps.sealer);
  return {
    authenticator: {
      authenticate: (authorization) => authenticate(read(authorization), region, deps.clock),
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

type CredentialReader = (authorization: string | undefined) => PasswordClaims | AuthenticationRefusal;

/** The last two steps of: parse, token, region (spec aws 5.1). */
function authenticate(read: PasswordClaims | AuthenticationRefusal, region: string, clock: Clock): Authentication {
  if (typeof read === "string") return { kind: "refused", refusal: read };
  const { principal, lineage } = read;
  if (clock.now().getTime() >= read.expiresAt * 1000) return { kind: "refused", refusal: "expired", lineage };
  if (read.region !== region) return { kind: "refused", refusal: "wrong-region", lineage };
  const detail = new EcrIdentity(principal);
  return { kind: "principal", principal: { name: principal.arn, anonymous: false, lineage, detail } };
}

/** What the header says; good ones are remembered, since the same header comes with every request of a pull. */
function createCredentialReader(sealer: Sealer): CredentialReader {
  const opened = new Map<string, PasswordClaims>();
  return (authorization = "") => {
    const known = opened.get(authorization);
    if (known) return known;
    const claims = readCredentials(authorization, sealer);
    if (typeof claims === "string") return claims;
    const [oldest] = opened.keys();
    if (opened.size >= REMEMBERED && oldest !== undefined) opened.delete(oldest);
    opened.set(authorization, claims);
    return claims;
  };
}

function readCredentials(authorization: string, sealer: Sealer): PasswordClaims | AuthenticationRefusal {
  const credentials = parseBasic(authorization);
  if (!credentials) return authorization === "" ? "no-credentials" : "bad-credentials";
  const { user, password } = credentials;
  // Some clients send an empty user and password where they have none.
  if (user === "" && password === "") return "no-credentials";
  if (user !== USER) return "bad-credentials";
  return openPassword(sealer, password) ?? "malformed";
}

function parseBasic(authorization: string): { user: string; password: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]*={0,2}) *$/i.exec(authorization)?.[1];
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
  const { effect, reason, decidedBy, because, outcomes } = decision;
  const resource = renderRepositoryArn(repository);
  return { effect, reason, decidedBy, because, outcomes, resource, ...(effect === "deny" ? { message } : {}) };
}
