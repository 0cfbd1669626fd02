// Nothing secret reaches a log or an event: a short fingerprint does.
import { createHash } from "node:crypto";

/** A stable short name for a secret: eight hex digits of its SHA-256. */
export function fingerprint(secret: string): string {
  return `sha256:${createHash("sha256").update(secret).digest("hex").slice(0, 8)}`;
}

/** Replaces JWTs, sealed blobs and Basic credentials inside a text that others wrote (a plugin's stderr, say). */
export function redact(text: string): string {
  return text
    .replace(/eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, (token) => `<token ${fingerprint(token)}>`)
    .replace(/\b(Basic|Bearer)\s+[\w+/=._-]{8,}/gi, (match, scheme) => `${scheme} <${fingerprint(match)}>`)
    .replace(/[\w+/-]{120,}={0,2}/g, (blob) => `<secret ${fingerprint(blob)}>`);
}
