// Docker and docker-compose as tests run them: real programs, their output and exit code as a value.
import { execFile } from "node:child_process";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
/** What build.sh makes. */
export const IMAGE = "pullproof:dev";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs?: number;
}

/** Runs a program in the clone's folder. Never throws for an exit code. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, input, timeoutMs = 600_000 } = options;
  const settings = { cwd: ROOT, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: 1 << 26 };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, settings, (error, out, err) => {
      if (error && typeof error.code !== "number") reject(new Error(`${program}: ${error.message}`, { cause: error }));
      else resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err });
    });
    if (input !== undefined) child.stdin?.end(input);
  });
}

/** The output of a program that must succeed. @throws Error with what it wrote */
export async function succeed(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, out, err } = await run(program, args, options);
  if (code === 0) return out.trim();
  throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${out}${err}`);
}

/** The Docker command line; Debian's, where another one comes first on the PATH. */
const DOCKER = process.env.PULLPROOF_E2E_DOCKER ?? "docker";

export const docker = (args: readonly string[], options?: RunOptions) => succeed(DOCKER, args, options);
export const tryDocker = (args: readonly string[], options?: RunOptions) => run(DOCKER, args, options);

/** An engine that answers, and the image built from this clone. @returns its name */
export async function prepareImage(): Promise<string> {
  await succeed(join(ROOT, "e2e/docker/engine.sh"), []);
  return (await succeed(join(ROOT, "e2e/docker/build.sh"), [IMAGE])).split("\n").at(-1) ?? IMAGE;
}

/** Asks until it is so. @throws Error naming what was waited for */
export async function waitUntil(what: string, isSo: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs / 1000} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
