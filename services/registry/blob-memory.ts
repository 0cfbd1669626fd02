// Bytes in memory: blobs as lists of chunks, served as slices without copying, and the list an upload grows.
import type { BlobContent } from "./store.ts";
import type { Digest } from "./types.ts";

/** Pieces of at least this size are kept as they came from the socket; smaller ones are joined up to it. */
const CHUNK_BYTES = 32 * 1024;

/** A blob over chunks that are never changed. The same memory may occur several times. */
export class MemoryBlob implements BlobContent {
  readonly digest: Digest;
  readonly size: number;
  readonly #chunks: readonly Buffer[];

  constructor(digest: Digest, chunks: readonly Buffer[]) {
    this.digest = digest;
    this.#chunks = chunks;
    this.size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  *read(start: number, end: number): Generator<Buffer, void> {
    let offset = 0;
    for (const chunk of this.#chunks) {
      if (offset >= end) return;
      const next = offset + chunk.length;
      if (next > start) yield chunk.subarray(Math.max(0, start - offset), end - offset);
      offset = next;
    }
  }
}

/** The chunks of an upload: grows at the end, can be cut back to an earlier size. */
export class ChunkList {
  #chunks: Buffer[] = [];
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  append(chunk: Buffer): void {
    this.#size += chunk.length;
    if (chunk.length >= CHUNK_BYTES) {
      this.#join();
      this.#chunks.push(chunk);
      return;
    }
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes >= CHUNK_BYTES) this.#join();
  }

  truncate(size: number): void {
    this.#join();
    while (this.#size > size) {
      const last = this.#chunks.pop();
      if (!last) return;
      const excess = this.#size - size;
      if (last.length > excess) this.#chunks.push(last.subarray(0, last.length - excess));
      this.#size -= Math.min(excess, last.length);
    }
  }

  chunks(): readonly Buffer[] {
    this.#join();
    return this.#chunks;
  }

  #join(): void {
    if (this.#pendingBytes === 0) return;
    this.#chunks.push(Buffer.concat(this.#pending, this.#pendingBytes));
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}
