// Maps with a closed set of keys: every key that is not named here is a mistake.
import type { Place, Reader } from "./world-place.ts";
import { isMap } from "./world-value.ts";

/** One key of a map: how it is read, and what stands for it when it is absent. */
export interface Field<T> {
  readonly read: Reader<T>;
  readonly required: boolean;
  readonly fallback: T | undefined;
}

/** A key that must be there. */
export function required<T>(read: Reader<T>): Field<T> {
  return { read, required: true, fallback: undefined };
}

/** A key that may be absent; then its value is the fallback. */
export function optional<T, F>(read: Reader<T>, fallback: F): Field<T | F> {
  return { read, required: false, fallback };
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValuesOf<S extends Fields> = { readonly [K in keyof S]: S[K] extends Field<infer T> ? T : never };

/**
 * Reads a map with exactly these keys. Absent keys give their fallback; an explicit `null` does not count as absent.
 */
export function readFields<S extends Fields>(place: Place, fields: S): ValuesOf<S> {
  const known = isMap(place.value);
  if (!known) place.refuse("a map");
  const from = known ? place : place.silent();
  const present = isMap(from.value) ? Object.keys(from.value) : [];
  const names = Object.keys(fields);
  for (const key of present) {
    if (!Object.hasOwn(fields, key))
      from.at(key).refuseKey(expectedKeys(key, names), `the unknown key ${JSON.stringify(key)}`);
  }
  const values = Object.entries(fields).map(([name, field]) => {
    const below = from.at(name);
    if (below.value !== undefined) return [name, field.read(below)];
    if (!field.required) return [name, field.fallback];
    below.refuse(`the key ${name}`, "nothing");
    return [name, field.read(below.silent())];
  });
  // The one place where the table's types and the values read by it are joined.
  return Object.fromEntries(values) as ValuesOf<S>;
}

function expectedKeys(key: string, names: readonly string[]): string {
  const near = names.find((name) => isNear(key.toLowerCase(), name.toLowerCase()));
  return near ? `${near} (one of ${names.join(", ")})` : `one of ${names.join(", ")}`;
}

/** Same text, or one letter added, left out or changed. */
function isNear(left: string, right: string): boolean {
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  let end = 0;
  const shorter = Math.min(left.length, right.length) - start;
  while (end < shorter && left.at(-1 - end) === right.at(-1 - end)) end++;
  return Math.max(left.length, right.length) - start - end <= 1;
}
