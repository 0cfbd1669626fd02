// What the readers of a document share: where they are, how they report, how they read lists.
import type { PolicyKind } from "../types.ts";

/** Keys and indexes from the root of the document. */
export type Path = readonly (string | number)[];

/** What the readers know about the document that they are in. */
export interface ElementReader {
  readonly kind: PolicyKind;
  /** True where `${…}` is a policy variable: documents of 2012. */
  readonly variables: boolean;
  readonly report: (path: Path, message: string) => void;
}

/** How a wrong value is shown: short, and never more than its first characters. */
export function renderFound(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return JSON.stringify(typeof value === "string" ? value.slice(0, 80) : value);
}

/** A string or a list of strings; numbers and booleans count as their text in conditions only by being written so. */
export function readStrings(value: unknown, path: Path, report: ElementReader["report"]): { text: string; at: Path }[] {
  const inCondition = path.includes("Condition");
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (items.length === 0) report(path, "expected at least one value, found an empty list");
  return items.flatMap((item, index) => {
    const at = Array.isArray(value) ? [...path, index] : path;
    if (typeof item === "string" && (item !== "" || inCondition)) return [{ text: item, at }];
    if (inCondition && (typeof item === "number" || typeof item === "boolean")) return [{ text: String(item), at }];
    report(at, `expected a string, found ${renderFound(item)}`);
    return [];
  });
}

const KIND_NAMES: Readonly<Record<PolicyKind, string>> = {
  trust: "a trust policy",
  identity: "an identity policy",
  boundary: "a permissions boundary",
  session: "a session policy",
  resource: "a resource policy",
};

/** What a kind of policy is called in messages. */
export function renderKind(kind: PolicyKind): string {
  return KIND_NAMES[kind];
}
