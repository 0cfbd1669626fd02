// The exports of `GET env?format=sh`.
import type { ClientEnvironment } from "./types.ts";

/** One `export NAME='value'` line each, safe to `eval` in a POSIX shell. */
export function renderShellExports(environment: ClientEnvironment): string {
  return Object.entries(environment)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`)
    .join("");
}
