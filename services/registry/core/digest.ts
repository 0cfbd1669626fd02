// Digests: grammar, the registered algorithms, and computing them (image-spec v1.1.1, descriptor.md, "Digests").
import { createHash, hash } from "node:crypto";
import type { Digest } from "../types.ts";

const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** The algorithms we know; blake3 and others count as unknown. */
export const DIGEST_ALGORITHMS = ["sha256", "sha512"] as const;
export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];

/** The algorithm of a well-formed digest with a known algorithm; undefined for anything else. */
export function parseDigest(text: string): DigestAlgorithm | undefined {
  if (!DIGEST.test(text)) return undefined;
  return text.startsWith("sha256") ? "sha256" : "sha512";
}

/** The digest of bytes that are already whole in memory. */
export function digestOf(bytes: Buffer, algorithm: DigestAlgorithm = "sha256"): Digest {
  return `${algorithm}:${hash(algorithm, bytes, "hex")}`;
}

/** The digest of bytes that lie in several pieces. */
export function digestOfChunks(chunks: Iterable<Buffer>, algorithm: DigestAlgorithm): Digest {
  const running = createHash(algorithm);
  for (const chunk of chunks) running.update(chunk);
  return `${algorithm}:${running.digest("hex")}`;
}
