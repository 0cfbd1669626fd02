// Whom a repository policy names, and whether they all exist (spec aws 4.3).
import type { ResourcePolicy } from "../types.ts";

/** What must be known about the identities of the world. */
export interface PrincipalDirectory {
  hasAccount(id: string): boolean;
  /** True for the ARN of a role or user. */
  hasIdentity(arn: string): boolean;
}

/** The first principal of the policy that does not exist, or undefined if all do. */
export function findUnknownPrincipal(policy: ResourcePolicy, directory: PrincipalDirectory): string | undefined {
  const named = policy.statements.flatMap(({ principals = [] }) => principals);
  return named.find(({ type, value }) => type === "AWS" && !exists(value, directory))?.value;
}

function exists(value: string, directory: PrincipalDirectory): boolean {
  // Unique ids stay in a policy after their role has gone.
  if (value === "*" || /^A(?:RO|ID)A[A-Z2-7]{17}$/.test(value)) return true;
  // A session is named before it exists: only its account can be checked.
  const account =
    /^\d{12}$/.exec(value)?.[0] ??
    /^arn:[\w-]+:iam::(\d{12}):root$/.exec(value)?.[1] ??
    /^arn:[\w-]+:sts::(\d{12}):assumed-role\/.+$/.exec(value)?.[1];
  return account === undefined ? directory.hasIdentity(value) : directory.hasAccount(account);
}
