// Readers for the pieces of a world: each returns the typed value, or notes a mistake and returns a stand-in
// (the world is thrown away then, but reading goes on so that all mistakes are found at once).
import { describe, isMap, type Place } from "./world-place.ts";

export type Reader<T> = (place: Place) => T;

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
    } else if (typeof value !== "string" || !keeps(rule, value)) {
      place.refuse(rule.expected);
    } else {
      return value;
    }
    return "";
  };
}

function keeps(rule: TextRule, value: string): boolean {
  if (rule.maximum !== undefined && value.length > rule.maximum) return false;
  return rule.test instanceof RegExp ? rule.test.test(value) : rule.test(value);
}

/** Text that never appears in a message. */
export function secretText(rule: TextRule): Reader<string> {
  return (place) => {
    const { value } = place;
    if (typeof value === "string" && keeps(rule, value)) return value;
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

/** A whole number within bounds, both included. */
export function whole(from: number, to: number): Reader<number> {
  return (place) => {
    const { value } = place;
    if (typeof value === "number" && Number.isInteger(value) && value >= from && value <= to) return value;
    place.refuse(from === to ? `the number ${from}` : `a whole number from ${from} to ${to}`);
    return from;
  };
}

export const flag: Reader<boolean> = (place) => {
  if (typeof place.value === "boolean") return place.value;
  place.refuse("true or false");
  return false;
};

/** Any map, as it stands. */
export const anyMap: Reader<Readonly<Record<string, unknown>>> = (place) => {
  if (isMap(place.value)) return place.value;
  place.refuse("a map");
  return {};
};

/** A list of such values. */
export function list<T>(read: Reader<T>, size: { expected: string; from?: number; to?: number } = LIST): Reader<T[]> {
  return (place) => {
    const { value } = place;
    if (
      !Array.isArray(value) ||
      value.length < (size.from ?? 0) ||
      value.length > (size.to ?? Number.MAX_SAFE_INTEGER)
    ) {
      place.refuse(size.expected);
      return [];
    }
    return value.map((_, index) => read(place.at(index)));
  };
}

const LIST = { expected: "a list" };

/** A map from names to such values; the order of the file is kept. */
export function record<T>(read: Reader<T>, key?: TextRule): Reader<Record<string, T>> {
  return (place) => {
    if (!isMap(place.value)) {
      place.refuse("a map");
      return {};
    }
    const entries = Object.keys(place.value).map((name): [string, T] => {
      const below = place.at(name);
      if (key && !keeps(key, name)) below.refuseKey(key.expected, describe(name));
      return [name, read(below)];
    });
    return Object.fromEntries(entries);
  };
}

/** Refuses every value of a list that was there before; `of` tells what must differ (nothing: not comparable). */
export function distinct<T>(read: Reader<T[]>, what: string, of: (item: T, at: Place) => string): Reader<T[]> {
  return (place) => {
    const items = read(place);
    const seen = new Set<string>();
    for (const [index, item] of items.entries()) {
      const name = of(item, place.at(index));
      if (name !== "" && seen.has(name)) place.at(index).refuse(`each ${what} once`, `a second ${describe(name)}`);
      seen.add(name);
    }
    return items;
  };
}
