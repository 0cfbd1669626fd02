// The nouns of an issuer: keys, documents, claims, and the door that other rooms hold it by.

import type { SigningAlg } from "./core/algorithms.ts";
import type { BadTokenKind } from "./core/bad-tokens.ts";

/** The payload of a token; names as on the wire. */
export type Claims = Readonly<Record<string, unknown>>;

/** The protected header of a token. */
export type TokenHeader = Readonly<Record<string, unknown>>;

/** What is told about a signing key. */
export interface KeyInfo {
  readonly kid: string;
  readonly alg: SigningAlg;
  /** True for the one key that signs new tokens. */
  readonly active: boolean;
  readonly createdAt: Date;
}

/** A public key as published; members in the order in which Kubernetes writes them. */
export interface PublicJwk {
  readonly use: "sig";
  readonly kty: "RSA" | "EC";
  readonly kid: string;
  readonly crv?: string;
  readonly alg: SigningAlg;
  readonly n?: string;
  readonly e?: string;
  readonly x?: string;
  readonly y?: string;
}

/** OpenID Connect Discovery 1.0 §3, the members that Kubernetes issuers have. */
export interface DiscoveryDocument {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly authorization_endpoint?: string;
  readonly response_types_supported: readonly string[];
  readonly subject_types_supported: readonly string[];
  readonly claims_supported?: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly string[];
}

/** What an issuer publishes: all that a verifier ever sees of it. */
export interface PublishedIssuer {
  readonly url: string;
  jwks(): Promise<{ readonly keys: readonly unknown[] }>;
  discovery(jwksUri: string): DiscoveryDocument;
}

/** A token to be minted. What is left out is filled in by the issuer: `iss`, `iat`, `nbf`, `exp`, `jti`. */
export interface MintRequest {
  readonly subject?: string;
  readonly audiences?: readonly string[];
  /** Life of the token; 3600 unless told. */
  readonly expirationSeconds?: number;
  /** Further claims; they win over everything above and over what the issuer fills in. */
  readonly claims?: Claims;
  /** Break the token in this one way. */
  readonly bad?: BadTokenKind;
}

/** What a check of a token against this issuer's published keys found. Says nothing about time or audience. */
export type Verification =
  | { readonly ok: true; readonly kid: string; readonly claims: Claims }
  | { readonly ok: false; readonly refusal: "malformed" | "unknown-kid" | "wrong-algorithm" | "wrong-signature" };

/** One issuer: its keys, its documents and its signature. */
export interface Issuer {
  readonly name: string;
  /** The `iss` claim, exactly. */
  readonly url: string;
  /** The algorithm that signs now. */
  readonly alg: SigningAlg;
  /** Makes the keys that are still missing, on the thread pool. Everything below does so by itself. */
  prepare(): Promise<void>;
  /** All published keys, the active one first. */
  keys(): Promise<KeyInfo[]>;
  /** A new key signs from now on; with `keepOld: false` the old ones are withdrawn at once. */
  rotate(rotation: { readonly alg?: SigningAlg; readonly keepOld: boolean }): Promise<KeyInfo>;
  /** Takes a key out of the key set; false if there is none of that id. An active key is replaced by a new one. */
  withdraw(kid: string): Promise<boolean>;
  jwks(): Promise<{ keys: PublicJwk[] }>;
  discovery(jwksUri: string): DiscoveryDocument;
  /** Signs exactly these claims, serialised with sorted keys. */
  sign(claims: Claims): Promise<string>;
  /** A token, good or broken in one way, and the claims that it carries. */
  mint(request: MintRequest): Promise<{ token: string; claims: Claims }>;
  /**
   * The bad twin of a token of this issuer: same claims but for the one fact.
   * @throws OidcError `invalid_request` if the text is no JWT.
   */
  spoil(token: string, kind: BadTokenKind): Promise<string>;
  /** Checks algorithm and signature against the published keys. */
  verify(token: string): Promise<Verification>;
  /** Back to the first key. */
  reset(): void;
}
