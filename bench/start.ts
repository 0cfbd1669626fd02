// P1: how fast the stack and the command line start, against Debian's docker-registry and a bare Node.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alternate, judge, type Result, time } from "./measure.ts";
import { findFreePort, firstLineOf, runBareNode, runCli, timeToFirstAnswer } from "./processes.ts";

const READY = join(import.meta.dirname, "ready.mjs");

/** Debian's docker-registry with storage in memory: the fastest peer service there is. */
async function startDockerRegistry(config: string): Promise<number> {
  const port = await findFreePort();
  const environment = { REGISTRY_HTTP_ADDR: `127.0.0.1:${port}`, REGISTRY_STORAGE_FILESYSTEM_ROOTDIRECTORY: config };
  const args = ["serve", "/etc/docker/registry/config.yml"];
  return timeToFirstAnswer("docker-registry", args, { url: `http://127.0.0.1:${port}/v2/`, environment });
}

/** @returns the lines of P1 */
export async function measureStart(rounds: number): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), "pullproof-bench-"));
  const starts: number[] = [];
  try {
    const figures = await alternate(
      {
        registry: () => startDockerRegistry(folder),
        process: () =>
          time(async () => {
            const { startMs } = JSON.parse(await firstLineOf(READY));
            starts.push(startMs);
          }),
        bare: () => time(runBareNode),
        help: () => time(() => runCli("--help")),
      },
      { rounds },
    );
    return judgeStart({ ...figures, starts: starts.slice(-rounds) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Figures = Readonly<Record<"registry" | "process" | "bare" | "help" | "starts", readonly number[]>>;

function judgeStart(figures: Figures): Result[] {
  const against = "docker-registry, start to first answer";
  return [
    judge("P1", "stack in process, startStack() to ready", {
      ours: figures.starts,
      peer: figures.registry,
      against,
      goal: { text: "< peer and ≤ 150 ms", ratio: 1, atMost: 150 },
    }),
    judge("P1", "stack as a process of its own, start of Node to ready and closed", {
      ours: figures.process,
      peer: figures.registry,
      against,
      goal: { text: "for information" },
    }),
    judge("P1", "pullproof --help", {
      ours: figures.help,
      peer: figures.bare,
      against: "bare Node",
      goal: { text: "≤ 2 × bare Node", ratio: 2 },
    }),
  ];
}
