// `pullproof env`: what clients of a running stack need in their environment.
import { type ClientOptions, createControlClient } from "../client.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

export interface EnvOptions extends ClientOptions {
  readonly format?: "sh" | "json";
  readonly json?: boolean;
}

/** Prints exports for `eval "$(pullproof env)"`, or JSON. @returns the exit code */
export async function runEnv(options: EnvOptions, cli: Cli): Promise<number> {
  const client = createControlClient(options, cli.environment);
  if (options.json || options.format === "json") cli.output.json(await client.request("GET", "env?format=json"));
  else cli.output.print((await client.text("env?format=sh")).trimEnd());
  return EXIT.ok;
}
