// The init folder: what must be in place before anybody uses the stack. Files run in the order of their names.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "../shared/errors.ts";
import type { createStack } from "../stack/index.ts";
import type { Cli } from "./types.ts";

type Stack = Awaited<ReturnType<typeof createStack>>;

interface InitContext {
  readonly stack: Stack;
  readonly cli: Cli;
}

/** What is done with a file, by its ending. */
const RUNNERS: Readonly<Record<string, (file: string, context: InitContext) => Promise<string>>> = {
  yaml: runManifests,
  yml: runManifests,
  json: runManifests,
  sh: runScript,
};

/**
 * Runs a folder: `*.yaml`, `*.yml`, `*.json` are Kubernetes manifests, `*.sh` scripts. Names that begin with a dot are
 * left alone, also folders and files with other endings (told on stderr).
 * @throws ConfigurationError naming the file that failed, and why: a stack that is half prepared does not start
 */
export async function runInitFolder(folder: string, context: InitContext): Promise<void> {
  for (const name of listFiles(folder)) {
    const run = RUNNERS[name.split(".").at(-1) ?? ""];
    const file = join(folder, name);
    try {
      const done = run
        ? await run(file, context)
        : "left alone: neither a manifest (yaml, yml, json) nor a script (sh)";
      context.cli.output.note(`init: ${name}: ${done}`);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigurationError(`init: ${file}: ${message}`, {
        cause,
        hint: "correct the file, or take it out of the folder; the stack starts when all of them succeed",
      });
    }
  }
}

function listFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."));
    return names.map(({ name }) => name).sort();
  } catch (cause) {
    throw new ConfigurationError(`cannot read the init folder ${folder}: ${String(cause)}`, {
      cause,
      hint: "name an existing folder with --init or PULLPROOF_INIT, or none",
    });
  }
}

async function runManifests(file: string, { stack }: InitContext): Promise<string> {
  const { applyManifests } = await import("./manifests.ts");
  const done = await applyManifests(readFileSync(file, "utf8"), stack);
  return done.length === 0 ? "no manifest in it" : done.join(", ");
}

/** A script sees the stack (`AWS_ENDPOINT_URL`, `PULLPROOF_ENDPOINT`, its key) and nothing else of this process. */
async function runScript(file: string, { stack, cli }: InitContext): Promise<string> {
  const { PATH, HOME, TMPDIR } = cli.environment;
  const env = {
    ...Object.fromEntries(Object.entries({ PATH, HOME, TMPDIR }).filter(([, value]) => value !== undefined)),
    ...(await stack.env()),
    PULLPROOF_CONTROL_KEY: stack.controlKey,
    PULLPROOF_DATA_DIR: stack.dataDir,
  };
  const stop = new AbortController();
  void cli.untilStopped().then(() => stop.abort());
  const child = spawn("sh", [file], { env, signal: stop.signal, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = `${said}${text}`.slice(-2000);
      cli.output.note(text.trimEnd());
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) => reject(stop.signal.aborted ? new Error("told to stop") : error));
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`ended with ${code}; its last line: ${said.trim().split("\n").at(-1) || "(none)"}`);
  return "done";
}
