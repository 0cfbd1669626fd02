// Which published keys can be used, and whether one of them made a token's signature (spec aws 2.3, row 9).
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { UnverifiedToken } from "./token.ts";

/** The algorithms IAM accepts for OIDC tokens; everything else (`none`, HS*, PS*, EdDSA) is refused. */
const ALGORITHMS: Readonly<
  Record<string, { readonly kty: "RSA" | "EC"; readonly hash: string; readonly crv?: string }>
> = {
  RS256: { kty: "RSA", hash: "sha256" },
  RS384: { kty: "RSA", hash: "sha384" },
  RS512: { kty: "RSA", hash: "sha512" },
  ES256: { kty: "EC", hash: "sha256", crv: "P-256" },
  ES384: { kty: "EC", hash: "sha384", crv: "P-384" },
  ES512: { kty: "EC", hash: "sha512", crv: "P-521" },
};

// RFC 7518 §3.3
const SMALLEST_RSA_BITS = 2048;

/** One key of a key set that signatures can be checked with. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly kty: "RSA" | "EC";
  readonly crv: string | undefined;
  /** What the JWK says it is for; a token's `alg` must agree. */
  readonly alg: string | undefined;
  readonly key: KeyObject;
}

/**
 * A verification key from one entry of a JWKS, by its public members only.
 * @returns undefined for entries that cannot verify a signature here: other types, encryption keys, RSA below 2048 bits
 */
export function parseVerificationKey(entry: unknown): VerificationKey | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { kty, kid, use, alg, crv, n, e, x, y } = entry as Record<string, unknown>;
  if (use !== undefined && use !== "sig") return undefined;
  const names = { kid: textOf(kid), alg: textOf(alg) };
  try {
    if (kty === "RSA" && typeof n === "string" && typeof e === "string") {
      const key = createPublicKey({ key: { kty, n, e }, format: "jwk" });
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      return bits >= SMALLEST_RSA_BITS ? { ...names, kty, crv: undefined, key } : undefined;
    }
    if (kty === "EC" && typeof crv === "string" && typeof x === "string" && typeof y === "string") {
      return { ...names, kty, crv, key: createPublicKey({ key: { kty, crv, x, y }, format: "jwk" }) };
    }
  } catch {
    return undefined; // a point off the curve or a broken number: the entry is not a usable key
  }
  return undefined;
}

/** True if the key's type, curve and declared algorithm agree with a token's `alg` header. */
export function isKeyFor(key: VerificationKey, alg: string): boolean {
  const rule = Object.hasOwn(ALGORITHMS, alg) ? ALGORITHMS[alg] : undefined;
  if (!rule || rule.kty !== key.kty || (key.alg !== undefined && key.alg !== alg)) return false;
  return rule.crv === undefined || rule.crv === key.crv;
}

/**
 * True if one of the keys fits the token's algorithm and made its signature. The keys come from the issuer's key set
 * alone: what the token's header offers (`jwk`, `jku`, `x5c`, `x5u`) is never looked at.
 */
export function verifyTokenSignature(token: UnverifiedToken, keys: readonly VerificationKey[]): boolean {
  const hash = Object.hasOwn(ALGORITHMS, token.alg) ? ALGORITHMS[token.alg]?.hash : undefined;
  if (hash === undefined) return false;
  const input = Buffer.from(token.signingInput, "ascii");
  return keys.some((key) => isKeyFor(key, token.alg) && isSignedBy(key, { hash, input, signature: token.signature }));
}

function isSignedBy(key: VerificationKey, signed: { hash: string; input: Buffer; signature: Buffer }): boolean {
  // RFC 7518 §3.4: an ECDSA signature is both numbers side by side. A bare key is the fast way for RSA.
  const using = key.kty === "EC" ? { key: key.key, dsaEncoding: "ieee-p1363" as const } : key.key;
  return verify(signed.hash, signed.input, using, signed.signature);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
