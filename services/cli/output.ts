// Everything that the commands show: lines, tables, JSON and progress. Results go to stdout, the rest to stderr.
import pc from "picocolors";

/** The few facts of a process that output depends on. */
export interface OutputStreams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Output {
  readonly paint: ReturnType<typeof pc.createColors>;
  /** A line of the result. */
  print(text?: string): void;
  /** One line of JSON, the whole result for machines. */
  json(value: unknown): void;
  /** A line that is no result: a hint, a log line. */
  note(text: string): void;
  /** A table without borders. Cells may be painted; {@link clean} what others wrote first. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): Promise<void>;
  /** Waits; on a terminal, after a second, says for what. */
  progress<T>(text: string, work: Promise<T>): Promise<T>;
}

const PROGRESS_AFTER_MS = 1000;

/** Output onto these streams. Colours only on a terminal, and never with NO_COLOR (https://no-color.org). */
export function createOutput({ stdout, stderr, environment }: OutputStreams): Output {
  const paint = pc.createColors(wantsColour(stdout.isTTY === true, environment));
  const print = (text = "") => void stdout.write(`${text}\n`);
  return {
    paint,
    print,
    json: (value) => print(JSON.stringify(value)),
    note: (text) => void stderr.write(`${text}\n`),
    async table(head, rows) {
      const { default: Table } = await import("cli-table3");
      const table = new Table({
        head: head.map((cell) => paint.bold(cell)),
        chars: NO_BORDERS,
        style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
      });
      for (const row of rows) table.push([...row]);
      print(table.toString().replace(/ +$/gm, ""));
    },
    async progress(text, work) {
      if (stderr.isTTY !== true) return work;
      const timer = setTimeout(() => stderr.write(`${text} …`), PROGRESS_AFTER_MS);
      try {
        return await work;
      } finally {
        clearTimeout(timer);
        stderr.write("\r\u001b[K");
      }
    },
  };
}

function wantsColour(isTerminal: boolean, environment: OutputStreams["environment"]): boolean {
  if (environment.NO_COLOR) return false;
  return Boolean(environment.FORCE_COLOR) || (isTerminal && environment.TERM !== "dumb");
}

/** One line without control characters, of bounded length: what others wrote must not steer the terminal. */
export function clean(text: string, most = 240): string {
  const line = text.replace(/\p{Cc}+/gu, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const BORDER_PARTS = [
  ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"],
  ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"],
];
const NO_BORDERS = Object.fromEntries(BORDER_PARTS.map((part) => [part, ""]));
