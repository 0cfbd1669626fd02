// Blobs of seeds: bytes in chunks under their digest, and layers with one file each (image-spec v1.1.1, layer.md).
import type { Digest } from "../types.ts";
import { type DigestAlgorithm, digestOfChunks } from "./digest.ts";
import { type Architecture, createProgram, type Ending } from "./elf.ts";
import { createTar } from "./tar.ts";

/** Bytes of a seed under their digest. */
export interface SeedBlob {
  readonly digest: Digest;
  readonly size: number;
  readonly chunks: readonly Buffer[];
}

/** Bytes as a blob. */
export function createBlob(chunks: readonly Buffer[], algorithm: DigestAlgorithm = "sha256"): SeedBlob {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { digest: digestOfChunks(chunks, algorithm), size, chunks };
}

/** A value as a JSON blob. */
export function createJsonBlob(value: unknown, algorithm: DigestAlgorithm = "sha256"): SeedBlob {
  return createBlob([Buffer.from(JSON.stringify(value))], algorithm);
}

/** A layer with one program `/app`. */
export function createProgramLayer(
  architecture: Architecture,
  ending: Ending,
  options: { readonly text: string; readonly algorithm?: DigestAlgorithm },
): SeedBlob {
  const program = createProgram(architecture, ending, options.text);
  return createBlob(createTar([{ name: "app", mode: 0o755, chunks: [program] }]), options.algorithm);
}

/** A layer with one data file. */
export function createDataLayer(name: string, chunks: readonly Buffer[]): SeedBlob {
  return createBlob(createTar([{ name, mode: 0o644, chunks }]));
}
