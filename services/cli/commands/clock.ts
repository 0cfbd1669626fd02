// `pullproof clock`: shows and moves the one clock of a running stack.
import { parseTextAnswer } from "../answers.ts";
import { type ClientOptions, createControlClient } from "../client.ts";
import { parseSeconds } from "../duration.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

export interface ClockOptions extends ClientOptions {
  readonly json?: boolean;
}

/** What may be done to the clock. */
export type ClockChange =
  | { readonly kind: "show" | "freeze" | "unfreeze" | "reset" }
  /** An instant in RFC 3339. */
  | { readonly kind: "set"; readonly instant: string }
  /** Seconds or a duration, also negative. */
  | { readonly kind: "advance"; readonly by: string };

/** Changes the clock, if asked to, and prints its state. @returns the exit code */
export async function runClock(change: ClockChange, options: ClockOptions, cli: Cli): Promise<number> {
  const client = createControlClient(options, cli.environment);
  const body = renderChange(change);
  const state = body ? await client.request("PUT", "clock", body) : await client.request("GET", "clock");
  if (options.json) {
    cli.output.json(state);
    return EXIT.ok;
  }
  const { frozen, offsetSeconds } = { frozen: false, offsetSeconds: 0, ...(state as object) };
  const offset = offsetSeconds === 0 ? "the system's time" : `${offsetSeconds > 0 ? "+" : ""}${offsetSeconds} s`;
  cli.output.print(`${parseTextAnswer(state, "now")}  ${frozen ? "frozen" : "running"}  ${offset}`);
  return EXIT.ok;
}

function renderChange(change: ClockChange): Readonly<Record<string, unknown>> | undefined {
  switch (change.kind) {
    case "show":
      return undefined;
    case "set":
      return { now: change.instant };
    case "advance":
      return { advanceSeconds: parseSeconds(change.by, "clock advance", true) };
    case "reset":
      return { now: "system" };
    default:
      return { frozen: change.kind === "freeze" };
  }
}
