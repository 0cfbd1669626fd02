// Reading members out of JSON of unknown shape; what is not there, or is something else, reads as empty.

import type { JsonObject } from "../types.ts";

/** True for a JSON object: not null, no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at this path, or an empty one. */
export function objectAt(value: unknown, ...path: string[]): JsonObject {
  let here: unknown = value;
  for (const key of path) here = isObject(here) ? here[key] : undefined;
  return isObject(here) ? here : {};
}

/** The objects in the list at `key`; other elements are left out. */
export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  const list = value[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The text at `key`, or the empty one. */
export function textAt(value: JsonObject, key: string): string {
  const text = value[key];
  return typeof text === "string" ? text : "";
}

/** The texts in the list at `key`; other elements are left out. */
export function textsAt(value: JsonObject, key: string): readonly string[] {
  const list = value[key];
  return Array.isArray(list) ? list.filter((element) => typeof element === "string") : [];
}
