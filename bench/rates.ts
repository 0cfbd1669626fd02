// One load run against one server as figures: by the clock on the wall, and by the processor time that the server took.
// The second hardly moves when others use the machine.
import { type Job, type Report, runLoad } from "./load.ts";
import { type Goal, judge, type Result } from "./measure.ts";
import type { Server } from "./servers.ts";

/** What a run of load was like. */
export interface Figure {
  /** Units per second of wall clock. */
  readonly perSecond: number;
  /** Units per second of the server's processor time. */
  readonly perCpuSecond: number;
  readonly report: Report;
}

export type Figures = Readonly<Record<string, readonly Figure[]>>;

const BYTES_PER_MB = 1e6;

/** Requests per second. */
export function countRequests(server: Server, job: Job): Promise<Figure> {
  return measureLoad(server, job, (report) => report.requests);
}

/** Megabytes (10^6 bytes) per second. */
export function countMegabytes(server: Server, job: Job): Promise<Figure> {
  return measureLoad(server, job, (report) => report.bytes / BYTES_PER_MB);
}

async function measureLoad(server: Server, job: Job, units: (report: Report) => number): Promise<Figure> {
  const before = server.cpuSeconds();
  const report = await runLoad(job);
  const cpuSeconds = server.cpuSeconds() - before;
  const done = units(report);
  return { perSecond: done / report.seconds, perCpuSecond: done / cpuSeconds, report };
}

/** Runs in turn, `rounds` times after `warmUp` that do not count: what runs through much code is compiled later. */
export async function alternateLoads<Name extends string>(
  runs: Readonly<Record<Name, () => Promise<Figure>>>,
  { rounds, warmUp = 1 }: { rounds: number; warmUp?: number },
): Promise<Record<Name, Figure[]>> {
  const entries = Object.entries<() => Promise<Figure>>(runs);
  const figures: Record<string, Figure[]> = Object.fromEntries(entries.map(([name]) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, run] of entries) {
      const figure = await run();
      if (round >= 0) figures[name]?.push(figure);
    }
  }
  return figures as Record<Name, Figure[]>;
}

/** Two lines: ours against a peer by the clock, and by processor time; the same goal for both. */
export function judgeRates(
  id: string,
  what: string,
  figures: { ours: readonly Figure[]; peer: readonly Figure[]; against: string; unit: string; goal: Goal },
): Result[] {
  const { ours, peer, against, unit, goal } = figures;
  const line = (kind: "perSecond" | "perCpuSecond", suffix: string) =>
    judge(id, what + suffix, {
      ours: ours.map((figure) => figure[kind]),
      peer: peer.map((figure) => figure[kind]),
      against,
      unit: kind === "perSecond" ? `${unit}/s` : `${unit}/CPU s`,
      goal,
    });
  return [line("perSecond", ""), line("perCpuSecond", ", by the server's processor time")];
}
