// `pullproof up`: a stack in this process until it is told to stop.
import { monotonicMs } from "../../shared/clock.ts";
import { ConfigurationError } from "../../shared/errors.ts";
import type { createStack } from "../../stack/index.ts";
import { createControlClient } from "../client.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

export interface UpOptions {
  readonly port?: string;
  readonly host?: string;
  readonly world?: string;
  readonly dataDir?: string;
  readonly controlKey?: string;
  /** Names of switches to turn on, or `name=false`. */
  readonly switch?: readonly string[];
  readonly json?: boolean;
}

type Stack = Awaited<ReturnType<typeof createStack>>;

const DEFAULT_PORT = "4566";
const DEFAULT_HOST = "127.0.0.1";

/** Starts the stack, says where it is, and waits for SIGTERM or SIGINT. @returns the exit code */
export async function runUp(options: UpOptions, cli: Cli): Promise<number> {
  const { environment, output } = cli;
  const host = options.host ?? environment.PULLPROOF_HOST ?? DEFAULT_HOST;
  const port = parsePort(options.port ?? environment.PULLPROOF_PORT ?? DEFAULT_PORT);
  const world = options.world ?? environment.PULLPROOF_WORLD;
  const dataDir = options.dataDir ?? environment.PULLPROOF_DATA_DIR;
  const controlKey = options.controlKey ?? environment.PULLPROOF_CONTROL_KEY;
  const stopped = cli.untilStopped();
  const stack = await start({
    host,
    port,
    ...(world ? { world } : {}),
    ...(dataDir ? { dataDir } : {}),
    ...(controlKey ? { controlKey } : {}),
    ...(options.switch ? { switches: parseSwitches(options.switch) } : {}),
  });
  try {
    // monotonicMs counts from the start of the process: what the user waited for.
    const startMs = Math.round(monotonicMs());
    if (options.json) output.json(renderReady(stack, startMs));
    else await printReady(stack, startMs, cli);
    await stopped;
    output.note("stopping …");
  } finally {
    await stack.close();
  }
  return EXIT.ok;
}

type StackOptions = NonNullable<Parameters<typeof createStack>[0]>;

async function start(options: StackOptions & { host: string; port: number }): Promise<Stack> {
  const { createStack } = await import("../../stack/index.ts");
  try {
    return await createStack(options);
  } catch (error) {
    throw renderListenError(error, options);
  }
}

const LISTEN_CAUSES: Readonly<Record<string, (at: { host: string; port: number }) => [why: string, cure: string]>> = {
  EADDRINUSE: ({ host, port }) => [
    `port ${port} on ${host} is in use`,
    "stop what listens there, or choose another port with --port or PULLPROOF_PORT (0 takes a free one)",
  ],
  EACCES: ({ port }) => [`port ${port} may not be opened by this user`, "choose a port above 1023 with --port"],
  EADDRNOTAVAIL: ({ host }) => [`${host} is no address of this machine`, "choose one with --host, such as 127.0.0.1"],
  ENOTFOUND: ({ host }) => [`the host ${host} is unknown`, "choose one with --host, such as 127.0.0.1"],
};

function renderListenError(error: unknown, at: { host: string; port: number }): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const [why, hint] = LISTEN_CAUSES[code]?.(at) ?? [];
  return why === undefined || hint === undefined ? error : new ConfigurationError(why, { cause: error, hint });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigurationError(`expected the port as a number from 0 to 65535, found "${text}"`);
}

function parseSwitches(names: readonly string[]): Record<string, boolean> {
  return Object.fromEntries(
    names.map((text) => {
      const match = /^(\w+)(?:=(true|false))?$/.exec(text);
      if (!match) throw new ConfigurationError(`--switch: expected NAME or NAME=false, found "${text}"`);
      return [match[1] ?? "", match[2] !== "false"];
    }),
  );
}

/** The one line of `--json` (design 11). */
function renderReady(stack: Stack, startMs: number) {
  const { http, https, ca, control, dataDir, issuers, registries } = stack;
  return { ready: true, http, https, ca, control, dataDir, startMs, issuers, registries };
}

async function printReady(stack: Stack, startMs: number, { output, environment }: Cli): Promise<void> {
  const { paint } = output;
  const line = (name: string, value: string) => output.print(`  ${paint.dim(name.padEnd(10))}${value}`);
  output.print(`${paint.bold("pullproof")} is ready after ${startMs} ms`);
  for (const name of ["http", "https", "control", "ca", "dataDir"] as const) line(name, stack[name]);
  for (const [name, url] of Object.entries(stack.issuers)) line("issuer", `${name}  ${url}`);
  for (const [name, host] of Object.entries(stack.registries)) line("registry", `${name}  ${host}`);
  output.print(
    `\n${(await createControlClient({ endpoint: stack.http }, environment).text("env?format=sh")).trimEnd()}`,
  );
  output.print(`\n${paint.dim("stop it with Ctrl-C")}`);
}
