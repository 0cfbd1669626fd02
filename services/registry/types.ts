// Nouns of the registry. The registry knows nothing of AWS: who asks, whether they may, and which repositories exist
// is answered by what the stack hands in (Authenticator, Authorizer, RepositoryDirectory).
import type { REGISTRY_OPERATIONS } from "./core/operation.ts";

/** Who asks. `detail` is opaque here and goes back to the Authorizer untouched. */
export interface RegistryPrincipal {
  /** As events name it. */
  readonly name: string;
  readonly anonymous: boolean;
  readonly lineage?: string;
  readonly detail: unknown;
}

/** Why credentials were not accepted; the profile's table turns each into status, challenge and body. */
export type AuthenticationRefusal = "no-credentials" | "bad-credentials" | "malformed" | "wrong-region" | "expired";

export type Authentication =
  | { readonly kind: "principal"; readonly principal: RegistryPrincipal }
  | {
      readonly kind: "refused";
      readonly refusal: AuthenticationRefusal;
      readonly message?: string;
      readonly lineage?: string;
    };

/** Asked first on every request below `/v2/`, with the raw `Authorization` header. Never touches content. */
export interface Authenticator {
  authenticate(authorization: string | undefined): Awaitable<Authentication>;
}

/** One name per operation, everywhere: events say `registry:<operation>`. */
export type RegistryOperation = keyof typeof REGISTRY_OPERATIONS;

/** Facts of the request that policies may look at. */
export interface RequestContext {
  readonly sourceIp: string;
  readonly secure: boolean;
  readonly userAgent: string;
}

export interface AuthorizationRequest {
  readonly principal: RegistryPrincipal;
  /** Empty for `Ping` and `ListCatalog`, which name no repository. */
  readonly repository: string;
  readonly operation: RegistryOperation;
  readonly context: RequestContext;
}

/** A decision with its reason; `message` is what the caller is told when the profile's own text does not apply. */
export interface AccessDecision {
  readonly effect: "allow" | "deny";
  readonly reason: string;
  readonly decidedBy: string;
  /** For the event: expected and found, in a sentence. Never shown to the caller. */
  readonly because?: string;
  readonly message?: string;
  readonly resource?: string;
  readonly outcomes?: unknown;
}

/**
 * Asked on every request, before any content or the directory is looked at; must itself not depend on whether the
 * repository or its content exists in a way that the caller may not know.
 */
export interface Authorizer {
  authorize(request: AuthorizationRequest): AccessDecision;
}

export interface RepositoryRecord {
  readonly immutableTags: boolean;
}

/** Which repositories exist. Without `create`, a push to an unknown name is refused (no auto-create). */
export interface RepositoryDirectory {
  find(name: string): RepositoryRecord | undefined;
  create?(name: string): void;
  /** All names, for the catalog; without it the catalog lists the repositories that have content. */
  names?(): Iterable<string>;
}

/** A value that an implementation may have to fetch. */
export type Awaitable<T> = T | Promise<T>;

/** `<algorithm>:<encoded>`, already checked by `parseDigest`. */
export type Digest = string;

/** A manifest as stored: the exact bytes and the media type they were pushed with. */
export interface StoredManifest {
  readonly digest: Digest;
  readonly mediaType: string;
  readonly bytes: Buffer;
  /** Digest of the subject, if it refers to another manifest. */
  readonly subject?: Digest;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** What it refers to, by the media types it gives them. */
  readonly contents: readonly { readonly digest: Digest; readonly mediaType: string }[];
}
