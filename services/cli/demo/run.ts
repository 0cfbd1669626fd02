// Runs rows side by side and judges each; knows nothing of how they are shown.
import { monotonicMs } from "../../shared/clock.ts";
import type { Backstage } from "./backstage.ts";
import { listFixtures } from "./fixtures.ts";
import type { DemoResult, Row, RowResult, Step, Story } from "./types.ts";

/** Where rows play: one stack for those that leave it as it was, one each for the others. */
export interface Stages {
  readonly shared: Backstage;
  /** A stage of its own for a disruptive row; undefined where there is none (a running stack without `--disruptive`). */
  open(): Promise<{ stage: Backstage; close(): Promise<void> }> | undefined;
  /** True where disruptive rows disturb the others and must come last, one by one. */
  readonly sequential: boolean;
}

export interface RunOptions {
  readonly rows: readonly Row[];
  readonly stages: Stages;
}

/** Rows that run at the same time: plugins are processes, and two cores are busy with four of them. */
const PARALLEL_ROWS = 6;

/** Runs the rows; `ok` only if every applicable row came out as expected and at least one was applicable. */
export async function runRows(options: RunOptions): Promise<DemoResult> {
  const { rows, stages } = options;
  const fixtures = listFixtures(await stages.shared.control("GET", "world"));
  const results = new Map<string, RowResult>();
  const play = async (row: Row) => void results.set(row.id, await playRow(row, { stages, fixtures }));
  const quiet = rows.filter((row) => !row.disruptive);
  const loud = rows.filter((row) => row.disruptive);
  // Rows with a stack of their own start first: they take longest.
  await runAtOnce(stages.sequential ? quiet : [...loud, ...quiet], { limit: PARALLEL_ROWS, play });
  if (stages.sequential) await runAtOnce(loud, { limit: 1, play });
  const ordered = rows.flatMap((row) => results.get(row.id) ?? []);
  const applicable = ordered.filter((row) => row.applicable);
  return { ok: applicable.length > 0 && applicable.every((row) => row.ok), rows: ordered };
}

async function runAtOnce(rows: readonly Row[], how: { limit: number; play(row: Row): Promise<void> }): Promise<void> {
  const waiting = [...rows];
  const worker = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) await how.play(row);
  };
  await Promise.all(Array.from({ length: how.limit }, worker));
}

async function playRow(row: Row, at: { stages: Stages; fixtures: ReadonlySet<string> }): Promise<RowResult> {
  const missing = row.needs.filter((fixture) => !at.fixtures.has(fixture));
  if (missing.length > 0) return notApplicable(row, `the world lacks ${missing.join(", ")}`);
  const own = row.disruptive ? at.stages.open() : { stage: at.stages.shared, close: async () => undefined };
  if (!own) return notApplicable(row, "would rotate keys, move the clock or change policies: give --disruptive");
  const started = monotonicMs();
  const { stage, close } = await own;
  try {
    return judgeStory(row, await row.run(stage), Math.round(monotonicMs() - started));
  } catch (error) {
    return failed(row, error, Math.round(monotonicMs() - started));
  } finally {
    await close();
  }
}

/** Compares a story with what the row expects. */
export function judgeStory(row: Row, story: Story, ms: number): RowResult {
  const expected = row.expected.join(", ");
  const got = story.steps.map((step) => step.verdict).join(", ");
  const problems = [
    ...(story.before ?? [])
      .filter((step) => step.verdict !== step.expected)
      .map(
        (step) =>
          `before: ${step.what}: expected ${step.expected}, got ${step.verdict} (${step.because ?? step.reason})`,
      ),
    ...(row.twin && story.twin?.verdict !== row.twin
      ? [
          `twin: ${story.twin?.what ?? "none"}: expected ${row.twin}, got ${story.twin?.verdict ?? "nothing"} (${story.twin?.because ?? story.twin?.reason ?? ""})`,
        ]
      : []),
    ...(story.claims ?? [])
      .filter((claim) => !claim.holds)
      .map((claim) => `expected that ${claim.what}, which does not hold`),
  ];
  const telling = tellingStep(row, story.steps);
  return {
    id: row.id,
    title: row.title,
    applicable: true,
    expected,
    got,
    ok: got === expected && problems.length === 0,
    reason: telling?.reason ?? "",
    decidedBy: telling?.decidedBy ?? "",
    ...(telling?.because === undefined ? {} : { because: telling.because }),
    ...(telling?.podReason === undefined ? {} : { podReason: telling.podReason }),
    trace: telling?.trace ?? "",
    ms,
    steps: story.steps.map(shortStep),
    ...(story.twin && row.twin ? { twin: { ...shortStep(story.twin), expected: row.twin } } : {}),
    ...(story.before ? { before: story.before.map(shortStep) } : {}),
    ...(problems.length > 0 ? { problems } : {}),
  };
}

/** The step that the row's reason is taken from: the first unexpected one, else the first refusal or leak, else the last. */
function tellingStep(row: Row, steps: readonly Step[]): Step | undefined {
  return (
    steps.find((step, index) => step.verdict !== row.expected[index]) ??
    steps.find((step) => step.verdict === "denied" || step.verdict === "leaked") ??
    steps.at(-1)
  );
}

function shortStep({ what, verdict, reason }: Step): { what: string; verdict: string; reason: string } {
  return { what, verdict, reason };
}

function notApplicable(row: Row, reason: string): RowResult {
  const { id, title } = row;
  return {
    id,
    title,
    applicable: false,
    expected: row.expected.join(", "),
    got: "",
    ok: false,
    reason,
    decidedBy: "",
    trace: "",
    ms: 0,
    steps: [],
  };
}

function failed(row: Row, error: unknown, ms: number): RowResult {
  const message = error instanceof Error ? error.message : String(error);
  return { ...notApplicable(row, "error"), applicable: true, ms, problems: [message] };
}
