// Reads the members of a JSON call and refuses what breaks a constraint of the service model (spec aws 4.3, 4.4).
import { EcrError } from "../errors.ts";
import { UNVERIFIED_TEXTS } from "./unverified.ts";

export type Input = Readonly<Record<string, unknown>>;

/** What a text must satisfy; the pattern is anchored at both ends. */
export interface TextConstraint {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly oneOf?: readonly string[];
}

/** `Invalid parameter at '<name>' failed to satisfy constraint: '<text>'` */
export function invalidParameter(name: string, text: string, cause?: unknown): EcrError {
  const message = `Invalid parameter at '${name}' failed to satisfy constraint: '${text}'`;
  return new EcrError("InvalidParameterException", message, { cause });
}

/** A text that may be left out. @throws EcrError */
export function readText(input: Input, name: string, constraint: TextConstraint = {}): string | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw wrongType(name, "a string");
  checkText(name, value, constraint);
  return value;
}

/** A text that must be there. @throws EcrError */
export function readRequiredText(input: Input, name: string, constraint: TextConstraint = {}): string {
  const value = readText(input, name, constraint);
  if (value === undefined) throw invalidParameter(name, UNVERIFIED_TEXTS.missingMember);
  return value;
}

/** A list of texts that may be left out; each satisfies `constraint`, the list has 1 to `limit` members. @throws EcrError */
export function readTexts(
  input: Input,
  name: string,
  rules: { readonly limit: number; readonly constraint: TextConstraint },
): readonly string[] | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw wrongType(name, "a list");
  const texts = value.map((entry: unknown) => {
    if (typeof entry !== "string") throw wrongType(name, "a list of strings");
    checkText(name, entry, rules.constraint);
    return entry;
  });
  if (texts.length < 1) throw invalidParameter(name, UNVERIFIED_TEXTS.tooShort(1));
  if (texts.length > rules.limit) throw invalidParameter(name, UNVERIFIED_TEXTS.tooLong(rules.limit));
  return texts;
}

function checkText(name: string, value: string, constraint: TextConstraint): void {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, oneOf } = constraint;
  if (value.length < minLength) throw invalidParameter(name, UNVERIFIED_TEXTS.tooShort(minLength));
  if (value.length > maxLength) throw invalidParameter(name, UNVERIFIED_TEXTS.tooLong(maxLength));
  if (oneOf && !oneOf.includes(value)) throw invalidParameter(name, UNVERIFIED_TEXTS.notOneOf(oneOf));
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`).test(value)) {
    throw invalidParameter(name, UNVERIFIED_TEXTS.pattern(pattern));
  }
}

function wrongType(name: string, expected: string): EcrError {
  return new EcrError("SerializationException", UNVERIFIED_TEXTS.wrongType(name, expected));
}
