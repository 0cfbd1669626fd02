// Where the verifier of signatures gets keys from: sts implements it, ecr and sts are handed it.
import type { AwsPrincipal } from "./principal.ts";

/** A key that may sign, and whom it stands for. */
export interface SigningCredential {
  readonly secretAccessKey: string;
  readonly principal: AwsPrincipal;
  /** The chain this credential belongs to: the web identity token's `jti`, or the access key id of a user. */
  readonly lineage: string;
}

/** `unknown` also stands for a session token that belongs to another key or does not open. */
export type CredentialLookup = SigningCredential | "unknown" | "expired";

export interface CredentialResolver {
  /** Looks a key up; `sessionToken` as the request carries it, undefined where it carries none. */
  resolve(accessKeyId: string, sessionToken: string | undefined): CredentialLookup;
}
