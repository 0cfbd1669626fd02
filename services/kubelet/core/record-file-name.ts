// Names of intent and record files (kubelet.md 6.2).
import { sha256 } from "./sha256.ts";

/** `sha256-<hex>`: the key is an intent's spec string or a record's imageRef. */
export function renderRecordFileName(key: string): string {
  return `sha256-${sha256(key)}`;
}

/** Is this a file that counts, not a half-written or foreign one? */
export function isRecordFileName(name: string): boolean {
  return name.startsWith("sha256-") && !name.endsWith(".tmp");
}
