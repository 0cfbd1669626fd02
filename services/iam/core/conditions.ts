// Condition operators: a table of facts, and how prefix, suffix, absence and several values combine (spec aws 3.3).
import type { Condition, RequestContext } from "../types.ts";
import { COMPARISONS, type Comparison, isArnPattern } from "./comparisons.ts";
import type { VariableLookup } from "./match.ts";

/** The request's keys by lower-case name. */
export type ConditionFacts = ReadonlyMap<string, readonly string[]>;

/** `unknown` fails closed: no match for an Allow, a match for a Deny. */
interface ConditionResult {
  readonly result: "match" | "no-match" | "unknown";
  /** Expected and found, for the eyes of whoever reads the decision. */
  readonly because: string;
}

/** An operator taken apart: `ForAnyValue:StringNotLikeIfExists`. */
interface ParsedOperator {
  readonly set: "all" | "any" | undefined;
  readonly base: string;
  readonly negated: boolean;
  readonly ifExists: boolean;
  readonly comparison: Comparison | "null";
}

const OPERATOR = /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/;

/** Undefined for an operator that this evaluator does not know; spelling counts. */
export function parseOperator(operator: string): ParsedOperator | undefined {
  const match = OPERATOR.exec(operator);
  if (!match) return undefined;
  const [, prefix, base = "", suffix] = match;
  const set = prefix === "ForAllValues" ? "all" : prefix === "ForAnyValue" ? "any" : undefined;
  if (base === "Null") {
    return set || suffix ? undefined : { set, base, negated: false, ifExists: false, comparison: "null" };
  }
  const fact = COMPARISONS.get(base);
  if (!fact) return undefined;
  return { set, base, negated: fact.negated, ifExists: suffix !== undefined, comparison: fact.comparison };
}

/** Keys by lower-case name; where two spellings of a key are given the later one counts. */
export function createConditionFacts(...contexts: readonly (RequestContext | undefined)[]): ConditionFacts {
  const facts = new Map<string, readonly string[]>();
  for (const context of contexts) {
    for (const [key, value] of Object.entries(context ?? {})) {
      facts.set(key.toLowerCase(), typeof value === "string" ? [value] : value);
    }
  }
  return facts;
}

/** Decides one condition. `lookup` is undefined where the document's version has no variables. */
export function evaluateCondition(
  condition: Condition,
  facts: ConditionFacts,
  lookup: VariableLookup | undefined,
): ConditionResult {
  const operator = parseOperator(condition.operator);
  if (!operator) {
    return { result: "unknown", because: `condition operator ${condition.operator} is not known: fails closed` };
  }
  const found = facts.get(condition.key.toLowerCase()) ?? [];
  const result = compareAll(operator, { condition, found, lookup });
  const seen = found.length === 0 ? "no such key" : found.map((value) => `"${value}"`).join(", ");
  const expected = condition.values.map((value) => `"${value}"`).join(" or ");
  const wish = operator.negated ? `anything but ${expected}` : expected;
  return {
    result: result === undefined ? "unknown" : result ? "match" : "no-match",
    because: `condition ${condition.operator} on ${condition.key}: expected ${wish}, found ${seen}`,
  };
}

interface Compared {
  readonly condition: Condition;
  readonly found: readonly string[];
  readonly lookup: VariableLookup | undefined;
}

/** Undefined if a value cannot be compared at all. */
function compareAll(operator: ParsedOperator, { condition, found, lookup }: Compared): boolean | undefined {
  const { comparison, set, negated, ifExists } = operator;
  if (comparison === "null")
    return condition.values.some((value) => (value.toLowerCase() === "true") === (found.length === 0));
  if (found.length === 0) {
    if (ifExists || set === "all") return true;
    return set === "any" ? false : negated;
  }
  const results = found.map((value) => {
    const matches = condition.values.map((pattern) => comparison(value, pattern, lookup));
    if (matches.includes(undefined)) return undefined;
    return matches.includes(true) !== negated;
  });
  if (results.includes(undefined)) return undefined;
  // a key with several values and no set operator counts like ForAnyValue (UNVERIFIED, spec aws 3.3)
  return set === "all" ? !results.includes(false) : results.includes(true);
}

/** Why a value cannot stand under this operator; undefined if it can. */
export function findValueProblem(operator: ParsedOperator, value: string): string | undefined {
  if (operator.base === "Null" || operator.base === "Bool") {
    return /^(true|false)$/i.test(value) ? undefined : `expected "true" or "false", found "${value}"`;
  }
  if (operator.base.startsWith("Arn")) {
    return isArnPattern(value) ? undefined : `expected an ARN of six parts, wildcards allowed, found "${value}"`;
  }
  if (operator.base.startsWith("String") || operator.comparison === "null") return undefined;
  // what cannot be compared with itself is no value of this type
  const probe = operator.base.endsWith("IpAddress") ? value.replace(/\/\d+$/, "") : value;
  return operator.comparison(probe, value, undefined) === undefined
    ? `expected a value for ${operator.base}, found "${value}"`
    : undefined;
}
