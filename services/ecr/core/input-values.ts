// The members that are neither texts nor lists of texts: numbers, switches, structures and resource tags.
import { EcrError } from "../errors.ts";
import { type Input, invalidParameter, readRequiredText } from "./input.ts";
import { UNVERIFIED_TEXTS } from "./unverified.ts";

const MOST_TAGS = 50;

/** A whole number within bounds, or undefined if left out. @throws EcrError */
export function readInteger(input: Input, name: string, bounds: readonly [number, number]): number | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrongType(name, "an integer");
  const [minimum, maximum] = bounds;
  if (value < minimum) throw invalidParameter(name, UNVERIFIED_TEXTS.tooSmall(minimum));
  if (value > maximum) throw invalidParameter(name, UNVERIFIED_TEXTS.tooLarge(maximum));
  return value;
}

/** A switch; false if left out. @throws EcrError */
export function readFlag(input: Input, name: string): boolean {
  const value = input[name] ?? false;
  if (typeof value !== "boolean") throw wrongType(name, "a boolean");
  return value;
}

/** A structure; empty if left out. @throws EcrError */
export function readStructure(input: Input, name: string): Input {
  const value = input[name] ?? {};
  if (!isStructure(value)) throw wrongType(name, "a structure");
  return value;
}

/** A list of structures; empty if left out. @throws EcrError */
export function readStructures(input: Input, name: string): readonly Input[] {
  const value = input[name] ?? [];
  if (!Array.isArray(value) || !value.every(isStructure)) throw wrongType(name, "a list of structures");
  return value;
}

/** Resource tags `[{Key, Value}]` as a record, on top of those there already. @throws EcrError */
export function readTags(
  input: Input,
  present: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const given = readStructures(input, "tags").map((tag): [string, string] => {
    const key = readRequiredText(tag, "Key", { minLength: 1, maxLength: 128 });
    if (key.toLowerCase().startsWith("aws:")) {
      throw new EcrError("InvalidTagParameterException", UNVERIFIED_TEXTS.reservedTag);
    }
    return [key, readRequiredText(tag, "Value", { maxLength: 256 })];
  });
  const tags = Object.fromEntries([...Object.entries(present), ...given]);
  if (Object.keys(tags).length > MOST_TAGS) throw new EcrError("TooManyTagsException", UNVERIFIED_TEXTS.tooManyTags);
  return tags;
}

function isStructure(value: unknown): value is Input {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrongType(name: string, expected: string): EcrError {
  return new EcrError("SerializationException", UNVERIFIED_TEXTS.wrongType(name, expected));
}
