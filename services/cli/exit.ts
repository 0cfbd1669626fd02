// How a command ends: its exit code, and errors as people can use them.
import { ConfigurationError } from "../shared/errors.ts";
import type { Output } from "./output.ts";

/** As expected · a verdict or check failed · usage or configuration (design 6). */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/**
 * Says what went wrong, without a stack trace unless `debug` asks for one.
 * @returns the exit code
 */
export function reportError(error: unknown, output: Output, debug: boolean): number {
  const message = error instanceof Error ? error.message : String(error);
  const known = error instanceof ConfigurationError;
  output.note(`${output.paint.red("error:")} ${known ? message : `internal error: ${message}`}`);
  if (known && error.hint) output.note(`${output.paint.dim("hint:")} ${error.hint}`);
  if (!known && !debug) output.note(`${output.paint.dim("hint:")} PULLPROOF_DEBUG=1 shows where it happened`);
  if (debug && error instanceof Error) output.note(String(error.stack));
  return EXIT.usage;
}
