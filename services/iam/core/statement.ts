// One statement against one question: it matches, or says which element did not and why. Fails closed.
import type { Policy, PrincipalPattern, Statement, StatementOutcome } from "../types.ts";
import { matchesArn } from "./arn-pattern.ts";
import { type ConditionFacts, evaluateCondition } from "./conditions.ts";
import { matchesWildcard, type VariableLookup } from "./match.ts";

/**
 * How closely a principal was named, in rising order (spec aws 3.4): `account` only delegates, `everyone` is `*`,
 * `role` stands for each of its sessions, `session` is the very session or user.
 */
export type PrincipalMatch = "none" | "account" | "everyone" | "role" | "session";

/** What is asked of every statement. */
export interface Question {
  readonly action: string;
  /** An ARN or `*`. */
  readonly resource: string;
  /** What the asker is called where a principal does not match. */
  readonly principalName: string;
  /** How a pattern names the asker. */
  matchPrincipal(pattern: PrincipalPattern, effect: "Allow" | "Deny"): PrincipalMatch;
  /** Read only where a condition or a variable asks for it: most requests meet none. */
  readonly facts: () => ConditionFacts;
}

export interface StatementResult {
  readonly outcome: StatementOutcome;
  /** `none` where the policy has no principals or they do not match. */
  readonly principal: PrincipalMatch;
}

const STRENGTH: readonly PrincipalMatch[] = ["none", "account", "everyone", "role", "session"];

/** The closer of two ways of being named. */
export function strongerMatch(a: PrincipalMatch, b: PrincipalMatch): PrincipalMatch {
  return STRENGTH.indexOf(a) >= STRENGTH.indexOf(b) ? a : b;
}

/** Decides one statement; the first element that does not match is the one named. */
export function evaluateStatement(policy: Policy, statement: Statement, question: Question): StatementResult {
  const principal = namePrincipal(statement, question);
  const failure =
    findUnknown(statement) ??
    findPrincipalFailure(policy, statement, { question, principal }) ??
    findActionFailure(statement, question) ??
    findResourceFailure(policy, statement, question) ??
    findConditionFailure(policy, statement, question);
  const outcome: StatementOutcome = {
    policy: policy.name,
    policyKind: policy.kind,
    statement: statement.id,
    effect: statement.effect,
    matched: failure?.matched ?? !failure,
    ...(failure ? { failedOn: failure.on } : {}),
    because: failure?.because ?? "every element matches",
  };
  return { outcome, principal };
}

interface Failure {
  readonly on: NonNullable<StatementOutcome["failedOn"]>;
  readonly because: string;
  /** True where failing closed makes a Deny match. */
  readonly matched?: boolean;
}

function findUnknown(statement: Statement): Failure | undefined {
  if (statement.unknown.length === 0) return undefined;
  const because = `${statement.unknown.join(", ")} is not known to this evaluator: fails closed`;
  return { on: "unknown", because, matched: statement.effect === "Deny" };
}

function namePrincipal(statement: Statement, question: Question): PrincipalMatch {
  return (statement.principals ?? [])
    .map((pattern) => question.matchPrincipal(pattern, statement.effect))
    .reduce(strongerMatch, "none");
}

function findPrincipalFailure(
  policy: Policy,
  statement: Statement,
  { question, principal }: { question: Question; principal: PrincipalMatch },
): Failure | undefined {
  const needed = policy.kind === "trust" || policy.kind === "resource";
  if (!needed || principal !== "none") return undefined;
  const named = (statement.principals ?? []).map(renderPrincipal);
  return { on: "principal", because: `principal: ${expectedAndFound(named, question.principalName)}` };
}

function renderPrincipal({ type, value, boundTo }: PrincipalPattern): string {
  const bound = boundTo === undefined ? "" : ` (${boundTo})`;
  return type === "AWS" ? value + bound : `${type}: ${value}`;
}

function findActionFailure({ actions, notActions }: Statement, { action }: Question): Failure | undefined {
  const asked = action.toLowerCase();
  const names = (list: readonly string[]) => list.some((pattern) => matchesWildcard(asked, pattern.toLowerCase()));
  const expected = actions ?? notActions ?? [];
  if (actions ? names(actions) : notActions !== undefined && !names(notActions)) return undefined;
  return { on: "action", because: `action: ${expectedAndFound(expected, action, notActions !== undefined)}` };
}

function findResourceFailure(policy: Policy, statement: Statement, question: Question): Failure | undefined {
  const { resources, notResources } = statement;
  // a policy that is attached to its resource need not name it
  const implied = policy.kind === "trust" || policy.kind === "resource";
  if (!resources && !notResources && implied) return undefined;
  const lookup = lookupFor(policy, question);
  const names = (list: readonly string[]) => list.some((pattern) => matchesArn(question.resource, pattern, lookup));
  if (resources ? names(resources) : notResources !== undefined && !names(notResources)) return undefined;
  const expected = resources ?? notResources ?? [];
  const because = `resource: ${expectedAndFound(expected, question.resource, notResources !== undefined)}`;
  return { on: "resource", because };
}

function findConditionFailure(policy: Policy, statement: Statement, question: Question): Failure | undefined {
  const lookup = lookupFor(policy, question);
  let closed: Failure | undefined;
  for (const condition of statement.conditions) {
    const { result, because } = evaluateCondition(condition, question.facts(), lookup);
    if (result === "no-match") return { on: "condition", because };
    if (result === "unknown") closed ??= { on: "unknown", because, matched: statement.effect === "Deny" };
  }
  return closed;
}

/** Policy variables exist since version 2012-10-17 and stand for keys with one value. */
function lookupFor(policy: Policy, { facts }: Question): VariableLookup | undefined {
  if (policy.version !== "2012-10-17") return undefined;
  return (key) => {
    const values = facts().get(key);
    return values?.length === 1 ? values[0] : undefined;
  };
}

function expectedAndFound(expected: readonly string[], found: string, negated = false): string {
  const list = expected.map((item) => `"${item}"`).join(" or ");
  return `expected ${negated ? "anything but " : ""}${list === "" ? "nothing" : list}, found "${found}"`;
}
