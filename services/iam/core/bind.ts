// Ties the principals of a resource policy to unique ids: a recreated role is another role (spec aws 3.4).
import type { Policy, PrincipalPattern, Statement } from "../types.ts";

/** The policy with `boundTo` set wherever `findId` knows the ARN; the same object if nothing changes. */
export function bindPrincipals(policy: Policy, findId: (arn: string) => string | undefined): Policy {
  const statements = policy.statements.map((statement) => bindStatement(statement, findId));
  const changed = statements.some((statement, index) => statement !== policy.statements[index]);
  return changed ? { ...policy, statements } : policy;
}

function bindStatement(statement: Statement, findId: (arn: string) => string | undefined): Statement {
  // a policy that is stored again keeps what it was tied to
  const open = ({ type, value, boundTo }: PrincipalPattern) =>
    boundTo === undefined && type === "AWS" && /:(role|user)\//.test(value);
  if (!statement.principals?.some((pattern) => open(pattern) && findId(pattern.value) !== undefined)) return statement;
  const principals = statement.principals.map((pattern) => {
    const id = open(pattern) ? findId(pattern.value) : undefined;
    return id === undefined ? pattern : { ...pattern, boundTo: id };
  });
  return { ...statement, principals };
}
