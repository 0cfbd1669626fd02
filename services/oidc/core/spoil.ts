// Makes the bad twin of a good token: everything stays but the one fact that `BAD_TOKENS` names.
import { createHmac } from "node:crypto";
import type { Claims } from "../types.ts";
import { SIGNING_ALGS } from "./algorithms.ts";
import type { BadTokenKind } from "./bad-tokens.ts";
import { encodeJson } from "./encode.ts";
import type { SigningKey } from "./jwks.ts";
import { appendSignature, parseToken, signToken } from "./sign.ts";

/** What a forger works with. */
export interface ForgeMaterial {
  readonly claims: Claims;
  /** The issuer's active key. */
  readonly key: SigningKey;
  /** A key of the same algorithm that is published nowhere; only set for {@link needsForeignKey} kinds. */
  readonly foreignKey?: SigningKey | undefined;
  readonly now: Date;
}

const HOUR = 3600;
const DAY = 86_400;
const HUGE_BYTES = 100 * 1024;

const FORGERIES: Readonly<Record<BadTokenKind, (material: ForgeMaterial) => string>> = {
  expired: (m) =>
    signToken(
      shiftLife(m, (_, exp, now) => now - HOUR - exp),
      m.key,
    ),
  "not-yet-valid": (m) =>
    signToken(
      shiftLife(m, (iat, _, now) => now + HOUR - iat),
      m.key,
    ),
  "too-old": (m) => signToken(renewed(m, { iat: secondsOf(m.now) - 2 * DAY, nbf: secondsOf(m.now) - 2 * DAY }), m.key),
  "wrong-key": (m) => signAs(m, { alg: m.key.alg, kid: m.key.kid }, foreignKeyOf(m)),
  "unknown-kid": (m) => signAs(m, { alg: m.key.alg, kid: `${m.key.kid.slice(0, -4)}nope` }, m.key),
  "wrong-issuer": (m) => signToken({ ...m.claims, iss: "https://oidc.unregistered.pullproof.test" }, m.key),
  "http-issuer": (m) => signToken({ ...m.claims, iss: String(m.claims.iss).replace(/^https:/, "http:") }, m.key),
  "wrong-audience": (m) => signToken({ ...m.claims, aud: ["wrong-audience.pullproof.test"] }, m.key),
  "wrong-azp": (m) => signToken({ ...m.claims, azp: "wrong-party.pullproof.test" }, m.key),
  "none-alg": (m) => `${encodeJson({ alg: "none", kid: m.key.kid })}.${encodeJson(m.claims)}.`,
  "hs256-public-key": signWithPublicKey,
  "wrong-alg": (m) =>
    signAs(m, { alg: SIGNING_ALGS[m.key.alg].kty === "RSA" ? "ES256" : "RS256", kid: m.key.kid }, m.key),
  "missing-iss": (m) => signToken(without(m.claims, "iss"), m.key),
  "missing-aud": (m) => signToken(without(m.claims, "aud"), m.key),
  "missing-sub": (m) => signToken(without(m.claims, "sub"), m.key),
  "missing-exp": (m) => signToken(without(m.claims, "exp"), m.key),
  "missing-iat": (m) => signToken(without(m.claims, "iat"), m.key),
  "altered-payload": (m) => {
    const altered = encodeJson({ ...m.claims, sub: "system:serviceaccount:kube-system:admin" });
    return `${m.key.header}.${altered}.${signatureOf(signToken(m.claims, m.key))}`;
  },
  "altered-signature": flipSignatureBit,
  "embedded-jwk": (m) => {
    const foreign = foreignKeyOf(m);
    return signAs(m, { alg: foreign.alg, jwk: { ...foreign.jwk, kid: m.key.kid }, kid: m.key.kid }, foreign);
  },
  "foreign-jku": (m) => {
    const jku = "https://oidc.unregistered.pullproof.test/keys";
    return signAs(m, { alg: m.key.alg, jku, kid: m.key.kid }, foreignKeyOf(m));
  },
  truncated: (m) => `${m.key.header}.${encodeJson(m.claims).slice(0, -20)}`,
  garbage: () => "this is not a token",
  "payload-not-json": (m) => appendSignature(`${m.key.header}.${Buffer.from("not json").toString("base64url")}`, m.key),
  huge: (m) => signToken({ ...m.claims, padding: "x".repeat(HUGE_BYTES) }, m.key),
};

const FOREIGN_KEY_KINDS: readonly BadTokenKind[] = ["wrong-key", "embedded-jwk", "foreign-jku"];

/** True if this kind is signed by a key that is not the issuer's. */
export function needsForeignKey(kind: BadTokenKind): boolean {
  return FOREIGN_KEY_KINDS.includes(kind);
}

/** A token with these claims that is bad in exactly this way. */
export function forgeToken(kind: BadTokenKind, material: ForgeMaterial): string {
  return FORGERIES[kind](material);
}

function signAs(material: ForgeMaterial, header: Record<string, unknown>, key: SigningKey): string {
  return appendSignature(`${encodeJson(header)}.${encodeJson(material.claims)}`, key);
}

function signWithPublicKey({ claims, key }: ForgeMaterial): string {
  const signingInput = `${encodeJson({ alg: "HS256", kid: key.kid })}.${encodeJson(claims)}`;
  const pem = key.publicKey.export({ type: "spki", format: "pem" });
  return `${signingInput}.${createHmac("sha256", pem).update(signingInput).digest("base64url")}`;
}

function flipSignatureBit({ claims, key }: ForgeMaterial): string {
  const token = signToken(claims, key);
  const signature = Buffer.from(signatureOf(token), "base64url");
  signature[0] = (signature[0] ?? 0) ^ 1;
  return `${token.slice(0, token.lastIndexOf("."))}.${signature.toString("base64url")}`;
}

function signatureOf(token: string): string {
  return parseToken(token)?.signature ?? "";
}

function foreignKeyOf(material: ForgeMaterial): SigningKey {
  if (!material.foreignKey) throw new Error("this kind of bad token needs a foreign key");
  return material.foreignKey;
}

// Moves issue and expiry together, so that the token stays consistent in itself.
function shiftLife(material: ForgeMaterial, by: (iat: number, exp: number, now: number) => number): Claims {
  const now = secondsOf(material.now);
  const exp = Number(material.claims.exp ?? now + HOUR);
  const iat = Number(material.claims.iat ?? exp - HOUR);
  const shift = by(iat, exp, now);
  return { ...material.claims, exp: exp + shift, iat: iat + shift, nbf: iat + shift };
}

// A token that is spoiled late may have expired in the meantime; "too old" must stay the only fault.
function renewed(material: ForgeMaterial, changes: Claims): Claims {
  const exp = Math.max(Number(material.claims.exp ?? 0), secondsOf(material.now) + HOUR);
  return { ...material.claims, exp, ...changes };
}

function without(claims: Claims, name: string): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
}

function secondsOf(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}
