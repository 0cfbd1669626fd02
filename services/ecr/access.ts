// The one place where ECR asks whether somebody may do something to a repository, for its API and for the registry.
import { type Decision, type Iam, renderDenial } from "../iam/index.ts";
import { renderRepositoryArn } from "../shared/aws/arn.ts";
import type { AwsPrincipal } from "../shared/aws/principal.ts";
import { EcrError } from "./errors.ts";
import type { CallContext, EcrCall, RepositoryKey, RepositoryStore } from "./types.ts";

export interface AccessDeps {
  readonly iam: Iam;
  readonly repositories: RepositoryStore;
}

export interface RepositoryQuestion {
  readonly principal: AwsPrincipal;
  /** `ecr:BatchGetImage` */
  readonly action: string;
  /** `*` as name for the registry as a whole. */
  readonly repository: RepositoryKey;
  readonly context: CallContext;
  /** Keys that this call adds: `aws:RequestTag/…`, `aws:TagKeys`. */
  readonly requestTags?: Readonly<Record<string, string>>;
}

/** A decision, the resource it is about and, for a denial, what the caller is told. */
export interface RepositoryDecision {
  readonly decision: Decision;
  readonly resource: string;
  readonly message: string;
}

/** Asks with the repository's policy and tags as they are at this moment. */
export function decideOnRepository(question: RepositoryQuestion, deps: AccessDeps): RepositoryDecision {
  const { principal, action, repository } = question;
  const resource = renderRepositoryArn(repository);
  const found = deps.repositories.find(repository);
  const request = {
    principal,
    action,
    resource,
    resourceAccount: repository.account,
    context: createContext(question),
  };
  const decision = deps.iam.decideAccess({
    ...request,
    ...(found?.policy ? { resourcePolicy: found.policy.parsed } : {}),
    ...(found ? { resourceTags: found.tags } : {}),
  });
  if (decision.effect === "allow") return { decision, resource, message: "" };
  // Differs: whoever comes from another account is told what the answer would be if the repository did not exist,
  // so that neither its existence nor its tags nor a Deny in its policy can be found out.
  const told = principal.accountId === repository.account ? decision : deps.iam.decideAccess(request);
  return { decision, resource, message: renderDenial(told, { principalArn: principal.arn, action, resource }) };
}

/** As {@link decideOnRepository}, for a call of the API. @throws EcrError AccessDeniedException */
export function checkRepositoryAccess(
  call: EcrCall,
  question: Pick<RepositoryQuestion, "action" | "repository" | "requestTags">,
  deps: AccessDeps,
): void {
  const { principal, context } = call;
  const { decision, resource, message } = decideOnRepository({ principal, context, ...question }, deps);
  report(call, decision, resource);
  if (decision.effect === "deny") throw new EcrError("AccessDeniedException", message);
}

/** Access to something that is no repository; the resource is `*`. @throws EcrError AccessDeniedException */
export function checkAccountAccess(call: EcrCall, action: string, iam: Iam): void {
  const { principal, region } = call;
  const decision = iam.decideAccess({
    principal,
    action,
    resource: "*",
    resourceAccount: principal.accountId,
    context: createContext({ context: call.context, repository: { region } }),
  });
  report(call, decision, "*");
  if (decision.effect === "allow") return;
  const asked = { principalArn: principal.arn, action, resource: "*" };
  throw new EcrError("AccessDeniedException", renderDenial(decision, asked));
}

function createContext(
  question: Pick<RepositoryQuestion, "context" | "requestTags"> & {
    readonly repository: Pick<RepositoryKey, "region">;
  },
): Readonly<Record<string, string | readonly string[]>> {
  const { context, requestTags = {} } = question;
  const tagKeys = Object.keys(requestTags);
  return {
    "aws:SourceIp": context.sourceIp,
    "aws:SecureTransport": String(context.secure),
    "aws:UserAgent": context.userAgent,
    "aws:RequestedRegion": question.repository.region,
    ...Object.fromEntries(Object.entries(requestTags).map(([key, value]) => [`aws:RequestTag/${key}`, value])),
    ...(tagKeys.length === 0 ? {} : { "aws:TagKeys": tagKeys }),
  };
}

function report(call: EcrCall, decision: Decision, resource: string): void {
  const { event } = call;
  event.resource = resource;
  event.decision = decision.effect;
  event.reason = decision.reason;
  event.decidedBy = decision.decidedBy;
  event.notes = { ...event.notes, because: decision.because, outcomes: decision.outcomes };
}
