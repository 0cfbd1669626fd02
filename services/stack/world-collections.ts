// Readers for the lists and maps of a world (see world-texts.ts for how readers work).
import type { Place, Reader } from "./world-place.ts";
import { keepsRule, type TextRule } from "./world-texts.ts";
import { describe, isMap } from "./world-value.ts";

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
      if (key && !keepsRule(key, name)) below.refuseKey(key.expected, describe(name));
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
