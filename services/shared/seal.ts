// Sealed, self-contained credentials: authenticated encryption of a JSON value under the stack's one key,
// so that any replica that has the key can judge any credential and no session table is needed.
import { createCipheriv, createDecipheriv, createHash, createSecretKey } from "node:crypto";
import type { Random } from "./random.ts";

/** Seals values into opaque text and opens them again. */
export interface Sealer {
  /** Base64 (standard alphabet, no `:`, no blanks) starting with `prefix`, bound to `purpose`. */
  seal(purpose: string, value: unknown): string;
  /** The value, or undefined for anything this key and purpose did not seal (also for one flipped bit). */
  open(purpose: string, text: string): unknown;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealer with AES-256-GCM; `key` may be any text or bytes and is hashed to 32 bytes. */
export function createSealer(key: string | Buffer, random: Random): Sealer {
  const secret = createSecretKey(createHash("sha256").update("pullproof-seal").update(key).digest());
  return {
    seal(purpose, value) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", secret, nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    },
    open(purpose, text) {
      const bytes = Buffer.from(text, "base64");
      // Node's decoder is lenient; only the one canonical spelling is a credential of ours.
      if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString("base64") !== text) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        const body = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
        return JSON.parse(body.toString("utf8"));
      } catch {
        return undefined; // the tag does not fit: not sealed by us, which is an answer and no error
      }
    },
  };
}
