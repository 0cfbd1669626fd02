// Makes the credentials of a session; the one place where a session begins.
import { type Iam, IamError, parsePolicy, type Role } from "../iam/index.ts";
import { createUniqueId } from "../shared/aws/arn.ts";
import type { Clock } from "../shared/clock.ts";
import type { Random } from "../shared/random.ts";
import type { Sealer } from "../shared/seal.ts";
import type { RoleParameters } from "./core/parameters.ts";
import { createSessionPrincipal, type RoleSessionIdentity, type SealedSession, sealSession } from "./core/session.ts";
import { checkPolicyArns, measurePackedPolicy } from "./core/session-policy.ts";
import { UNVERIFIED_TEXTS } from "./core/unverified.ts";
import { StsError } from "./errors.ts";
import type { AssumedRoleUser, Credentials, SessionRequest } from "./types.ts";

export interface MintDeps {
  readonly iam: Iam;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealer: Sealer;
}

export interface MintedSession {
  readonly credentials: Credentials;
  readonly assumedRoleUser: AssumedRoleUser;
  readonly lineage: string;
}

/** Mints sessions of roles and of users, without asking whether they may. */
export interface SessionMint {
  /** @throws StsError `not-authorized` if there is no such role */
  mint(request: SessionRequest): MintedSession;
  mintForUser(user: { readonly arn: string; readonly accountId: string }, durationSeconds: number): Credentials;
}

/** A mint over the stack's clock, randomness and sealing key. */
export function createSessionMint(deps: MintDeps): SessionMint {
  function createCredentials(
    account: string,
    durationSeconds: number,
    rest: Pick<SealedSession, "identity"> & { readonly lineage?: string | undefined },
  ): { credentials: Credentials; sealed: SealedSession } {
    const issuedAt = Math.floor(deps.clock.now().getTime() / 1000);
    const accessKeyId = createUniqueId("ASIA", account, deps.random);
    const sealed: SealedSession = {
      accessKeyId,
      secretAccessKey: deps.random.bytes(30).toString("base64"),
      lineage: rest.lineage ?? accessKeyId,
      issuedAt,
      expiresAt: issuedAt + durationSeconds,
      identity: rest.identity,
    };
    const credentials = {
      accessKeyId,
      secretAccessKey: sealed.secretAccessKey,
      sessionToken: sealSession(deps.sealer, sealed),
      expiration: new Date(sealed.expiresAt * 1000),
    };
    return { credentials, sealed };
  }

  return {
    mint(request) {
      const role = deps.iam.findRole(request.roleArn);
      if (!role) throw new StsError("not-authorized", `There is no role ${request.roleArn}`);
      const identity = createIdentity(role, request);
      const { lineage, durationSeconds } = request;
      const { credentials, sealed } = createCredentials(role.accountId, durationSeconds, { identity, lineage });
      const { arn, userId } = createSessionPrincipal(identity, sealed);
      return { credentials, assumedRoleUser: { arn, assumedRoleId: userId }, lineage: sealed.lineage };
    },
    mintForUser(user, durationSeconds) {
      const identity = { kind: "user", userArn: user.arn } as const;
      return createCredentials(user.accountId, durationSeconds, { identity }).credentials;
    },
  };
}

/**
 * Rows 14 and 15: the duration fits the role, and the session policies are sound and small enough.
 * @throws StsError `duration-over-maximum`, `malformed-session-policy`, `packed-policy-too-large`
 */
export function checkSession(question: {
  readonly asked: RoleParameters;
  readonly role: Role;
  readonly tags: Readonly<Record<string, string>>;
  readonly maximumSeconds: number;
}): { readonly request: SessionRequest; readonly packedPolicySize: number | undefined } {
  const { asked, role, tags, maximumSeconds } = question;
  const durationSeconds = asked.durationSeconds ?? 3600;
  if (durationSeconds > maximumSeconds) {
    const text = "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.";
    throw new StsError("duration-over-maximum", text);
  }
  if (asked.policy !== undefined) checkSessionPolicy(asked.policy);
  checkPolicyArns(asked.policyArns, role.accountId);
  const packedPolicySize = measurePackedPolicy({ ...asked, tags });
  const request = {
    roleArn: role.arn,
    sessionName: asked.sessionName,
    durationSeconds,
    sessionPolicies: asked.policy === undefined ? [] : [asked.policy],
    sessionPolicyArns: asked.policyArns,
    tags,
  };
  return { request, packedPolicySize };
}

function checkSessionPolicy(policy: string): void {
  try {
    parsePolicy("session", "session policy", policy);
  } catch (cause) {
    if (!(cause instanceof IamError)) throw cause;
    const text = UNVERIFIED_TEXTS.malformedSessionPolicy(cause.message);
    throw new StsError("malformed-session-policy", text, { cause });
  }
}

function createIdentity(role: Role, request: SessionRequest): RoleSessionIdentity {
  const { sourceIdentity, federated } = request;
  return {
    kind: "assumed-role",
    roleArn: role.arn,
    roleId: role.id,
    roleName: role.name,
    accountId: role.accountId,
    sessionName: request.sessionName,
    sessionPolicies: request.sessionPolicies ?? [],
    sessionPolicyArns: request.sessionPolicyArns ?? [],
    tags: request.tags ?? {},
    transitiveTagKeys: request.transitiveTagKeys ?? [],
    ...(sourceIdentity === undefined ? {} : { sourceIdentity }),
    ...(federated === undefined ? {} : { federated }),
  };
}
