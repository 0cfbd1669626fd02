// Runs a credential provider plugin as the kubelet does, and finds the two that are compared.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBuiltinPluginDirectory } from "../../services/credential-provider/index.ts";

export interface PluginRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** klog headers replaced by the severity letter; what is not a klog line is kept. */
  readonly stderr: readonly string[];
}

/** Starts the executable with exactly this environment and input. */
export function runPlugin(
  path: string,
  input: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<PluginRun> {
  const child = spawn(path, args, { env: { ...environment } });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, stdout, stderr: readLog(stderr) }));
  });
}

function readLog(text: string): string[] {
  const header = /^([IWEF])\d{4} [\d:.]+ +\d+ [\w.-]+:\d+\] /;
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(header, "$1 "));
}

/** The plugin of this repository, made runnable in a temporary folder. */
export async function findOurPlugin(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pullproof-plugin-"));
  const cacheHome = process.env.XDG_CACHE_HOME;
  return join(await createBuiltinPluginDirectory(folder, { cacheHome }), "ecr-credential-provider");
}

/**
 * The unmodified plugin, built when it is not there yet (about 90 CPU seconds); undefined, with the reason printed,
 * where Go is missing.
 * @throws in CI, where nothing may be missing
 */
export function findRealPlugin(): string | undefined {
  try {
    const stdio = ["ignore", "pipe", "inherit"] as const;
    return execFileSync(join(import.meta.dirname, "build.sh"), { encoding: "utf8", stdio: [...stdio] }).trim();
  } catch (error) {
    if (process.env.CI) throw error;
    console.warn(`skipped: the real ecr-credential-provider cannot be built here (${String(error)})`);
    return undefined;
  }
}
