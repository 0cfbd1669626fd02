// Measuring: peers and ours alternate within one run, so that a busy machine slows both; medians, spread and ratios.

/** One line of the result (design 12). */
export interface Result {
  readonly id: string;
  readonly what: string;
  readonly ours: number;
  readonly peer: number | undefined;
  readonly unit: string;
  /** ours / peer */
  readonly ratio: number | undefined;
  readonly goal: string;
  readonly ok: boolean;
  /** Quartiles of ours, to judge the noise. */
  readonly spread: readonly [number, number];
  /** Who the peer is. */
  readonly against: string | undefined;
}

/** A thing to measure; returns its own figure. */
export type Sample = () => Promise<number>;

export interface Goal {
  readonly text: string;
  /** ours / peer at most. */
  readonly ratio?: number;
  /** ours / peer at least: for rates. */
  readonly ratioAtLeast?: number;
  /** ours at most. */
  readonly atMost?: number;
}

/** Runs the samples in turn, `rounds` times after `warmUp` rounds that do not count. */
export async function alternate<Name extends string>(
  samples: Readonly<Record<Name, Sample>>,
  { rounds, warmUp = 2 }: { rounds: number; warmUp?: number },
): Promise<Record<Name, number[]>> {
  const entries = Object.entries<Sample>(samples);
  const figures: Record<string, number[]> = Object.fromEntries(entries.map(([name]) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, sample] of entries) {
      const figure = await sample();
      if (round >= 0) figures[name]?.push(figure);
    }
  }
  return figures as Record<Name, number[]>;
}

/** The value below which the given part of the figures lies. */
export function quantile(figures: readonly number[], part: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Milliseconds that a piece of work takes. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Judges ours against a goal and, if there is one, a peer of the same run. */
export function judge(
  id: string,
  what: string,
  figures: { ours: readonly number[]; peer?: readonly number[]; against?: string; unit?: string; goal: Goal },
): Result {
  const ours = quantile(figures.ours, 0.5);
  const peer = figures.peer && quantile(figures.peer, 0.5);
  const ratio = peer === undefined ? undefined : ours / peer;
  const { goal } = figures;
  const within = goal.atMost === undefined || ours <= goal.atMost;
  const below = goal.ratio === undefined || (ratio !== undefined && ratio <= goal.ratio);
  const above = goal.ratioAtLeast === undefined || (ratio !== undefined && ratio >= goal.ratioAtLeast);
  const spread: [number, number] = [quantile(figures.ours, 0.25), quantile(figures.ours, 0.75)];
  const { against, unit = "ms" } = figures;
  return { id, what, ours, peer, unit, ratio, goal: goal.text, ok: within && below && above, spread, against };
}
