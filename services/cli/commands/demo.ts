// `pullproof demo`: the isolation story, run for real against a stack in this process or a running one.
import { ConfigurationError } from "../../shared/errors.ts";
import { createUuid, systemRandom } from "../../shared/random.ts";
import { type Backstage, createBackstage } from "../demo/backstage.ts";
import { ROWS } from "../demo/rows.ts";
import { runRows, type Stages } from "../demo/run.ts";
import type { DemoResult, Row } from "../demo/types.ts";

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
export async function runDemo(options: DemoOptions): Promise<number> {
  const rows = selectRows(options.only);
  if (options.list) {
    const lines = rows.map(({ id, title, expected }) =>
      options.json ? { id, title, expected: expected.join(", ") } : `${id.padEnd(32)}${title}`,
    );
    process.stdout.write(options.json ? `${JSON.stringify({ rows: lines })}\n` : `${lines.join("\n")}\n`);
    return 0;
  }
  const progress = createProgress(rows.length, options.json === true);
  const result = await playDemo(rows, { ...options, onResult: progress.tick });
  progress.clear();
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(await renderForTerminal(result));
  return result.ok ? 0 : 1;
}

/** The demo without output: the value behind `--json`. */
export async function playDemo(
  rows: readonly Row[],
  options: DemoOptions & { start?: StartDemoStack; onResult?: () => void },
): Promise<DemoResult> {
  const { stages, close } = await openStages(options);
  try {
    return await runRows({ rows, stages, onResult: () => options.onResult?.() });
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

/** A counter on a terminal, nothing in a pipe. */
function createProgress(total: number, quiet: boolean): { tick(): void; clear(): void } {
  const shown = process.stderr.isTTY && !quiet;
  let done = 0;
  const draw = () => shown && process.stderr.write(`\r${done} of ${total} rows`);
  draw();
  return {
    tick() {
      done += 1;
      draw();
    },
    clear: () => void (shown && process.stderr.write("\r\x1b[K")),
  };
}

async function renderForTerminal(result: DemoResult): Promise<string> {
  const [{ renderDemo }, { default: colours }] = await Promise.all([import("../demo/render.ts"), import("picocolors")]);
  return renderDemo(result, { palette: colours, width: process.stdout.columns ?? 140 });
}
