// `pullproof reset`: a running stack goes back to its world as loaded.
import { type ClientOptions, createControlClient } from "../client.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

export interface ResetOptions extends ClientOptions {
  readonly json?: boolean;
}

/** Drops pushes, records, clock and faults. @returns the exit code */
export async function runReset(options: ResetOptions, cli: Cli): Promise<number> {
  const client = createControlClient(options, cli.environment);
  const answer = await client.request("POST", "reset");
  if (options.json) cli.output.json(answer);
  else cli.output.print(`${client.endpoint} is back at its world as loaded`);
  return EXIT.ok;
}
