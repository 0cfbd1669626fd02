// From what the control API answered to typed values. A stack of another version may answer differently: say so.
import { ConfigurationError } from "../shared/errors.ts";
import type { EventAnswer, PodAnswer } from "./types.ts";

/** The answer as an object whose texts are there. @throws ConfigurationError naming what is missing */
function parseFields(value: unknown, what: string, texts: readonly string[]): Readonly<Record<string, unknown>> {
  const fields: Readonly<Record<string, unknown>> = typeof value === "object" && value !== null ? { ...value } : {};
  const missing = texts.filter((name) => typeof fields[name] !== "string");
  if (missing.length > 0) {
    throw new ConfigurationError(`expected ${what} with ${missing.join(", ")}, the stack answered something else`, {
      hint: "is the stack of the same version as this command?",
    });
  }
  return fields;
}

/** The verdict on a Pod. */
export function parsePodAnswer(value: unknown): PodAnswer {
  const fields = parseFields(value, "a verdict", ["image", "verdict", "reason", "trace"]);
  return { credentials: [], providers: [], ...fields } as unknown as PodAnswer;
}

/** One event of the log. */
export function parseEventAnswer(value: unknown): EventAnswer {
  return parseFields(value, "an event", ["time", "operation"]) as unknown as EventAnswer;
}

/** A list of events: a page of the log, or a trace. */
export function parseEventsAnswer(value: unknown): { events: readonly EventAnswer[]; why?: EventAnswer } {
  const { events, why } = parseFields(value, "events", []);
  const list = Array.isArray(events) ? events.map(parseEventAnswer) : [];
  return { events: list, ...(why ? { why: parseEventAnswer(why) } : {}) };
}

/** The text under `name`. */
export function parseTextAnswer(value: unknown, name: string): string {
  return String(parseFields(value, "an answer", [name])[name]);
}

/** The names in a list of named things under `member`. */
export function parseNamesAnswer(value: unknown, member: string): readonly string[] {
  const list = parseFields(value, "an answer", [])[member];
  return Array.isArray(list) ? list.map((item) => parseTextAnswer(item, "name")) : [];
}
