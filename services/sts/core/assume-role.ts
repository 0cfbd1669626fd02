// What the trust policy is asked: the condition keys that a token and a call make visible (spec aws 3.2).
import type { CallContext, PolicyContext } from "../types.ts";
import type { WebIdentityClaims } from "./token.ts";

/** A verified token in a call. */
export interface WebIdentityFacts {
  readonly claims: WebIdentityClaims;
  /** The issuer without its scheme: the prefix of the condition keys. */
  readonly provider: string;
  readonly providerArn: string;
  /** The audience that matched. */
  readonly audience: string;
  readonly sessionName: string;
  readonly now: Date;
  readonly call: CallContext;
}

/** Condition keys of the token and the call. Claims without a key of their own (`kubernetes.io`, …) stay invisible. */
export function createWebIdentityContext(facts: WebIdentityFacts): PolicyContext {
  const { claims, provider } = facts;
  return {
    ...createCallContext(facts.call, facts.now),
    ...createSessionContext(claims, facts.sessionName),
    "aws:FederatedProvider": facts.providerArn,
    [`${provider}:sub`]: claims.sub,
    [`${provider}:aud`]: facts.audience,
    ...(claims.azp === undefined ? {} : { [`${provider}:oaud`]: claims.aud }),
    ...(claims.amr === undefined ? {} : { [`${provider}:amr`]: claims.amr }),
    ...(claims.email === undefined ? {} : { [`${provider}:email`]: claims.email }),
  };
}

/** What the new session will be, for the trust policy to judge: name, tags, source identity. */
export interface SessionFacts {
  readonly tags: Readonly<Record<string, string>>;
  readonly transitiveTagKeys: readonly string[];
  readonly sourceIdentity?: string;
}

/** Condition keys about the session asked for. */
export function createSessionContext(session: SessionFacts, sessionName: string): PolicyContext {
  const tags = Object.entries(session.tags).map(([key, value]) => [`aws:RequestTag/${key}`, value]);
  return {
    "sts:RoleSessionName": sessionName,
    ...Object.fromEntries(tags),
    ...(tags.length === 0 ? {} : { "aws:TagKeys": Object.keys(session.tags) }),
    ...(session.transitiveTagKeys.length === 0 ? {} : { "sts:TransitiveTagKeys": session.transitiveTagKeys }),
    ...(session.sourceIdentity === undefined ? {} : { "sts:SourceIdentity": session.sourceIdentity }),
  };
}

/** Condition keys about the HTTP request and the moment. */
export function createCallContext(call: CallContext, now: Date): PolicyContext {
  return {
    "aws:SourceIp": call.sourceIp,
    "aws:SecureTransport": String(call.secure),
    "aws:UserAgent": call.userAgent,
    "aws:RequestedRegion": call.region,
    "aws:CurrentTime": now.toISOString(),
    "aws:EpochTime": String(Math.floor(now.getTime() / 1000)),
  };
}

/** The actions a trust policy must allow besides the assumption itself, where the session asks for more. */
export function listExtraActions(session: SessionFacts): readonly string[] {
  return [
    ...(Object.keys(session.tags).length > 0 || session.transitiveTagKeys.length > 0 ? ["sts:TagSession"] : []),
    ...(session.sourceIdentity === undefined ? [] : ["sts:SetSourceIdentity"]),
  ];
}
