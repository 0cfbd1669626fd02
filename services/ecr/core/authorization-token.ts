// The registry password: base64 of a JSON document as real ones are, whose payload is a sealed blob (spec aws 4.2).
// Self-contained: who it stands for, where and until when is all inside (design 13.2).
import { createHash } from "node:crypto";
import type { AwsPrincipal } from "../../shared/aws/principal.ts";
import type { Sealer } from "../../shared/seal.ts";
import { UNVERIFIED_LIMITS } from "./unverified.ts";

/** What a password says. Instants in seconds since the epoch. */
export interface PasswordClaims {
  readonly principal: AwsPrincipal;
  /** Good for every registry of this region that the principal can reach, not for one registry. */
  readonly region: string;
  /** The chain this credential continues. */
  readonly lineage: string;
  readonly id: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

interface SealedClaims extends PasswordClaims {
  /** Ties the visible data key to the payload: no bit of a password can be changed. */
  readonly dataKeyDigest: string;
}

const PURPOSE = "ecr-password";
const DATA_KEY_BYTES = 184;

/**
 * @param createDataKey random bytes; real passwords carry an encrypted key, ours is filler that reaches the full length
 * @returns base64 without `:` or blanks, at least 1 KB
 */
export function sealPassword(
  sealer: Sealer,
  claims: PasswordClaims,
  createDataKey: (length: number) => Buffer,
): string {
  const estimate = JSON.stringify(claims).length * 1.3;
  const missing = Math.ceil(UNVERIFIED_LIMITS.passwordBytes * 0.75 - estimate);
  const dataKey = createDataKey(Math.max(DATA_KEY_BYTES, missing)).toString("base64");
  const sealed: SealedClaims = { ...claims, dataKeyDigest: digest(dataKey) };
  return renderPassword(sealer.seal(PURPOSE, sealed), dataKey, claims.expiresAt);
}

/** What a password says, whether or not it has expired; undefined for anything that was not sealed as one. */
export function openPassword(sealer: Sealer, password: string): PasswordClaims | undefined {
  const document = parseDocument(password);
  if (!document) return undefined;
  // The seal is authenticated, so what opens is what sealPassword was given.
  const claims = sealer.open(PURPOSE, document.payload) as SealedClaims | undefined;
  if (claims?.dataKeyDigest !== digest(document.datakey)) return undefined;
  return renderPassword(document.payload, document.datakey, claims.expiresAt) === password ? claims : undefined;
}

function renderPassword(payload: string, datakey: string, expiration: number): string {
  const document = { payload, datakey, version: "2", type: "DATA_KEY", expiration };
  return Buffer.from(JSON.stringify(document)).toString("base64");
}

function parseDocument(password: string): { payload: string; datakey: string } | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(password, "base64").toString("utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { payload, datakey } = value as Record<string, unknown>;
    return typeof payload === "string" && typeof datakey === "string" ? { payload, datakey } : undefined;
  } catch {
    return undefined; // no JSON: not a password of ours, which is an answer and no error
  }
}

function digest(dataKey: string): string {
  return createHash("sha256").update(dataKey).digest("base64").slice(0, 22);
}
