// Parameter constraints and the one message that names all of them that are broken (spec aws 2.3, row 1).
import { StsError } from "../errors.ts";
import { UNVERIFIED_TEXTS } from "./unverified.ts";

/** What one member must satisfy; lengths in UTF-16 units, as the service counts. */
export interface Constraint {
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** As the message prints it; anchored at both ends when tested. */
  readonly pattern?: string;
  /** An integer within these bounds. */
  readonly range?: readonly [minimum: number, maximum: number];
  /** The value never appears in the message. */
  readonly sensitive?: boolean;
}

/** One member that was given or left out; `name` as the message prints it, `roleSessionName`. */
export interface Member {
  readonly name: string;
  readonly value: string | undefined;
  readonly constraint: Constraint;
}

/**
 * Checks all members in order and refuses with all that is wrong at once.
 * @throws StsError `invalid-parameter`
 */
export function checkMembers(members: readonly Member[]): void {
  const problems = members.flatMap(listProblems);
  if (problems.length === 0) return;
  const noun = problems.length === 1 ? "error" : "errors";
  throw new StsError("invalid-parameter", `${problems.length} validation ${noun} detected: ${problems.join("; ")}`);
}

function listProblems(member: Member): string[] {
  const { name, value, constraint } = member;
  if (value === undefined) {
    return constraint.required ? [`Value at '${name}' failed to satisfy constraint: Member must not be null`] : [];
  }
  const subject = constraint.sensitive ? `Value at '${name}'` : `Value '${value}' at '${name}'`;
  return listBroken(value, constraint).map((text) => `${subject} failed to satisfy constraint: ${text}`);
}

function listBroken(value: string, constraint: Constraint): string[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, range } = constraint;
  const broken: string[] = [];
  if (value.length > maxLength) broken.push(`Member must have length less than or equal to ${maxLength}`);
  if (value.length < minLength) broken.push(`Member must have length greater than or equal to ${minLength}`);
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`, "u").test(value)) {
    broken.push(`Member must satisfy regular expression pattern: ${pattern}`);
  }
  if (range) broken.push(...listOutside(value, range));
  return broken;
}

function listOutside(value: string, [minimum, maximum]: readonly [number, number]): string[] {
  if (!/^-?\d{1,15}$/.test(value)) return [UNVERIFIED_TEXTS.notAnInteger];
  const number = Number(value);
  if (number > maximum) return [`Member must have value less than or equal to ${maximum}`];
  return number < minimum ? [`Member must have value greater than or equal to ${minimum}`] : [];
}
