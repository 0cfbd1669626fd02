// Keys of the credential cache and of the single flight, and other digests, byte for byte (kubelet.md 1.7, 2.6, 3.4, 6.2).
import { sha256 } from "./sha256.ts";

/** What the ServiceAccount part of a cache key is made of. */
export interface ServiceAccountKey {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Only with cacheType `Token`. */
  readonly tokenHash?: string | undefined;
}

/** `S(x)`: two bytes of length, then the bytes. */
function sized(part: string | Buffer): Buffer {
  const bytes = typeof part === "string" ? Buffer.from(part, "utf8") : part;
  if (bytes.length > 0xffff) throw new RangeError(`cache key part of ${bytes.length} bytes is longer than 65535`);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function annotationBytes(annotations: Readonly<Record<string, string>>): Buffer {
  const keys = Object.keys(annotations).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const count = Buffer.alloc(4);
  count.writeUInt32BE(keys.length);
  return Buffer.concat([count, ...keys.flatMap((key) => [sized(key), sized(annotations[key] ?? "")])]);
}

/** The ServiceAccount part of a cache key; empty outside ServiceAccount mode. */
export function renderServiceAccountKey(account: ServiceAccountKey | undefined): Buffer {
  if (!account) return Buffer.alloc(0);
  const parts = [
    sized(account.namespace),
    sized(account.name),
    sized(account.uid),
    annotationBytes(account.annotations),
  ];
  if (account.tokenHash !== undefined) parts.push(sized("token"), sized(account.tokenHash));
  return Buffer.concat(parts);
}

/** Hex of `S(base) S(saKey)`; `base` is the image, its registry or the global constant. */
export function renderCacheKey(base: string, account: ServiceAccountKey | undefined): string {
  return Buffer.concat([sized(base), sized(renderServiceAccountKey(account))]).toString("hex");
}

/** What concurrent plugin runs collapse on (2.5): the image, in ServiceAccount mode with token hash and annotations. */
export function renderFlightKey(
  image: string,
  account?: { tokenHash: string; annotations: Readonly<Record<string, string>> },
): string {
  if (!account) return image;
  return Buffer.concat([sized(image), sized(account.tokenHash), annotationBytes(account.annotations)]).toString("hex");
}

/** `sha256:<hex>` of a token; empty for none. */
export function hashToken(token: string): string {
  return token === "" ? "" : `sha256:${sha256(token)}`;
}
