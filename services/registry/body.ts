// Reading a small request body with a limit, such that the refusal still reaches the client.
import type { IncomingMessage } from "node:http";
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
