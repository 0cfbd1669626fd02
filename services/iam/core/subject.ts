// Finds the mistake behind most leaks: a trust policy that does not say whose tokens may come.
import type { Condition, Role, Statement } from "../types.ts";
import { parseOperator } from "./conditions.ts";
import { matchesWildcard } from "./match.ts";

const ACTION = "sts:assumerolewithwebidentity";

/**
 * `trust policy of role/loose has no condition on <provider>:sub`, or that its condition accepts every subject;
 * undefined if each statement that trusts the provider restricts the subject.
 */
export function findMissingSubjectCondition(role: Role, providerArn: string): string | undefined {
  const provider = providerArn.slice(providerArn.indexOf("/") + 1);
  const key = `${provider}:sub`;
  for (const statement of role.trustPolicy.statements.filter((each) => admits(each, providerArn))) {
    const conditions = statement.conditions.filter((each) => each.key.toLowerCase() === key.toLowerCase());
    if (conditions.length === 0) return `trust policy of role/${role.name} has no condition on ${key}`;
    if (!conditions.some(restricts)) {
      const [{ operator = "", values = [] } = {}] = conditions;
      const written = `${operator} ${values.map((value) => `"${value}"`).join(" or ")}`;
      return `trust policy of role/${role.name} accepts every subject: its condition on ${key} is ${written}`;
    }
  }
  return undefined;
}

function admits({ effect, principals = [], actions, notActions }: Statement, providerArn: string): boolean {
  const names = (list: readonly string[]) => list.some((pattern) => matchesWildcard(ACTION, pattern.toLowerCase()));
  return (
    effect === "Allow" &&
    principals.some(({ type, value }) => type === "Federated" && value === providerArn) &&
    (actions ? names(actions) : !names(notActions ?? ["*"]))
  );
}

/** A positive string comparison with something other than bare stars; tokens always have a subject, so IfExists is no gap. */
function restricts({ operator, values }: Condition): boolean {
  const parsed = parseOperator(operator);
  if (!parsed?.base.startsWith("String") || parsed.negated) return false;
  return parsed.base !== "StringLike" || !values.some((value) => /^[*?]*\*[*?]*$/.test(value));
}
