// `pullproof up`: a stack in this process until it is told to stop.
import { statSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs } from "../../shared/clock.ts";
import { ConfigurationError } from "../../shared/errors.ts";
import type { createStack, WorldSwitches } from "../../stack/index.ts";
import { createControlClient } from "../client.ts";
import { renderEventLine } from "../event-lines.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

export interface UpOptions {
  readonly port?: string;
  readonly host?: string;
  readonly world?: string;
  readonly dataDir?: string;
  readonly controlKey?: string;
  /** Numbers, separated by commas. */
  readonly morePorts?: string;
  /** Names, separated by commas. */
  readonly hosts?: string;
  /** Folder of manifests and scripts that run before the stack says that it is ready. */
  readonly init?: string;
  /** Names of switches to turn on, or `name=false`. */
  readonly switch?: readonly string[];
  /** Writes every event to stderr as it happens. */
  readonly log?: boolean;
  readonly json?: boolean;
}

type Stack = Awaited<ReturnType<typeof createStack>>;
type StackSettings = NonNullable<Parameters<typeof createStack>[0]>;

const DEFAULT_PORT = "4566";
const DEFAULT_HOST = "127.0.0.1";

/** Starts the stack, says where it is, and waits for SIGTERM or SIGINT. @returns the exit code */
export async function runUp(options: UpOptions, cli: Cli): Promise<number> {
  const { output } = cli;
  const settings = readSettings(options, cli);
  const stopped = cli.untilStopped();
  const { createStack } = await import("../../stack/index.ts");
  const stack = await createStack(settings);
  try {
    // monotonicMs counts from the start of the process: what the user waited for.
    const startMs = Math.round(monotonicMs());
    await stack.caPem(); // made lazily; who reads the path below expects the file
    if (options.json) output.json(renderReady(stack, startMs));
    else await printReady(stack, startMs, cli);
    if (options.log) logEvents(stack, options, cli);
    await stopped;
    output.note("stopping …");
  } finally {
    await stack.close();
  }
  return EXIT.ok;
}

/** Options, each with its variable behind it; an empty variable counts as unset. */
function readSettings(options: UpOptions, cli: Cli): StackSettings {
  const { environment } = cli;
  const world = options.world ?? (environment.PULLPROOF_WORLD || inConfigFolder("pullproof.yaml", cli));
  const dataDir = options.dataDir ?? environment.PULLPROOF_DATA_DIR;
  const controlKey = options.controlKey ?? environment.PULLPROOF_CONTROL_KEY;
  const hosts = parseList(options.hosts ?? environment.PULLPROOF_HOSTS);
  const morePorts = parseList(options.morePorts ?? environment.PULLPROOF_MORE_PORTS).map(parsePort);
  const switches = options.switch ?? parseList(environment.PULLPROOF_SWITCHES);
  const init = options.init ?? (environment.PULLPROOF_INIT || inConfigFolder("init", cli));
  return {
    host: options.host ?? (environment.PULLPROOF_HOST || DEFAULT_HOST),
    port: parsePort(options.port ?? (environment.PULLPROOF_PORT || DEFAULT_PORT)),
    ...(world ? { world } : {}),
    ...(dataDir ? { dataDir } : {}),
    ...(controlKey ? { controlKey } : {}),
    ...(hosts.length > 0 ? { hosts } : {}),
    ...(morePorts.length > 0 ? { morePorts } : {}),
    ...(environment.XDG_CACHE_HOME ? { cacheHome: environment.XDG_CACHE_HOME } : {}),
    ...(switches.length > 0 ? { switches: parseSwitches(switches) } : {}),
    ...(init ? { prepare: async (stack) => (await import("../init.ts")).runInitFolder(init, { stack, cli }) } : {}),
  };
}

/** What PULLPROOF_CONFIG (a container's /etc/pullproof) holds is used; what has a variable of its own must exist. */
function inConfigFolder(name: string, { environment }: Cli): string | undefined {
  const folder = environment.PULLPROOF_CONFIG;
  if (!folder) return undefined;
  try {
    statSync(join(folder, name));
  } catch (error) {
    // Missing is fine; what is there and cannot be read is not: whoever reads it says so.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  }
  return join(folder, name);
}

function parseList(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,]+/).filter(Boolean);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigurationError(`expected the port as a number from 0 to 65535, found "${text}"`);
}

/** Every switch of a world; the type keeps the table complete. */
const SWITCHES: Readonly<Record<keyof WorldSwitches, true>> = {
  httpIssuers: true,
  autoCreateRepositories: true,
  verifyThumbprints: true,
  blobRedirect: true,
  ecrQuirks: true,
  shortTokens: true,
  outsideNetwork: true,
};

function parseSwitches(texts: readonly string[]): Record<string, boolean> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name = "", value = "true"] = /^(\w+)(?:=(true|false))?$/.exec(text) ?? [];
      if (!Object.hasOwn(SWITCHES, name)) {
        const expected = `NAME or NAME=false with one of ${Object.keys(SWITCHES).join(", ")}`;
        throw new ConfigurationError(`--switch: expected ${expected}, found "${text}"`);
      }
      return [name, value === "true"];
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
  const client = createControlClient({ endpoint: stack.http, controlKey: stack.controlKey }, environment);
  output.print(`\n${(await client.text("env?format=sh")).trimEnd()}`);
  output.print(`\n${paint.dim("stop it with Ctrl-C")}`);
}

function logEvents({ events }: Stack, { json }: UpOptions, { output }: Cli): void {
  let since = events.page({}).next;
  events.follow(() => {
    const page = events.page({ since });
    since = page.next;
    for (const event of page.events) output.note(json ? JSON.stringify(event) : renderEventLine(event, output.paint));
  });
}
