// JWS compact serialisation (RFC 7515) with the issuer's algorithms: signing, taking apart, checking.
import { sign as signBytes, verify as verifyBytes } from "node:crypto";
import type { Claims, TokenHeader, Verification } from "../types.ts";
import { SIGNING_ALGS } from "./algorithms.ts";
import { decodeJson, encodeJson } from "./encode.ts";
import type { SigningKey } from "./jwks.ts";

/** A token taken apart, nothing verified. */
export interface TokenParts {
  readonly header: TokenHeader;
  readonly claims: Claims;
  readonly signingInput: string;
  /** Base64url, as found. */
  readonly signature: string;
}

/** The token for these claims. Synchronous on purpose: for one token, that is faster than a trip to the thread pool. */
export function signToken(claims: Claims, key: SigningKey): string {
  return appendSignature(`${key.header}.${encodeJson(claims)}`, key);
}

/** Signs `<header>.<payload>` as it stands with the key's own algorithm. */
export function appendSignature(signingInput: string, key: SigningKey): string {
  const { hash, curve } = SIGNING_ALGS[key.alg];
  // RFC 7518 §3.4: r and s side by side, not DER. A bare key is the fast way for RSA.
  const using = curve ? ({ key: key.privateKey, dsaEncoding: "ieee-p1363" } as const) : key.privateKey;
  return `${signingInput}.${signBytes(hash, Buffer.from(signingInput), using).toString("base64url")}`;
}

/** Header and claims of a token, or undefined if the text is no JWS with a JSON payload. */
export function parseToken(token: string): TokenParts | undefined {
  const [head, payload, signature, ...rest] = token.split(".");
  if (head === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined;
  const header = decodeJson(head);
  const claims = decodeJson(payload);
  return header && claims ? { header, claims, signingInput: `${head}.${payload}`, signature } : undefined;
}

/** Checks a token against published keys: key by `kid`, the key's own algorithm, then the signature. */
export function verifyToken(token: string, keys: readonly SigningKey[]): Verification {
  const parts = parseToken(token);
  if (!parts) return { ok: false, refusal: "malformed" };
  const key = keys.find((candidate) => candidate.kid === parts.header.kid);
  if (!key) return { ok: false, refusal: "unknown-kid" };
  if (parts.header.alg !== key.alg) return { ok: false, refusal: "wrong-algorithm" };
  const signature = Buffer.from(parts.signature, "base64url");
  // Node's decoder is lenient; only the canonical spelling counts, else one token would have many texts.
  const canonical = signature.toString("base64url") === parts.signature;
  const options = { key: key.publicKey, dsaEncoding: "ieee-p1363" } as const;
  const good =
    canonical && verifyBytes(SIGNING_ALGS[key.alg].hash, Buffer.from(parts.signingInput), options, signature);
  return good ? { ok: true, kid: key.kid, claims: parts.claims } : { ok: false, refusal: "wrong-signature" };
}
