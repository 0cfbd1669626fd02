// Bodies: reading a small one with a limit, such that the refusal still reaches the client, and writing a large one.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { RegistryError } from "./errors.ts";

/**
 * Reads a body of at most `limitBytes`. Beyond that it stops listening but leaves the connection alone, so that 413 can
 * be answered; whoever answers drains the rest.
 * @throws RegistryError manifest-too-large
 */
export function readLimited(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = new RegistryError(
    "manifest-too-large",
    `expected a body of at most ${limitBytes} bytes, found more`,
  );
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) return Promise.reject(tooLarge);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      else settle(() => reject(tooLarge));
    };
    const end = (): void => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const fail = (cause: Error): void => settle(() => reject(cause));
    const close = (): void => settle(() => reject(new Error("the client went away")));
    const settle = (outcome: () => void): void => {
      request.off("data", take).off("end", end).off("error", fail).off("close", close);
      outcome();
    };
    request.on("data", take).on("end", end).on("error", fail).on("close", close);
  });
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

async function drained(response: ServerResponse): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  try {
    await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    stop.abort();
  }
  if (response.destroyed) throw new Error("the client went away");
}
