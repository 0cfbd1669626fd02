// Puts the room together: web identities in, temporary credentials out. Keeps nothing but the issuers' key sets.
import type { Iam } from "../iam/index.ts";
import type { CredentialLookup, CredentialResolver } from "../shared/aws/credential-resolver.ts";
import { type Clock, monotonicMs } from "../shared/clock.ts";
import type { Dialer } from "../shared/dial.ts";
import type { Random } from "../shared/random.ts";
import type { Sealer } from "../shared/seal.ts";
import { assumeRole } from "./assume-role.ts";
import { assumeRoleWithWebIdentity } from "./assume-web-identity.ts";
import { parseSessionTokenDuration } from "./core/parameters.ts";
import { createSessionPrincipal, openSession, type SealedSession } from "./core/session.ts";
import { UNVERIFIED_LIMITS, UNVERIFIED_TEXTS } from "./core/unverified.ts";
import { StsError } from "./errors.ts";
import { createKeySource } from "./keys.ts";
import { createSessionMint } from "./mint.ts";
import type { Sts, StsOptions } from "./types.ts";

export interface StsDeps {
  readonly iam: Iam;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealer: Sealer;
  readonly dialer: Dialer;
  readonly options?: StsOptions;
  /** Milliseconds of real time, for the bound on refetches; the process's own unless told. */
  readonly elapsedMs?: () => number;
}

const DEFAULTS: Required<StsOptions> = {
  maxTokenAgeSeconds: UNVERIFIED_LIMITS.maxTokenAgeSeconds,
  skewSeconds: UNVERIFIED_LIMITS.skewSeconds,
  jwksCacheSeconds: UNVERIFIED_LIMITS.jwksCacheSeconds,
  httpIssuers: false,
  idpCommunicationErrors: false,
  verifyThumbprints: false,
  defaultRegion: "us-east-1",
};

/** The Security Token Service over the given identities, clock, key and way to the issuers. */
export function createSts(deps: StsDeps): Sts {
  const options = { ...DEFAULTS, ...deps.options };
  const { iam, clock } = deps;
  const keys = createKeySource({
    dialer: deps.dialer,
    clock,
    elapsedMs: deps.elapsedMs ?? monotonicMs,
    jwksCacheSeconds: options.jwksCacheSeconds,
    httpIssuers: options.httpIssuers,
  });
  const mint = createSessionMint(deps);
  return {
    assumeRoleWithWebIdentity: (call) => assumeRoleWithWebIdentity(call, { iam, clock, keys, mint, options }),
    assumeRole: (call, by) => assumeRole(call, by, { iam, clock, mint }),
    getSessionToken(call, by) {
      const durationSeconds = parseSessionTokenDuration(call.query);
      if (by.principal.kind !== "user" || by.accessKeyId.startsWith("ASIA")) {
        throw new StsError("not-authorized", UNVERIFIED_TEXTS.sessionCallsGetSessionToken);
      }
      return mint.mintForUser(by.principal, durationSeconds);
    },
    mintSession: (request) => mint.mint(request).credentials,
    defaultRegion: options.defaultRegion,
    resolver: createResolver(deps),
    reset: () => keys.reset(),
  };
}

function createResolver(deps: StsDeps): CredentialResolver {
  return {
    resolve(accessKeyId, sessionToken) {
      if (sessionToken === undefined) return resolveUserKey(deps.iam, accessKeyId);
      const session = openSession(deps.sealer, sessionToken);
      if (session?.accessKeyId !== accessKeyId) return "unknown";
      if (deps.clock.now().getTime() >= session.expiresAt * 1000) return "expired";
      return resolveSession(deps.iam, session);
    },
  };
}

function resolveUserKey(iam: Iam, accessKeyId: string): CredentialLookup {
  const found = iam.findUserByAccessKey(accessKeyId);
  if (!found) return "unknown";
  const { arn, accountId, id: userId, name: userName } = found.user;
  const principal = { kind: "user", accountId, arn, userId, userName } as const;
  return { secretAccessKey: found.secret, principal, lineage: accessKeyId };
}

/** Who a session stands for is sealed; whether its role or user still exists is read live. */
function resolveSession(iam: Iam, session: SealedSession): CredentialLookup {
  const { identity, secretAccessKey, lineage } = session;
  if (identity.kind === "user") {
    const user = iam.findUser(identity.userArn);
    if (!user) return "unknown";
    const { arn, accountId, id: userId, name: userName } = user;
    return { secretAccessKey, lineage, principal: { kind: "user", accountId, arn, userId, userName } };
  }
  const role = iam.findRole(identity.roleArn);
  // A role that was deleted and made anew has another unique id: the old sessions are not its own.
  if (role?.id !== identity.roleId) return "unknown";
  return { secretAccessKey, lineage, principal: createSessionPrincipal(identity, session) };
}
