// An upload session in memory: hashes while bytes arrive, one writer at a time, exact roll-back of a broken chunk.
import { createHash, type Hash } from "node:crypto";
import { type Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ChunkList } from "./blob-memory.ts";
import { type DigestAlgorithm, digestOfChunks } from "./core/digest.ts";
import type { Upload, UploadStart } from "./store.ts";
import type { Digest } from "./types.ts";

export class MemoryUpload implements Upload {
  readonly id: string;
  readonly repository: string;
  readonly #algorithm: DigestAlgorithm;
  readonly #list = new ChunkList();
  #hash: Hash;
  #queue: Promise<unknown> = Promise.resolve();
  lastActive: Date;
  firstChunkSize = 0;

  constructor(start: UploadStart) {
    this.id = start.id;
    this.repository = start.repository;
    this.lastActive = start.now;
    this.#algorithm = start.algorithm;
    this.#hash = createHash(start.algorithm);
  }

  get size(): number {
    return this.#list.size;
  }

  exclusively<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(task);
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async append(source: Readable, exactly: number | undefined): Promise<number> {
    const before = this.#list.size;
    const snapshot = exactly === undefined ? undefined : this.#hash.copy();
    let found = 0;
    try {
      await pipeline(
        source,
        this.#sink(exactly, (bytes) => {
          found += bytes;
        }),
      );
    } finally {
      if (snapshot && found !== exactly) {
        this.#list.truncate(before);
        this.#hash = snapshot;
      }
    }
    if (before === 0) this.firstChunkSize = this.#list.size;
    return found;
  }

  /** Takes everything, so that the client is heard to the end, but keeps no byte beyond `exactly`. */
  #sink(exactly: number | undefined, count: (bytes: number) => void): Writable {
    let room = exactly ?? Number.POSITIVE_INFINITY;
    return new Writable({
      highWaterMark: 1 << 20,
      write: (chunk: Buffer, _encoding, done) => {
        count(chunk.length);
        room -= chunk.length;
        if (room >= 0) {
          this.#hash.update(chunk);
          this.#list.append(chunk);
        }
        done();
      },
    });
  }

  digest(algorithm: DigestAlgorithm): Digest {
    if (algorithm !== this.#algorithm) return digestOfChunks(this.#list.chunks(), algorithm);
    return `${algorithm}:${this.#hash.copy().digest("hex")}`;
  }

  chunks(): readonly Buffer[] {
    return this.#list.chunks();
  }
}
