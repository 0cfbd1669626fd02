// `pullproof demo`: the isolation story, run for real against a stack in this process or a running one.
import { accessSync, constants } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigurationError } from "../../shared/errors.ts";
import { createUuid, systemRandom } from "../../shared/random.ts";
import { type Backstage, createBackstage } from "../demo/backstage.ts";
import { ROWS } from "../demo/rows.ts";
import { runRows, type Stages } from "../demo/run.ts";
import type { DemoResult, Row } from "../demo/types.ts";
import { EXIT } from "../exit.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../types.ts";

export interface DemoOptions {
  /** Row ids; all unless given. */
  readonly only?: readonly string[];
  readonly list?: boolean;
  readonly json?: boolean;
  /** World file of the in-process stack. */
  readonly world?: string;
  /** A running stack instead of one in this process. */
  readonly endpoint?: string;
  readonly controlKey?: string;
  /** Lets rows rotate keys and move the clock of a running stack; it is reset afterwards. */
  readonly disruptive?: boolean;
  /** A directory with another `ecr-credential-provider`. */
  readonly pluginDirectory?: string;
  /** `XDG_CACHE_HOME`. */
  readonly cacheHome?: string;
}

/** What a stage needs of a stack. */
export interface DemoStack {
  readonly http: string;
  readonly controlKey: string;
  close(): Promise<void>;
}

/** Starts a stack for the demo; tests hand in broken ones. */
export type StartDemoStack = (options: { world?: string; cacheHome?: string }) => Promise<DemoStack>;

/**
 * Runs the demo and prints it.
 * @returns the exit code: 0 as expected, 1 a verdict differs
 * @throws ConfigurationError for unknown row ids or a world that does not start
 */
export async function runDemo(options: DemoOptions, { output }: Pick<Cli, "output">): Promise<number> {
  const rows = selectRows(options.only);
  if (options.list) {
    listRows(rows, options, output);
    return EXIT.ok;
  }
  const { pluginDirectory } = options;
  const settled =
    pluginDirectory === undefined ? options : { ...options, pluginDirectory: findPlugin(pluginDirectory) };
  const result = await output.progress(`running ${rows.length} rows`, playDemo(rows, settled));
  if (options.json) output.json(result);
  else {
    const { renderDemo } = await import("../demo/render.ts");
    output.print(renderDemo(result, { palette: output.paint, width: process.stdout.columns ?? DEFAULT_WIDTH }));
  }
  return result.ok ? EXIT.ok : EXIT.failed;
}

/**
 * The folder's absolute path: nodes run plugins in folders of their own.
 * @throws ConfigurationError if the plugin that the nodes name is not in it
 */
function findPlugin(folder: string): string {
  const path = resolve(folder);
  const plugin = join(path, PLUGIN_NAME);
  try {
    accessSync(plugin, constants.X_OK);
  } catch (cause) {
    const hint = `put the plugin there under this name and make it executable (chmod +x); --plugin names its folder`;
    throw new ConfigurationError(`expected an executable ${plugin}, found none`, { cause, hint });
  }
  return path;
}

/** What the nodes of a world call their plugin. */
const PLUGIN_NAME = "ecr-credential-provider";

/** Of the table where nobody says how wide it may be. */
const DEFAULT_WIDTH = 140;

function listRows(rows: readonly Row[], { json }: DemoOptions, output: Output): void {
  if (json)
    output.json({ rows: rows.map(({ id, title, expected }) => ({ id, title, expected: expected.join(", ") })) });
  else for (const { id, title } of rows) output.print(`${id.padEnd(32)}${title}`);
}

/** The demo without output: the value behind `--json`. */
export async function playDemo(
  rows: readonly Row[],
  options: DemoOptions & { start?: StartDemoStack },
): Promise<DemoResult> {
  const { stages, close } = await openStages(options);
  try {
    return await runRows({ rows, stages });
  } finally {
    await close();
  }
}

/** @throws ConfigurationError naming the ids that do not exist */
export function selectRows(only: readonly string[] | undefined): readonly Row[] {
  if (!only || only.length === 0) return ROWS;
  const unknown = only.filter((id) => !ROWS.some((row) => row.id === id));
  if (unknown.length > 0) {
    throw new ConfigurationError(`no such row: ${unknown.join(", ")}`, {
      hint: "pullproof demo --list names them all",
    });
  }
  return ROWS.filter((row) => only.includes(row.id));
}

const startInProcess: StartDemoStack = async (options) => {
  const { startStack } = await import("../../testing/index.ts");
  return startStack(options);
};

async function openStages(
  options: DemoOptions & { start?: StartDemoStack },
): Promise<{ stages: Stages; close(): Promise<void> }> {
  const suffix = createUuid(systemRandom).slice(0, 4);
  const enter = (endpoint: string, controlKey: string): Backstage => {
    const plugins = options.pluginDirectory === undefined ? {} : { pluginDirectory: options.pluginDirectory };
    return createBackstage({ endpoint, controlKey, suffix, ...plugins });
  };
  if (options.endpoint !== undefined) {
    const shared = enter(options.endpoint, options.controlKey ?? "");
    const visit = async () => ({ stage: shared, close: async () => void (await shared.control("POST", "reset", {})) });
    const open = () => (options.disruptive ? visit() : undefined);
    return { stages: { shared, open, sequential: true }, close: async () => shared.close() };
  }
  const { world, cacheHome } = options;
  const settings = { ...(world === undefined ? {} : { world }), ...(cacheHome === undefined ? {} : { cacheHome }) };
  const start = () => (options.start ?? startInProcess)(settings);
  const stack = await start();
  const shared = enter(stack.http, stack.controlKey);
  const open = async () => {
    const own = await start();
    const stage = enter(own.http, own.controlKey);
    return { stage, close: () => closeBoth(stage, own) };
  };
  return { stages: { shared, open, sequential: false }, close: () => closeBoth(shared, stack) };
}

async function closeBoth(stage: Backstage, stack: DemoStack): Promise<void> {
  stage.close();
  await stack.close();
}
