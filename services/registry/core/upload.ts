// What a request may append to an upload session (spec registry 1.6).
import { RegistryError } from "../errors.ts";

/** What the client says it sends. */
export interface ChunkClaim {
  readonly contentRange: string | undefined;
  /** `Content-Length`, if given. */
  readonly contentLength: number | undefined;
}

const CONTENT_RANGE = /^(\d{1,15})-(\d{1,15})$/;

/**
 * Checks a chunk's claim against the session's offset, in the order of the specification.
 * @returns the exact number of bytes the body must have, or undefined for a stream of any length
 * @throws RegistryError upload-invalid, upload-out-of-order, size-invalid
 */
export function checkChunk(claim: ChunkClaim, offset: number): number | undefined {
  if (claim.contentRange === undefined) return undefined;
  const match = CONTENT_RANGE.exec(claim.contentRange);
  const start = Number(match?.[1]);
  const end = Number(match?.[2]);
  if (!match || start > end) {
    const found = JSON.stringify(claim.contentRange);
    throw new RegistryError("upload-invalid", `expected Content-Range <first>-<last>, found ${found}`);
  }
  if (start !== offset) {
    throw new RegistryError("upload-out-of-order", `expected a chunk starting at ${offset}, found ${start}`);
  }
  const length = end - start + 1;
  if (claim.contentLength !== undefined && claim.contentLength !== length) {
    throw wrongSize(length, claim.contentLength);
  }
  return length;
}

/** The refusal for a body whose length is not the declared one. */
export function wrongSize(expected: number, found: number): RegistryError {
  return new RegistryError("size-invalid", `expected a body of ${expected} bytes, found ${found}`);
}

/** `Range` as upload answers write it: no unit, last byte included, and `0-0` for nothing yet. */
export function renderProgress(size: number): string {
  return `0-${Math.max(0, size - 1)}`;
}
