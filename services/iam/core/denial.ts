// The sentences with which AWS says no (spec aws 3.5).
import type { Decision, DecisionReason } from "../types.ts";

/** What follows the plain denial, per reason; trust policies are never spoken of. */
const BECAUSE: Readonly<Partial<Record<DecisionReason, (action: string) => string>>> = {
  "no-identity-policy-allows": implicit("identity-based policy"),
  "no-boundary-allows": implicit("permissions boundary"),
  "no-session-policy-allows": implicit("session policy"),
  "no-resource-policy-allows": implicit("resource-based policy"),
  "no-such-principal": implicit("identity-based policy"),
  "explicit-deny-in-identity-policy": () => " with an explicit deny in an identity-based policy",
  "explicit-deny-in-boundary": () => " with an explicit deny in a permissions boundary",
  "explicit-deny-in-session-policy": () => " with an explicit deny in a session policy",
  "explicit-deny-in-resource-policy": () => " with an explicit deny in a resource-based policy",
};

function implicit(policy: string): (action: string) => string {
  return (action) => ` because no ${policy} allows the ${action} action`;
}

/** The message of a denial; `principalArn` is the session's ARN for an assumed role, `resource` an ARN or `*`. */
export function renderDenial(
  decision: Decision,
  asked: { readonly principalArn: string; readonly action: string; readonly resource: string },
): string {
  const { principalArn, action, resource } = asked;
  const plain = `User: ${principalArn} is not authorized to perform: ${action} on resource: ${resource}`;
  return plain + (BECAUSE[decision.reason]?.(action) ?? "");
}
