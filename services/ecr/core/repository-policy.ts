// Repository policies: whom they name, and what those names stood for when the policy was set (spec aws 3.4, 4.3).
import type { PolicyStatement, ResourcePolicy } from "../types.ts";

/** Finds the unique id of the role or user with this ARN, or says that an account exists. */
export interface PrincipalDirectory {
  /** `AROA…` or `AIDA…`; undefined if there is none. */
  findUniqueId(arn: string): string | undefined;
  hasAccount(id: string): boolean;
}

/**
 * Ties every role and user that a policy names to its unique id, so that one deleted and made anew is not meant.
 * @returns the policy to store, or the first principal that does not exist
 */
export function bindPrincipals(
  policy: ResourcePolicy,
  directory: PrincipalDirectory,
): { readonly policy: ResourcePolicy } | { readonly unknown: string } {
  const statements: PolicyStatement[] = [];
  for (const statement of policy.statements) {
    const principals = [];
    for (const principal of statement.principals ?? []) {
      const bound = principal.type === "AWS" ? bind(principal.value, directory) : {};
      if (!bound) return { unknown: principal.value };
      principals.push({ ...principal, ...bound });
    }
    statements.push(statement.principals ? { ...statement, principals } : statement);
  }
  return { policy: { ...policy, statements } };
}

/** Undefined for a principal that does not exist. */
function bind(value: string, directory: PrincipalDirectory): { boundTo?: string } | undefined {
  if (value === "*" || /^A(?:RO|ID)A[A-Z2-7]{17}$/.test(value)) return {};
  const account = /^\d{12}$/.exec(value)?.[0] ?? /^arn:[\w-]+:iam::(\d{12}):root$/.exec(value)?.[1];
  if (account !== undefined) return directory.hasAccount(account) ? {} : undefined;
  // A session is named before it exists: only its account can be checked.
  const session = /^arn:[\w-]+:sts::(\d{12}):assumed-role\/.+$/.exec(value)?.[1];
  if (session !== undefined) return directory.hasAccount(session) ? {} : undefined;
  const boundTo = directory.findUniqueId(value);
  return boundTo === undefined ? undefined : { boundTo };
}
