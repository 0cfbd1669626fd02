// Starting programs and waiting for what they say.
import { type ChildProcess, spawn } from "node:child_process";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import net from "node:net";
import { availableParallelism } from "node:os";

const NODE = process.execPath;

/** Environment without the caller's settings that would slow or redirect a program. */
export const CLEAN_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  ...(process.env.XDG_CACHE_HOME ? { XDG_CACHE_HOME: process.env.XDG_CACHE_HOME } : {}),
};

/** With more than one core, servers and the load client each keep to their own: neither takes time from the other. */
const CORES: Readonly<Record<"server" | "client", string>> = { server: "0", client: "1" };

/** The command line that runs a program on the core of its part. */
export function pinned(
  part: keyof typeof CORES,
  command: string,
  args: readonly string[],
): [command: string, args: string[]] {
  if (availableParallelism() < 2) return [command, [...args]];
  return ["taskset", ["-c", CORES[part], command, ...args]];
}

/** Runs a program to its end. @throws if it fails */
export function runToEnd(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { env: CLEAN_ENVIRONMENT, stdio: ["ignore", "ignore", "inherit"] });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`))));
  });
}

/** The floor: Node that does nothing. */
export function runBareNode(): Promise<void> {
  return runToEnd(NODE, ["-e", "0"]);
}

/** Runs our command line from the built package. */
export function runCli(...args: readonly string[]): Promise<void> {
  return runToEnd(NODE, ["dist/cli/bin.cjs", ...args]);
}

/** Starts a script of this folder with Node and resolves with its first line; then it is ended. */
export async function firstLineOf(script: string): Promise<string> {
  const child = spawn(NODE, [script], { env: CLEAN_ENVIRONMENT, stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${script} ended with ${code} before it was ready`)));
    child.stdout?.once("data", (chunk) => resolve(String(chunk).trim()));
  });
  await end(child);
  return line;
}

/** Starts a server, waits for its first HTTP answer, and ends it. @returns milliseconds from spawn to answer */
export async function timeToFirstAnswer(
  command: string,
  args: readonly string[],
  { url, environment }: { url: string; environment: Readonly<Record<string, string>> },
): Promise<number> {
  const start = performance.now();
  const child = spawn(command, args, { env: { ...CLEAN_ENVIRONMENT, ...environment }, stdio: "ignore" });
  const failed = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code} before it answered`)));
  });
  failed.catch(() => {});
  await Promise.race([answers(url), failed]);
  const elapsed = performance.now() - start;
  await end(child);
  return elapsed;
}

/** Asks a program to end and waits until it has. */
export async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

/** Asks until there is an answer, each millisecond. */
export async function answers(url: string): Promise<void> {
  for (;;) {
    const answered = await new Promise<boolean>((resolve) => {
      const take = (response: IncomingMessage) => {
        response.resume();
        resolve(true);
      };
      const secure = url.startsWith("https:");
      const request = secure ? https.get(url, { rejectUnauthorized: false }, take) : http.get(url, take);
      request.once("error", () => resolve(false));
    });
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** A port nobody listens on at the moment. */
export function findFreePort(): Promise<number> {
  const server = net.createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
