// The enclosure of one node: a folder, and namespaces in which its daemons run. Whatever ends this process, nothing
// that was started in it outlives it (guard.sh).
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { explainDaemon, RealNodeError } from "./real-node-error.ts";

const GUARD = join(import.meta.dirname, "guard.sh");
const PREFIX = "pullproof-real-node-";
/** All that daemons see of the environment: a kubelet hands its own to every plugin. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A program that runs in the enclosure. */
export interface Daemon {
  readonly name: string;
  /** Everything it has written so far. */
  readLog(): string;
  /**
   * Waits until `check` is true; it may throw for "not yet".
   * @throws RealNodeError if the daemon ends before, or after `seconds`
   */
  until(what: string, check: () => boolean | Promise<boolean>, seconds: number): Promise<void>;
  /** Sends the signal and waits for the end; SIGKILL after ten seconds. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export interface Enclosure extends AsyncDisposable {
  /** Everything that the node writes is below it. */
  readonly folder: string;
  /** Starts a program with PATH (first `pathFirst`) and HOME as its whole environment. */
  start(name: string, command: readonly string[], options?: { readonly pathFirst?: string }): Daemon;
  /** Runs a program to its end. @throws RealNodeError unless it ends with 0 */
  run(command: readonly string[]): Promise<string>;
  /** Ends everything and removes the folder. */
  close(): Promise<void>;
}

/**
 * Opens an enclosure; first clears away what a killed earlier run may have left.
 * @throws RealNodeError where namespaces are not to be had
 */
export async function openEnclosure(): Promise<Enclosure> {
  for (const left of clearLeftovers()) console.warn(`cleared ${left}, left behind by an earlier run`);
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  mkdirSync(join(folder, "logs"));
  const guard = spawn(GUARD, [folder], { stdio: ["pipe", "pipe", "pipe"], detached: true });
  const first = await firstWords(guard);
  if (!first.includes("ready")) {
    throw new RealNodeError("the enclosure of the node did not open", {
      why: first.trim() || "guard.sh ended without a word",
      cure: "run as root with the rights to make PID and mount namespaces (CAP_SYS_ADMIN)",
    });
  }
  const init = childOf(childOf(guard.pid ?? 0));
  const enter = ["nsenter", "--target", String(init), "--mount", "--pid", "--"];
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeGuard(guard, folder);
    return closing;
  };
  return {
    folder,
    start: (name, command, options = {}) => startDaemon({ folder, enter, name, command, ...options }),
    run: (command) => runProgram(enter, command, folder),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Removes folders whose guard is gone. */
export function clearLeftovers(): readonly string[] {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
  const left = folders.map((name) => join(tmpdir(), name)).filter(isLeftover);
  for (const folder of left) execFileSync(GUARD, ["--clean", folder]);
  return left;
}

function isLeftover(folder: string): boolean {
  const lock = join(folder, "lock");
  return existsSync(lock) && spawnSync("flock", ["--nonblock", lock, "true"]).status === 0;
}

function firstWords(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let words = "";
    const take = (chunk: Buffer) => {
      words += String(chunk);
      if (words.includes("ready\n")) resolve(words);
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    child.once("error", (error) => resolve(String(error)));
    child.once("close", () => resolve(words.replace("ready", "")));
  });
}

/** The only child of a process. */
function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return Number(child);
}

async function closeGuard(guard: ChildProcess, folder: string): Promise<void> {
  const kept = process.env.REAL_NODE_KEEP_LOGS;
  if (kept) cpSync(join(folder, "logs"), kept, { recursive: true });
  if (guard.exitCode !== null) return;
  const closed = new Promise((resolve) => guard.once("close", resolve));
  guard.stdin?.end();
  await closed;
}

/** Not `spawnSync`: what it asks may be the stack, which lives in this process. */
function runProgram(enter: readonly string[], command: readonly string[], folder: string): Promise<string> {
  const [nsenter = "", ...args] = [...enter, ...command];
  return new Promise((resolve, reject) => {
    execFile(nsenter, args, { encoding: "utf8", env: { PATH, HOME: folder } }, (error, stdout, stderr) => {
      if (error) reject(explainDaemon(basename(command[0] ?? ""), `ended with ${error.code}`, stderr));
      else resolve(stdout);
    });
  });
}

function startDaemon(from: {
  folder: string;
  enter: readonly string[];
  name: string;
  command: readonly string[];
  pathFirst?: string;
}): Daemon {
  const { folder, name } = from;
  const log = join(folder, "logs", `${name}.log`);
  const output = openSync(log, "a");
  const [program = "", ...args] = [...from.enter, ...from.command];
  const path = from.pathFirst === undefined ? PATH : `${from.pathFirst}:${PATH}`;
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: path, HOME: folder },
    stdio: ["ignore", output, output],
    detached: true,
  });
  let ended: string | undefined;
  const end = new Promise<void>((resolve) => {
    const tell = (how: string) => {
      ended = how;
      resolve();
    };
    child.once("error", (error) => tell(`could not be started: ${error.message}`));
    child.once("close", (code, signal) => tell(`ended with ${code ?? signal}`));
  });
  const readLog = () => readFileSync(log, "utf8");
  return {
    name,
    readLog,
    async until(what, check, seconds) {
      const giveUp = performance.now() + seconds * 1000;
      let answer: unknown;
      while (answer !== true) {
        // Whoever answers in the daemon's place may never do so.
        answer = await Promise.race([tryOnce(check), end, sleep(5000, "no answer", { ref: false })]);
        if (ended !== undefined) throw explainDaemon(name, `${ended} before ${what}`, readLog());
        if (answer !== true && performance.now() > giveUp) {
          throw explainDaemon(name, `did not get as far as "${what}" in ${seconds} s (${String(answer)})`, readLog());
        }
        if (answer !== true) await sleep(100);
      }
    },
    async stop(signal = "SIGTERM") {
      if (ended === undefined) process.kill(childOf(child.pid ?? 0), signal); // nsenter hands no signals on
      const late = setTimeout(() => ended === undefined && process.kill(childOf(child.pid ?? 0), "SIGKILL"), 10_000);
      await end;
      clearTimeout(late);
    },
  };
}

async function tryOnce(check: () => boolean | Promise<boolean>): Promise<unknown> {
  try {
    return await check();
  } catch (error) {
    return error; // not yet; told if it stays so
  }
}
