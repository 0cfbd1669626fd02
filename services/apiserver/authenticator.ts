// Who asks: bearer tokens of nodes and of the administrator, and ServiceAccount tokens of the cluster's issuer.
import { createHash } from "node:crypto";
import type { Issuer } from "../oidc/index.ts";
import type { Clock } from "../shared/clock.ts";
import { decideToken, type TokenVerdict } from "./core/token-review.ts";
import { StatusError } from "./errors.ts";
import type { ObjectLookup, User } from "./types.ts";

export interface AuthenticatorOptions {
  readonly issuer: Issuer;
  readonly clock: Clock;
  readonly objects: ObjectLookup;
  readonly apiAudiences: readonly string[];
}

export interface Authenticator {
  /** From now on, this token stands for this user. */
  register(token: string, user: User): void;
  forget(token: string): void;
  /**
   * The user behind an `Authorization` header; without one, the anonymous user.
   * @throws StatusError Unauthorized for any header that proves nothing.
   */
  authenticate(authorization: string | undefined): Promise<User>;
  /** What a TokenReview says to this token. */
  review(token: string, audiences: readonly string[]): Promise<TokenVerdict>;
}

const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Authentication over a table of static tokens and the issuer's keys. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  // By hash, so that a look-up takes no longer for a token that is nearly right.
  const users = new Map<string, User>();
  const review = async (token: string, wanted: readonly string[]): Promise<TokenVerdict> => {
    const user = users.get(hash(token));
    if (user) {
      const audiences = wanted.filter((audience) => options.apiAudiences.includes(audience));
      if (audiences.length > 0) return { authenticated: true, user, audiences };
      return { authenticated: false, error: "token is made out to this API server only" };
    }
    const verification = await options.issuer.verify(token);
    if (!verification.ok) return { authenticated: false, error: `invalid bearer token: ${verification.refusal}` };
    const { objects, clock, issuer } = options;
    return decideToken(verification.claims, { objects, now: clock.now(), issuer: issuer.url, audiences: wanted });
  };
  return {
    register: (token, user) => void users.set(hash(token), user),
    forget: (token) => void users.delete(hash(token)),
    async authenticate(authorization) {
      if (authorization === undefined) return ANONYMOUS;
      const [, token] = /^bearer +(\S+)$/i.exec(authorization.trim()) ?? [];
      const verdict = token === undefined ? undefined : await review(token, options.apiAudiences);
      if (!verdict?.authenticated) throw new StatusError("Unauthorized", "not-authenticated", "Unauthorized");
      return verdict.user;
    },
    review,
  };
}

function hash(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
