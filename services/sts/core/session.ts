// A session as it travels: everything about it is sealed into its session token, nothing is kept here (design 13.2).
import type { AwsPrincipal, FederatedIdentity } from "../../shared/aws/principal.ts";
import type { Sealer } from "../../shared/seal.ts";

/** What a session token holds. Instants in seconds since the epoch. */
export interface SealedSession {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly lineage: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly identity: RoleSessionIdentity | UserSessionIdentity;
}

export interface RoleSessionIdentity {
  readonly kind: "assumed-role";
  readonly roleArn: string;
  readonly roleId: string;
  readonly roleName: string;
  readonly accountId: string;
  readonly sessionName: string;
  readonly sessionPolicies: readonly string[];
  readonly sessionPolicyArns: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly transitiveTagKeys: readonly string[];
  readonly sourceIdentity?: string;
  readonly federated?: FederatedIdentity;
}

export interface UserSessionIdentity {
  readonly kind: "user";
  readonly userArn: string;
}

const PURPOSE = "session";
// What real session tokens begin with: base64 of a newline-framed `origin_ec`. Secret scanners look for it.
const TOKEN_PREFIX = "IQoJb3JpZ2luX2Vj";

/** The session token: opaque base64 that only this stack's key opens. */
export function sealSession(sealer: Sealer, session: SealedSession): string {
  return TOKEN_PREFIX + sealer.seal(PURPOSE, session);
}

/** The session of a token, whether or not it has expired; undefined for anything that was not sealed as one. */
export function openSession(sealer: Sealer, sessionToken: string): SealedSession | undefined {
  if (!sessionToken.startsWith(TOKEN_PREFIX)) return undefined;
  // The seal is authenticated, so what opens is what sealSession was given.
  return sealer.open(PURPOSE, sessionToken.slice(TOKEN_PREFIX.length)) as SealedSession | undefined;
}

/** The principal that requests signed with a role's session act as. */
export function createSessionPrincipal(
  identity: RoleSessionIdentity,
  times: { readonly issuedAt: number; readonly expiresAt: number },
): AwsPrincipal {
  return {
    kind: "assumed-role",
    accountId: identity.accountId,
    arn: renderSessionArn(identity),
    userId: `${identity.roleId}:${identity.sessionName}`,
    roleArn: identity.roleArn,
    roleId: identity.roleId,
    sessionName: identity.sessionName,
    sessionPolicies: identity.sessionPolicies,
    sessionPolicyArns: identity.sessionPolicyArns,
    tags: identity.tags,
    ...(identity.federated ? { federated: identity.federated } : {}),
    issuedAt: times.issuedAt,
    expiresAt: times.expiresAt,
  };
}

function renderSessionArn(identity: RoleSessionIdentity): string {
  return `arn:aws:sts::${identity.accountId}:assumed-role/${identity.roleName}/${identity.sessionName}`;
}
