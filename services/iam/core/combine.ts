// How the answers of several policy types become one decision (spec aws 3.4), and which statement is named for it.
import type { Decision, DecisionReason, Policy, StatementOutcome } from "../types.ts";
import { evaluateStatement, type PrincipalMatch, type Question, strongerMatch } from "./statement.ts";

/** What the policies of one type say together. */
export interface PolicyAnswer {
  readonly deny: StatementOutcome | undefined;
  /** The allowing statement that names the principal most closely. */
  readonly allow: StatementOutcome | undefined;
  readonly principal: PrincipalMatch;
  readonly outcomes: readonly StatementOutcome[];
}

/** The answers of all types; an absent boundary or session policy limits nothing. */
export interface PolicyAnswers {
  readonly identity: PolicyAnswer;
  readonly boundary: PolicyAnswer | undefined;
  readonly session: PolicyAnswer | undefined;
  readonly resource: PolicyAnswer;
  /** The resource is a role: its trust policy must agree even within one account. */
  readonly isTrust: boolean;
  readonly isRoot: boolean;
  readonly sameAccount: boolean;
}

/** Asks every statement of these policies. */
export function evaluatePolicies(policies: readonly Policy[], question: Question): PolicyAnswer {
  const outcomes: StatementOutcome[] = [];
  let deny: StatementOutcome | undefined;
  let allow: StatementOutcome | undefined;
  let named: PrincipalMatch = "none";
  for (const policy of policies) {
    for (const statement of policy.statements) {
      const { outcome, principal } = evaluateStatement(policy, statement, question);
      outcomes.push(outcome);
      if (!outcome.matched) continue;
      if (outcome.effect === "Deny") deny ??= outcome;
      else if (!allow || strongerMatch(principal, named) !== named) {
        allow = outcome;
        named = principal;
      }
    }
  }
  return { deny, allow, principal: named, outcomes };
}

/** The one decision (spec aws 3.4, steps 1 to 5). */
export function decideCombination(answers: PolicyAnswers): Decision {
  const { identity, boundary, session, resource, isTrust, isRoot, sameAccount } = answers;
  const outcomes = [identity, boundary, session, resource].flatMap((answer) => answer?.outcomes ?? []);
  const decide = (reason: DecisionReason, answer: PolicyAnswer) => renderDecision(reason, answer, outcomes);

  if (identity.deny) return decide("explicit-deny-in-identity-policy", identity);
  if (boundary?.deny) return decide("explicit-deny-in-boundary", boundary);
  if (session?.deny) return decide("explicit-deny-in-session-policy", session);
  if (resource.deny)
    return decide(isTrust ? "explicit-deny-in-trust-policy" : "explicit-deny-in-resource-policy", resource);

  const byResource = isTrust ? "allowed-by-trust-policy" : "allowed-by-resource-policy";
  const named = resource.allow ? resource.principal : "none";
  const limit = findLimit(boundary, session);
  // the very session or user is granted access whatever is only not allowed elsewhere
  if (sameAccount && named === "session") return decide(byResource, resource);
  if (sameAccount && !limit && (named === "role" || named === "everyone")) return decide(byResource, resource);

  if (!identity.allow && !isRoot) return decide("no-identity-policy-allows", identity);
  if (limit) return decide(limit.reason, limit.answer);
  if (named === "none" && (isTrust || !sameAccount)) {
    return decide(isTrust ? "no-trust-policy-allows" : "no-resource-policy-allows", resource);
  }
  if (isTrust || !sameAccount) return decide(byResource, resource);
  return isRoot && !identity.allow
    ? renderUndecided("allow", "allowed-as-root", outcomes)
    : decide("allowed-by-identity-policy", identity);
}

/** A decision for this reason; what decided is read off the answer that the reason speaks of. */
export function renderDecision(
  reason: DecisionReason,
  answer: PolicyAnswer,
  outcomes: readonly StatementOutcome[],
): Decision {
  const allowed = reason.startsWith("allowed-");
  const decisive = allowed ? answer.allow : (answer.deny ?? findClosest(answer.outcomes));
  const effect = allowed ? "allow" : "deny";
  if (!decisive) return renderUndecided(effect, reason, outcomes);
  const { policy, statement, because } = decisive;
  return { effect, reason, decidedBy: `${policy}#${statement}`, because, outcomes };
}

const UNDECIDED: Partial<Record<DecisionReason, string>> = {
  "no-such-role": "expected a role that exists, found none of this name",
  "no-such-principal": "expected a caller that still exists, found one that was deleted or recreated",
  "no-resource-policy-allows": "expected a policy of the resource that allows it, found none",
  "no-identity-policy-allows": "expected an identity policy that allows it, found none",
  "allowed-as-root": "the account's root may do everything in it",
};

/** A decision that no statement made. */
export function renderUndecided(
  effect: Decision["effect"],
  reason: DecisionReason,
  outcomes: readonly StatementOutcome[] = [],
): Decision {
  const because = UNDECIDED[reason] ?? "no statement speaks of it";
  return { effect, reason, decidedBy: "no statement", because, outcomes };
}

function findLimit(
  boundary: PolicyAnswer | undefined,
  session: PolicyAnswer | undefined,
): { reason: DecisionReason; answer: PolicyAnswer } | undefined {
  if (boundary && !boundary.allow) return { reason: "no-boundary-allows", answer: boundary };
  if (session && !session.allow) return { reason: "no-session-policy-allows", answer: session };
  return undefined;
}

const ELEMENT_ORDER = ["principal", "action", "resource", "condition", "unknown"];

/** The Allow that came furthest before an element did not match. */
function findClosest(outcomes: readonly StatementOutcome[]): StatementOutcome | undefined {
  const rank = (outcome: StatementOutcome) => ELEMENT_ORDER.indexOf(outcome.failedOn ?? "unknown");
  return outcomes
    .filter((outcome) => outcome.effect === "Allow")
    .reduce<StatementOutcome | undefined>(
      (best, outcome) => (best && rank(best) >= rank(outcome) ? best : outcome),
      undefined,
    );
}
