// Servers as they are measured: processes on a core of their own, with the processor time and memory they have taken.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { answers, CLEAN_ENVIRONMENT, end, pinned } from "./processes.ts";

/** A running server. */
export interface Server {
  /** Without a slash at the end. */
  readonly url: string;
  /** Processor time since its start, all threads, in seconds. */
  cpuSeconds(): number;
  /** Resident memory in MB (10^6 bytes): now, and the most since {@link Server.forgetPeak}. */
  memory(): { readonly now: number; readonly peak: number };
  forgetPeak(): void;
  stop(): Promise<void>;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const TICKS_PER_SECOND = 100; // USER_HZ, the same on every Linux that Node runs on
const START_MS = 30_000;

/** Starts a server that prints one line when it is ready, and hands over that line. */
export async function startPrinting<T>(command: ServerCommand, read: (line: string) => T): Promise<[Server, T]> {
  const child = launch(command, "pipe");
  const line = await orFail(
    command,
    child,
    new Promise<string>((resolve) => child.stdout?.once("data", (chunk) => resolve(String(chunk).trim()))),
  );
  const said = read(line);
  return [describe(child, typeof said === "string" ? said : ""), said];
}

/** Starts a server and waits until it answers at this URL. */
export async function startAnswering(command: ServerCommand, url: string): Promise<Server> {
  const child = launch(command, "ignore");
  await orFail(command, child, answers(url));
  return describe(child, new URL(url).origin);
}

function launch({ command, args, environment = {} }: ServerCommand, stdout: "pipe" | "ignore"): ChildProcess {
  const [program, programArgs] = pinned("server", command, args);
  const env = { ...CLEAN_ENVIRONMENT, ...environment };
  return spawn(program, programArgs, { env, stdio: ["ignore", stdout, "ignore"] });
}

/** What is awaited, unless the server ends or takes too long; then nothing of it is left running. */
async function orFail<T>({ command }: ServerCommand, child: ChildProcess, awaited: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code} before it was ready`)));
    timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`${command} was not ready after ${START_MS / 1000} s`));
    }, START_MS);
  });
  return Promise.race([awaited, failed]).finally(() => clearTimeout(timer));
}

function describe(child: ChildProcess, url: string): Server {
  const status = (name: string) => {
    const text = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) * 1024) / 1e6;
  };
  return {
    url,
    cpuSeconds() {
      // After the name, which may hold blanks: utime and stime are fields 14 and 15 of the line.
      const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    memory: () => ({ now: status("VmRSS"), peak: status("VmHWM") }),
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, "5"),
    stop: () => end(child),
  };
}
