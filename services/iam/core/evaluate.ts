// The decision: who may do what, and which statement says so. Pure; every fact comes in as an argument.
import type { AwsPrincipal } from "../../shared/aws/principal.ts";
import type { AccessRequest, Decision, Policy, RequestContext, Role, WebIdentityRequest } from "../types.ts";
import { decideCombination, evaluatePolicies, renderDecision, renderUndecided } from "./combine.ts";
import { createAccessFacts, createTrustFacts } from "./facts.ts";
import type { PrincipalMatch, Question } from "./statement.ts";

/** What the account knows about who asks; all of it is read at the time of the request. */
export interface AccessFacts {
  /** False for a role or user that no longer exists, or that is another one of the same name. */
  readonly known: boolean;
  readonly policies: readonly Policy[];
  readonly boundary?: Policy | undefined;
  /** Undefined without session policies; an empty list allows nothing. */
  readonly sessionPolicies?: readonly Policy[] | undefined;
  /** Tags of the role or user. */
  readonly tags: Readonly<Record<string, string>>;
  /** Keys that hold for every request, such as the time. */
  readonly context?: (() => RequestContext) | undefined;
}

/** Identity, boundary, session and resource policies together (spec aws 3.4). */
export function decideAccess(request: AccessRequest, facts: AccessFacts): Decision {
  const { principal } = request;
  if (!facts.known) return renderUndecided("deny", "no-such-principal");
  const question: Question = {
    action: request.action,
    resource: request.resource,
    principalName: principal.arn,
    matchPrincipal: (pattern) =>
      pattern.type === "AWS" ? matchAwsPrincipal(principal, pattern.value, pattern.boundTo) : "none",
    facts: once(() => createAccessFacts(request, facts)),
  };
  return decideCombination({
    identity: evaluatePolicies(facts.policies, question),
    boundary: facts.boundary && evaluatePolicies([facts.boundary], question),
    session: facts.sessionPolicies && evaluatePolicies(facts.sessionPolicies, question),
    resource: evaluatePolicies(request.resourcePolicy ? [request.resourcePolicy] : [], question),
    isTrust: request.resourcePolicy?.kind === "trust",
    isRoot: principal.kind === "root",
    sameAccount: principal.accountId === request.resourceAccount,
  });
}

/** A web identity against the trust policy of a role; nothing else is consulted (spec aws 3.2). */
export function decideWebIdentity(
  request: WebIdentityRequest,
  facts: { readonly role: Role | undefined; readonly context?: (() => RequestContext) | undefined },
): Decision {
  const { role, context } = facts;
  if (!role) return renderUndecided("deny", "no-such-role");
  const account = role.accountId;
  const questions = request.actions.map(
    (action): Question => ({
      action,
      resource: role.arn,
      principalName: `Federated: ${request.providerArn}`,
      matchPrincipal: ({ type, value }, effect) => {
        // `*` grants nothing to a web identity, but what it denies it denies to all
        if (type === "AWS") return effect === "Deny" && value === "*" ? "everyone" : "none";
        // no provider of another account can be trusted
        const own = request.providerArn.split(":")[4] === account;
        return type === "Federated" && own && value === request.providerArn ? "session" : "none";
      },
      facts: once(() => createTrustFacts(request, role, context?.())),
    }),
  );
  const groups = questions.map((question) => evaluatePolicies([role.trustPolicy], question));
  const outcomes = groups.flatMap((group) => group.outcomes);
  const denied = groups.find((group) => group.deny);
  if (denied) return renderDecision("explicit-deny-in-trust-policy", denied, outcomes);
  const missing = groups.find((group) => !group.allow);
  if (missing) return renderDecision("no-trust-policy-allows", missing, outcomes);
  const [first] = groups;
  if (!first) return renderUndecided("deny", "no-trust-policy-allows", outcomes);
  return renderDecision("allowed-by-trust-policy", first, outcomes);
}

function once<T>(create: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= create();
    return made;
  };
}

/** How closely an AWS principal is named; `boundTo` is the unique id that the ARN stood for when it was written. */
function matchAwsPrincipal(principal: AwsPrincipal, value: string, boundTo: string | undefined): PrincipalMatch {
  if (value === "*") return "everyone";
  if (value === principal.accountId || isRootOf(value, principal.accountId)) return "account";
  if (principal.kind === "root") return "none";
  if (principal.kind === "user") {
    return (value === principal.arn && (boundTo ?? principal.userId) === principal.userId) || value === principal.userId
      ? "session"
      : "none";
  }
  if (value === principal.arn) return "session";
  const isRole = value === principal.roleArn && (boundTo ?? principal.roleId) === principal.roleId;
  return isRole || value === principal.roleId ? "role" : "none";
}

/** `arn:aws:iam::<account>:root`, whatever the partition. */
function isRootOf(value: string, account: string): boolean {
  return value.endsWith(`:iam::${account}:root`) && value.startsWith("arn:");
}
