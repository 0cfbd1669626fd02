// Bodies: reading a small one with a limit, and writing a large one.
import type { IncomingMessage, ServerResponse } from "node:http";
import { BodyTooLargeError, readBytes } from "../shared/http.ts";
import { RegistryError } from "./errors.ts";

/**
 * Reads a body of at most `limitBytes`.
 * @throws RegistryError manifest-too-large
 */
export async function readLimited(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  try {
    return await readBytes(request, limitBytes);
  } catch (cause) {
    if (!(cause instanceof BodyTooLargeError)) throw cause;
    throw new RegistryError("manifest-too-large", cause.message);
  }
}

/** So much is handed to the socket in one go. */
const BATCH_BYTES = 512 * 1024;

/**
 * Writes pieces as fast as the client takes them. Like `pipeline`, but pieces go out in batches (one system call for
 * many): they lie in memory in the sizes in which they came in.
 * @throws Error when the client goes away
 */
export async function writePieces(
  response: ServerResponse,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<void> {
  response.cork();
  let batch = 0;
  for await (const piece of pieces) {
    response.write(piece);
    batch += piece.length;
    if (batch < BATCH_BYTES) continue;
    batch = 0;
    response.uncork();
    if (response.destroyed) throw new Error("the client went away");
    if (response.writableNeedDrain) await drained(response);
    response.cork();
  }
  response.uncork();
}

/** Waited for after every batch of a pull: two plain listeners cost a quarter less of it than `once` with a signal. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      response.off("drain", settle).off("close", settle);
      if (response.destroyed) reject(new Error("the client went away"));
      else resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}
