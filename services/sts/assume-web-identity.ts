// AssumeRoleWithWebIdentity: the fifteen checks in the order of the specification (spec aws 2.3); the first that fails wins.
import { findMissingSubjectCondition, type Iam, type OidcProvider, type Role } from "../iam/index.ts";
import { parseRoleArn } from "../shared/aws/arn.ts";
import type { Clock } from "../shared/clock.ts";
import { fingerprint } from "../shared/redact.ts";
import { createWebIdentityContext, listExtraActions } from "./core/assume-role.ts";
import { parseWebIdentityParameters } from "./core/parameters.ts";
import { verifyTokenSignature } from "./core/signature.ts";
import { parseWebIdentityToken, type UnverifiedToken, type WebIdentityClaims } from "./core/token.ts";
import { UNVERIFIED_TEXTS } from "./core/unverified.ts";
import { checkIssuer, checkTimes, matchAudience } from "./core/web-identity.ts";
import { StsError } from "./errors.ts";
import type { KeyLookup, KeySource } from "./keys.ts";
import { checkSession, type SessionMint } from "./mint.ts";
import type { RoleSession, StsCall, StsOptions } from "./types.ts";

export interface WebIdentityDeps {
  readonly iam: Iam;
  readonly clock: Clock;
  readonly keys: KeySource;
  readonly mint: SessionMint;
  readonly options: Required<StsOptions>;
}

const NO_KEY =
  "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements";
const WRONG_THUMBPRINT = "OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint";
const NOT_AUTHORIZED = "Not authorized to perform sts:AssumeRoleWithWebIdentity";
const ACTION = "sts:AssumeRoleWithWebIdentity";

/** @throws StsError the first check that fails */
export async function assumeRoleWithWebIdentity(call: StsCall, deps: WebIdentityDeps): Promise<RoleSession> {
  const { event } = call;
  event.resource = call.query.text("RoleArn");
  const asked = parseWebIdentityParameters(call.query); // 1
  event.notes = { token: fingerprint(asked.token), sessionName: asked.sessionName };
  const account = parseAccount(asked.roleArn); // 2
  const token = parseWebIdentityToken(asked.token); // 3, 4
  const { claims } = token;
  event.lineage = claims.jti;
  event.notes = { ...event.notes, issuer: claims.iss, subject: claims.sub, audience: claims.aud };
  checkIssuer(claims, deps.options.httpIssuers); // 5
  const provider = deps.iam.findOidcProvider(account, claims.iss); // 6
  if (!provider) {
    const text = `No OpenIDConnect provider found in your account for ${claims.iss}`;
    throw new StsError("unregistered-issuer", text);
  }
  const audience = matchAudience(claims, provider.clientIds); // 7
  await verifyWithPublishedKeys({ token, provider, event }, deps); // 8, 8b, 9
  event.principal = claims.sub;
  const now = deps.clock.now();
  checkTimes(claims, now, deps.options); // 10, 11, 12
  const role = decideTrust({ call, asked, claims, provider, audience, now }, deps); // 13
  const session = checkSession({ asked, role, tags: claims.tags, maximumSeconds: role.maxSessionDurationSeconds }); // 14, 15
  const { credentials, assumedRoleUser, lineage } = deps.mint.mint({
    ...session.request,
    transitiveTagKeys: claims.transitiveTagKeys,
    ...(claims.sourceIdentity === undefined ? {} : { sourceIdentity: claims.sourceIdentity }),
    federated: {
      providerArn: provider.arn,
      provider: provider.provider,
      subject: claims.sub,
      audience,
      ...(claims.amr === undefined ? {} : { amr: claims.amr }),
    },
    ...(claims.jti === undefined ? {} : { lineage: claims.jti }),
  });
  event.principal = assumedRoleUser.arn;
  event.lineage = lineage;
  event.notes = { ...event.notes, accessKeyId: credentials.accessKeyId };
  return {
    credentials,
    assumedRoleUser,
    subject: claims.sub,
    audience,
    provider: provider.arn,
    ...(session.packedPolicySize === undefined ? {} : { packedPolicySize: session.packedPolicySize }),
    ...(claims.sourceIdentity === undefined ? {} : { sourceIdentity: claims.sourceIdentity }),
  };
}

function parseAccount(roleArn: string): string {
  const account = parseRoleArn(roleArn)?.account;
  if (account === undefined || !/^\d{12}$/.test(account)) {
    throw new StsError("not-a-role-arn", "Request ARN is invalid");
  }
  return account;
}

async function verifyWithPublishedKeys(
  { token, provider, event }: { token: UnverifiedToken; provider: OidcProvider; event: StsCall["event"] },
  deps: WebIdentityDeps,
): Promise<void> {
  const found = await deps.keys.findKeys(token.claims.iss, token.kid);
  if (found.kind === "unknown-key" && found.bounded) {
    event.notes = { ...event.notes, keys: "not fetched again: too many unknown keys" };
  }
  if (found.kind !== "found") throw keyRefusal(found, deps.options);
  if (deps.options.verifyThumbprints && provider.thumbprints.length > 0) {
    const registered = provider.thumbprints.map((thumbprint) => thumbprint.toLowerCase());
    const matches = found.keySet.thumbprints.some((thumbprint) => registered.includes(thumbprint));
    if (!matches) throw new StsError("wrong-thumbprint", WRONG_THUMBPRINT);
  }
  if (!verifyTokenSignature(token, found.candidates)) {
    throw new StsError("wrong-signature", UNVERIFIED_TEXTS.wrongSignature);
  }
}

function keyRefusal(lookup: Exclude<KeyLookup, { kind: "found" }>, options: Required<StsOptions>): StsError {
  if (lookup.kind === "unknown-key") return new StsError("unknown-key", NO_KEY);
  const { cause } = lookup;
  if (lookup.kind === "unreachable" && options.idpCommunicationErrors) {
    return new StsError("issuer-unreachable", UNVERIFIED_TEXTS.issuerUnreachable, { cause });
  }
  return new StsError("no-verification-key", NO_KEY, { cause });
}

interface TrustQuestion {
  readonly call: StsCall;
  readonly asked: { readonly roleArn: string; readonly sessionName: string };
  readonly claims: WebIdentityClaims;
  readonly provider: OidcProvider;
  readonly audience: string;
  readonly now: Date;
}

/** Row 13. One text for every no: whether the role exists is nobody's business. */
function decideTrust(question: TrustQuestion, deps: WebIdentityDeps): Role {
  const { call, asked, claims, provider, audience, now } = question;
  const decision = deps.iam.decideWebIdentity({
    roleArn: asked.roleArn,
    providerArn: provider.arn,
    actions: [ACTION, ...listExtraActions(claims)],
    context: createWebIdentityContext({
      claims,
      audience,
      now,
      provider: provider.provider,
      providerArn: provider.arn,
      sessionName: asked.sessionName,
      call: call.context,
    }),
  });
  const { event } = call;
  event.decision = decision.effect;
  event.reason = decision.reason;
  event.decidedBy = decision.decidedBy;
  event.notes = { ...event.notes, because: decision.because, outcomes: decision.outcomes };
  const role = deps.iam.findRole(asked.roleArn);
  if (decision.effect === "deny" || !role) throw new StsError("not-authorized", NOT_AUTHORIZED);
  const warning = findMissingSubjectCondition(role, provider.arn);
  if (warning !== undefined) event.notes = { ...event.notes, warning };
  return role;
}
