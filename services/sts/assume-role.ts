// AssumeRole: a signed principal asks for a role (spec aws 2.5, 3.4).
import type { Iam, Role } from "../iam/index.ts";
import { parseRoleArn } from "../shared/aws/arn.ts";
import type { Clock } from "../shared/clock.ts";
import { createCallContext, createSessionContext, listExtraActions } from "./core/assume-role.ts";
import { type AssumeRoleParameters, parseAssumeRoleParameters } from "./core/parameters.ts";
import { UNVERIFIED_TEXTS } from "./core/unverified.ts";
import { StsError } from "./errors.ts";
import { checkSession, type SessionMint } from "./mint.ts";
import type { PolicyContext, RoleSession, SignedBy, StsCall } from "./types.ts";

export interface AssumeRoleDeps {
  readonly iam: Iam;
  readonly clock: Clock;
  readonly mint: SessionMint;
}

/** How long a session may last that was made with another session. */
const CHAINED_SECONDS = 3600;

/**
 * The role's trust policy must name the caller; where it names no more than the caller's account, or the role is
 * another account's, the caller's own policies must allow it as well.
 * @throws StsError
 */
export function assumeRole(call: StsCall, by: SignedBy, deps: AssumeRoleDeps): RoleSession {
  const { event } = call;
  event.resource = call.query.text("RoleArn");
  const asked = parseAssumeRoleParameters(call.query);
  const account = parseRoleArn(asked.roleArn)?.account;
  if (account === undefined || !/^\d{12}$/.test(account)) {
    throw new StsError("not-a-role-arn", "Request ARN is invalid");
  }
  const role = decide(call, { by, asked, account }, deps);
  checkChaining(asked, by);
  const session = checkSession({ asked, role, tags: asked.tags, maximumSeconds: role.maxSessionDurationSeconds });
  const { credentials, assumedRoleUser } = deps.mint.mint({
    ...session.request,
    transitiveTagKeys: asked.transitiveTagKeys,
    ...(asked.sourceIdentity === undefined ? {} : { sourceIdentity: asked.sourceIdentity }),
    lineage: by.lineage,
  });
  event.notes = { ...event.notes, accessKeyId: credentials.accessKeyId, assumed: assumedRoleUser.arn };
  return {
    credentials,
    assumedRoleUser,
    ...(session.packedPolicySize === undefined ? {} : { packedPolicySize: session.packedPolicySize }),
    ...(asked.sourceIdentity === undefined ? {} : { sourceIdentity: asked.sourceIdentity }),
  };
}

function checkChaining(asked: AssumeRoleParameters, by: SignedBy): void {
  if (by.principal.kind === "assumed-role" && (asked.durationSeconds ?? 0) > CHAINED_SECONDS) {
    throw new StsError("duration-over-maximum", UNVERIFIED_TEXTS.chainingLimit);
  }
}

interface Question {
  readonly by: SignedBy;
  readonly asked: AssumeRoleParameters;
  readonly account: string;
}

/** Asks for the assumption and each further action; the answer for a role that does not exist is the same denial. */
function decide(call: StsCall, question: Question, deps: AssumeRoleDeps): Role {
  const { by, asked } = question;
  const role = deps.iam.findRole(asked.roleArn);
  if (!role) {
    call.event.reason = "no-such-role";
    throw denial(question, "sts:AssumeRole", call);
  }
  const context: PolicyContext = {
    ...createCallContext(call.context, deps.clock.now()),
    ...createSessionContext(asked, asked.sessionName),
    ...(asked.externalId === undefined ? {} : { "sts:ExternalId": asked.externalId }),
  };
  for (const action of ["sts:AssumeRole", ...listExtraActions(asked)]) {
    const decision = deps.iam.decideAccess({
      principal: by.principal,
      action,
      resource: asked.roleArn,
      resourceAccount: question.account,
      resourcePolicy: role.trustPolicy,
      resourceTags: role.tags,
      context,
    });
    const { event } = call;
    event.decision = decision.effect;
    event.reason = decision.reason;
    event.decidedBy = decision.decidedBy;
    event.notes = { ...event.notes, because: decision.because, outcomes: decision.outcomes };
    if (decision.effect === "deny") throw denial(question, action, call);
  }
  return role;
}

function denial(question: Question, action: string, call: StsCall): StsError {
  call.event.decision = "deny";
  const { by, asked } = question;
  return new StsError(
    "not-authorized",
    `User: ${by.principal.arn} is not authorized to perform: ${action} on resource: ${asked.roleArn}`,
  );
}
