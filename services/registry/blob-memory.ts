// Bytes in memory: blobs as lists of chunks, served as slices without copying, and the list an upload grows.
import { Readable } from "node:stream";
import type { BlobContent } from "./store.ts";
import type { Digest } from "./types.ts";

/** Socket-sized pieces are joined up to this size: one copy on the way in, few large writes on the way out. */
const CHUNK_BYTES = 512 * 1024;

/** A blob over chunks that are never changed. The same Buffer may occur several times. */
export class MemoryBlob implements BlobContent {
  readonly digest: Digest;
  readonly size: number;
  readonly whole: Buffer | undefined;
  readonly #chunks: readonly Buffer[];

  constructor(digest: Digest, chunks: readonly Buffer[]) {
    this.digest = digest;
    this.#chunks = chunks;
    this.size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    this.whole = chunks.length > 1 ? undefined : (chunks[0] ?? Buffer.alloc(0));
  }

  open(start: number, end: number): Readable {
    return new ChunkReader(this.#chunks, start, end);
  }
}

/** Streams a byte range of a chunk list. */
class ChunkReader extends Readable {
  readonly #chunks: readonly Buffer[];
  #index = 0;
  #offset: number;
  #left: number;

  constructor(chunks: readonly Buffer[], start: number, end: number) {
    super({ highWaterMark: CHUNK_BYTES * 2 });
    this.#chunks = chunks;
    this.#left = end - start;
    let skip = start;
    for (let size = chunks[0]?.length ?? 0; skip >= size && this.#index < chunks.length; ) {
      skip -= size;
      size = chunks[++this.#index]?.length ?? 0;
    }
    this.#offset = skip;
  }

  override _read(): void {
    for (let more = true; more && this.#left > 0; ) {
      const chunk = this.#chunks[this.#index++];
      if (!chunk) break;
      const part = chunk.subarray(this.#offset, this.#offset + this.#left);
      this.#offset = 0;
      this.#left -= part.length;
      more = this.push(part);
    }
    if (this.#left === 0) this.push(null);
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
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    this.#size += chunk.length;
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
