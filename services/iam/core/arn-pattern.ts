// ARNs against patterns for ARNs (spec aws 3.1, 3.3).
import { matchesTemplate, type VariableLookup } from "./match.ts";

/**
 * Compares ARNs part by part, so that no wildcard reaches across one of the first five colons. `*` alone matches all;
 * an ARN pattern never matches the resource `*`.
 */
export function matchesArn(arn: string, pattern: string, lookup: VariableLookup | undefined): boolean {
  if (pattern === "*") return true;
  // what holds no wildcard and no variable is a name
  if (!/[*?$]/.test(pattern)) return pattern === arn;
  const parts = splitArn(arn);
  const patterns = splitArn(pattern);
  if (!parts || !patterns) return false;
  return parts.every((part, index) => matchesTemplate(part, patterns[index] ?? "", lookup));
}

/** The six parts of an ARN or of a pattern for ARNs; colons inside `${…}` do not count. */
export function splitArn(text: string): readonly string[] | undefined {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length && parts.length < 5; index++) {
    const character = text[index];
    if (character === "{" && text[index - 1] === "$") depth++;
    else if (character === "}" && depth > 0) depth--;
    else if (character === ":" && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  if (parts.length < 5 || parts[0] !== "arn") return undefined;
  return [...parts, text.slice(start)];
}
