// Runs a credential provider plugin (kubelet.md 2.2). The only file of the room that starts processes.
import { type ChildProcess, spawn } from "node:child_process";
import { monotonicMs } from "../shared/clock.ts";
import { isProgram } from "./config-files.ts";

export interface PluginRun {
  readonly path: string;
  readonly args: readonly string[];
  /** All of the plugin's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly stdin: string;
  readonly timeoutMs: number;
  /** How long after the timeout pipes held open by the plugin's children are waited for. */
  readonly graceMs: number;
  /** Ends the run early; the kubelet stops. */
  readonly signal?: AbortSignal | undefined;
}

/** Why a run gave no answer. */
export type PluginFailure = "exit" | "signal" | "spawn" | "timeout" | "stdout-held" | "too-much-output" | "stopped";

export type PluginResult = { readonly durationMs: number; readonly stderr: string } & (
  | { readonly ok: true; readonly stdout: string }
  /** `text` is Go's error, as the kubelet logs it. */
  | { readonly ok: false; readonly failure: PluginFailure; readonly text: string }
);

/** Differs: upstream buffers without limit. */
const MAX_OUTPUT_BYTES = 16 << 20;

/** Runs the plugin once; never throws and never outlives `timeoutMs + graceMs`. */
export function runPlugin(run: PluginRun): Promise<PluginResult> {
  const started = monotonicMs();
  if (!isProgram(run.path)) {
    const text = `fork/exec ${run.path}: ${SPAWN_TEXTS.ENOEXEC}`;
    return Promise.resolve({ ok: false, failure: "spawn", text, durationMs: 0, stderr: "" });
  }
  return new Promise((resolve) => {
    const child = start(run);
    const stdout = new Output();
    const stderr = new Output();
    let over: { failure: PluginFailure; text: string } | undefined;
    const give = (outcome: { failure: PluginFailure; text: string } | undefined) => {
      clearTimeout(deadline);
      clearTimeout(lastCall);
      run.signal?.removeEventListener("abort", stop);
      child.stdout?.destroy();
      child.stderr?.destroy();
      const facts = { durationMs: Math.round(monotonicMs() - started), stderr: stderr.text() };
      resolve(outcome ? { ok: false, ...outcome, ...facts } : { ok: true, stdout: stdout.text(), ...facts });
    };
    const abandon = (outcome: { failure: PluginFailure; text: string }) => {
      killGroup(child);
      give(outcome);
    };
    const stop = () => abandon({ failure: "stopped", text: "context canceled" });
    const deadline = setTimeout(() => {
      over ??= { failure: "timeout", text: "context deadline exceeded" };
      child.kill("SIGKILL"); // upstream's kill hits the process alone, not its children
    }, run.timeoutMs);
    const lastCall = setTimeout(() => abandon(renderHeld(child)), run.timeoutMs + run.graceMs);
    for (const [stream, output] of [
      [child.stdout, stdout],
      [child.stderr, stderr],
    ] as const) {
      stream?.on("data", (chunk: Buffer) => {
        if (!output.take(chunk))
          abandon({ failure: "too-much-output", text: `more than ${MAX_OUTPUT_BYTES} bytes of output` });
      });
    }
    child.once("error", (error) => give({ failure: "spawn", text: renderSpawnError(run.path, error) }));
    child.once("close", (code, signal) => give(over ?? judgeExit(code, signal)));
    run.signal?.addEventListener("abort", stop, { once: true });
    child.stdin?.on("error", () => {}); // a plugin may end without reading its request
    child.stdin?.end(run.stdin);
  });
}

function start(run: PluginRun): ChildProcess {
  return spawn(run.path, run.args, {
    cwd: run.directory,
    env: { ...run.environment },
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own, so that children which outlive the plugin can be ended when we give up on them.
    detached: true,
  });
}

function judgeExit(code: number | null, signal: NodeJS.Signals | null) {
  if (signal) return { failure: "signal" as const, text: `signal: ${SIGNAL_TEXTS[signal] ?? signal}` };
  return code === 0 ? undefined : { failure: "exit" as const, text: `exit status ${code}` };
}

const SIGNAL_TEXTS: Partial<Record<NodeJS.Signals, string>> = {
  SIGKILL: "killed",
  SIGTERM: "terminated",
  SIGSEGV: "segmentation fault",
  SIGABRT: "aborted",
  SIGINT: "interrupt",
};

function renderHeld(child: ChildProcess): { failure: PluginFailure; text: string } {
  const ended = child.exitCode === null ? "killed at the deadline" : `ended with exit status ${child.exitCode}`;
  return {
    failure: "stdout-held",
    // Differs: the real kubelet waits for the pipes without limit (kubelet.md 13.2).
    text: `context deadline exceeded (the plugin was ${ended}, but a process that it started still holds its output open)`,
  };
}

const SPAWN_TEXTS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  ENOEXEC: "exec format error",
};

function renderSpawnError(path: string, error: Error): string {
  const code = "code" in error ? String(error.code) : "";
  return `fork/exec ${path}: ${SPAWN_TEXTS[code] ?? error.message}`;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // nobody of the group is left: that is what was wanted
  }
}

/** Collects one pipe up to the limit. */
class Output {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  take(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > MAX_OUTPUT_BYTES) return false;
    this.#chunks.push(chunk);
    return true;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
