// P9: resident memory of the built package, idle and while a gigabyte passes.
import { withBench } from "./bench.ts";
import { runLoad } from "./load.ts";
import { judge, type Result } from "./measure.ts";
import { startOurs } from "./peers.ts";
import { logIn } from "./registry-client.ts";

/** Long enough for the engine to come to rest after the start. */
const REST_MS = 2_000;
const REPOSITORY = "team-a/app";
const BLOB_BYTES = 64 * 1024 * 1024;
const PULLS = 16;

interface Memory {
  readonly idle: number;
  readonly passing: number;
  readonly holding: number;
}

/** @returns the lines of P9 */
export async function measureMemory(rounds: number): Promise<Result[]> {
  const seen: Memory[] = [];
  for (let round = 0; round < Math.min(rounds, 5); round++) seen.push(await measureOnce());
  return [
    judge("P9", "resident memory after the start, at rest", {
      ours: seen.map(({ idle }) => idle),
      unit: "MB",
      goal: { text: "≤ 90 MB", atMost: 90 },
    }),
    judge("P9", "the most above that while 1 GiB is pulled (16 × 64 MiB, 4 connections)", {
      ours: seen.map(({ passing }) => passing),
      unit: "MB",
      goal: { text: "≤ 40 MB", atMost: 40 },
    }),
    judge("P9", "the most above that while 64 MiB are pushed, without the 67 MB that are then held", {
      ours: seen.map(({ holding }) => holding),
      unit: "MB",
      goal: { text: "≤ 40 MB", atMost: 40 },
    }),
  ];
}

function measureOnce(): Promise<Memory> {
  return withBench(async ({ folder, keep }) => {
    const server = await keep(startOurs(folder));
    await rest();
    const idle = server.memory().now;
    const { host = "", ...others } = (await logIn(server.url)).headers;
    const target = { host, headers: Object.entries(others), url: `${server.url}/v2/${REPOSITORY}/blobs/` };
    const before = server.memory().now;
    server.forgetPeak();
    const push = { push: true, bodyBytes: BLOB_BYTES, requests: 1, connections: 1 };
    const { digest } = await runLoad({ ...target, ...push, url: `${target.url}uploads/` });
    const holding = server.memory().peak - before - BLOB_BYTES / 1e6;
    await rest();
    const held = server.memory().now;
    server.forgetPeak();
    await runLoad({ ...target, url: target.url + digest, requests: PULLS, connections: 4 });
    return { idle, holding, passing: server.memory().peak - held };
  });
}

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REST_MS));
}
