// The demo as a table for people.
import Table from "cli-table3";
import type { DemoResult, RowResult } from "./types.ts";

/** Colours as functions, so that a pipe gets none. */
export interface Palette {
  green(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

export interface TableOptions {
  readonly palette: Palette;
  /** Columns of the terminal. */
  readonly width: number;
}

const NARROWEST = 120;
const FIXED_COLUMNS = 4 + 38 + 19 + 22 + 8;

/** What was tried, expected, got, why, Pod reason and trace; failed rows with their problems below. */
export function renderDemo(result: DemoResult, options: TableOptions): string {
  const { palette } = options;
  const reasonWidth = Math.max(30, Math.max(NARROWEST, options.width) - FIXED_COLUMNS);
  const table = new Table({
    head: ["", "what was tried", "expected / got", "Pod reason / trace", "why"].map(palette.bold),
    colWidths: [4, 38, 19, 22, reasonWidth],
    wordWrap: true,
    wrapOnWordBoundary: true,
    style: { head: [], border: [] },
  });
  for (const row of result.rows) table.push(renderRow(row, palette));
  return `${table.toString()}\n${renderSummary(result, palette)}`;
}

function renderRow(row: RowResult, palette: Palette): string[] {
  const mark = row.applicable ? (row.ok ? palette.green("✓") : palette.red("✗")) : palette.dim("–");
  const twin = row.twin ? palette.dim(`\ntwin: ${row.twin.what} → ${row.twin.verdict}`) : "";
  const got = row.ok ? palette.green(row.got) : palette.red(row.got || "nothing");
  const verdicts = row.applicable ? `${row.expected}\n${got}` : row.expected;
  const why = [
    row.because ?? row.reason,
    row.decidedBy ? palette.dim(row.decidedBy) : "",
    ...(row.problems ?? []).map(palette.red),
  ];
  return [
    mark,
    `${palette.bold(row.id)}\n${row.title}${twin}`,
    verdicts,
    `${row.podReason ?? ""}\n${palette.dim(row.trace.slice(0, 12))}`.trim(),
    why.filter((line) => line !== "").join("\n"),
  ];
}

function renderSummary(result: DemoResult, palette: Palette): string {
  const applicable = result.rows.filter((row) => row.applicable);
  const wrong = applicable.filter((row) => !row.ok);
  const skipped = result.rows.length - applicable.length;
  const tail = skipped > 0 ? palette.yellow(`, ${skipped} not applicable to this world`) : "";
  if (wrong.length === 0 && applicable.length > 0)
    return palette.green(`${applicable.length} ${applicable.length === 1 ? "row" : "rows"} as expected`) + tail;
  if (applicable.length === 0) return palette.red("no row applies to this world");
  return (
    palette.red(`${wrong.length} of ${applicable.length} rows differ: ${wrong.map((row) => row.id).join(", ")}`) + tail
  );
}
