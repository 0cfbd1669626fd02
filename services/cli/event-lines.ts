// Events as lines for people. Pure.
import { clean, type Output } from "./output.ts";
import type { EventAnswer } from "./types.ts";

export const EVENT_HEAD = ["TIME", "OPERATION", "DECISION", "STATUS", "REASON", "WHO", "WHAT", "DECIDED BY"] as const;

/** Enough for an ARN; JSON has the whole text. */
const CELL_CHARACTERS = 100;

/** One row of a table of events. */
export function renderEventRow(event: EventAnswer, paint: Output["paint"]): string[] {
  const { time, operation, decision, status, reason, principal, resource, decidedBy } = event;
  const cells = [time.slice(11, 23), operation, decision, String(status), reason, principal, resource, decidedBy];
  const [at = "", what = "", decided = "", ...rest] = cells.map((cell) => clean(cell ?? "", CELL_CHARACTERS));
  return [at, what, paintDecision(decided, paint), ...rest];
}

/** One line of a stream of events. */
export function renderEventLine(event: EventAnswer, paint: Output["paint"]): string {
  return renderEventRow(event, paint)
    .filter((cell) => cell !== "")
    .join("  ");
}

/** Allowed and good in green, denied in red, leaked in yellow. */
export function paintDecision(word: string, paint: Output["paint"]): string {
  if (["allow", "pulled", "present"].includes(word)) return paint.green(word);
  if (["deny", "denied"].includes(word)) return paint.red(word);
  return word === "leaked" ? paint.yellow(word) : word;
}
