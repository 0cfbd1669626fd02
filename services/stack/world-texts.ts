// Readers for the texts of a world: each returns the typed value, or notes a mistake and returns a stand-in (the world is
// thrown away then, but reading goes on so that all mistakes are found at once).
import type { Reader } from "./world-place.ts";
import { describe } from "./world-value.ts";

/** What a text must look like. */
export interface TextRule {
  readonly expected: string;
  readonly test: RegExp | ((text: string) => boolean);
  /** Most characters; checked first, so that no pattern meets a text without end. */
  readonly maximum?: number;
}

const ANY_TEXT: TextRule = { expected: "text", test: /./s };

/** Text that keeps a rule. A number or boolean is never taken for text: YAML's 010 and 1.10 are not what was written. */
export function text(rule: TextRule = ANY_TEXT): Reader<string> {
  return (place) => {
    const { value } = place;
    if (typeof value === "number" || typeof value === "boolean") {
      place.refuse(rule.expected, `${describe(value)} (put it in quotes)`);
    } else if (typeof value !== "string" || !keepsRule(rule, value)) {
      place.refuse(rule.expected);
    } else {
      return value;
    }
    return "";
  };
}

/** Whether a text keeps a rule. */
export function keepsRule(rule: TextRule, value: string): boolean {
  if (rule.maximum !== undefined && value.length > rule.maximum) return false;
  return rule.test instanceof RegExp ? rule.test.test(value) : rule.test(value);
}

/** Text that never appears in a message. */
export function secretText(rule: TextRule): Reader<string> {
  return (place) => {
    const { value } = place;
    if (typeof value === "string" && keepsRule(rule, value)) return value;
    place.refuse(rule.expected, typeof value === "string" ? `${value.length} characters (not shown)` : kindOf(value));
    return "";
  };
}

function kindOf(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? `a ${typeof value}` : describe(value);
}

/** One of a closed set of words. */
export function oneOf<const T extends string>(...words: readonly [T, ...T[]]): Reader<T> {
  return (place) => {
    const found = words.find((word) => word === place.value);
    if (found !== undefined) return found;
    const expected = words.length === 1 ? JSON.stringify(words[0]) : `one of ${words.join(", ")}`;
    const quote = typeof place.value === "number" && words.some((word) => Number(word) === place.value);
    place.refuse(expected, quote ? `${describe(place.value)} (put it in quotes)` : describe(place.value));
    return words[0];
  };
}
