// Runs pieces of shell one after another in one shell, as a reader would type them, and tells their outputs apart.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { userEnvironment } from "../package/packed.ts";

export interface Piece {
  readonly name: string;
  readonly text: string;
}

export interface PieceResult extends Piece {
  /** stdout and stderr, as a terminal shows them. */
  readonly output: string;
}

export interface ShellOptions {
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** As the runner of the pieces starts it: `bash -e`, `sh`, … */
  readonly shell?: readonly string[];
}

/**
 * Runs the pieces until one fails. Whatever they left running is ended afterwards.
 * @throws with the name and the output of the piece that failed
 */
export async function runPieces(pieces: readonly Piece[], options: ShellOptions): Promise<PieceResult[]> {
  const { folder, environment = {}, shell = ["bash", "-euo", "pipefail"] } = options;
  const mark = (index: number) => `@@@ piece ${index} @@@`;
  const script = pieces.map(({ text }, index) => `echo '${mark(index)}'\n${text}`).join("\n");
  const [program = "", ...args] = shell;
  const child = spawn(program, [...args, "-c", script], {
    cwd: folder,
    env: userEnvironment(folder, environment),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  // What runs in the background holds the pipes open: the shell's end counts.
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (exitCode) => setImmediate(() => resolve(exitCode)));
  });
  await endGroup(child.pid);
  const results = pieces.map((piece, index) => {
    const [, rest] = output.split(`${mark(index)}\n`);
    return rest === undefined ? undefined : { ...piece, output: rest.split(mark(index + 1))[0] ?? "" };
  });
  const done = results.filter((result) => result !== undefined);
  if (code === 0) return done;
  const last = done.at(-1);
  throw new Error(`${last?.name ?? "the shell"} ended with ${code}:\n${last?.output ?? output}`);
}

/** Ends every process that the shell started and that is still there. */
async function endGroup(group: number | undefined): Promise<void> {
  if (group === undefined) return;
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    try {
      process.kill(-group, signal);
    } catch {
      return; // nobody is left
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/** A port that nobody listens on now. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
