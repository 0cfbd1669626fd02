// The request context: what condition keys and policy variables can see (spec aws 3.2, 3.4).
import type { AwsPrincipal } from "../../shared/aws/principal.ts";
import type { AccessRequest, RequestContext, Role, WebIdentityRequest } from "../types.ts";
import { type ConditionFacts, createConditionFacts } from "./conditions.ts";

/** Keys of a signed or registry request; what follows from the principal cannot be overridden by the request. */
export function createAccessFacts(
  request: AccessRequest,
  known: { readonly tags: Readonly<Record<string, string>>; readonly context?: (() => RequestContext) | undefined },
): ConditionFacts {
  const { principal, resourceAccount, resourceTags = {}, context } = request;
  return createConditionFacts(
    known.context?.(),
    context,
    { "aws:ResourceAccount": resourceAccount },
    prefixed("aws:ResourceTag/", resourceTags),
    prefixed("ecr:ResourceTag/", resourceTags),
    prefixed("aws:PrincipalTag/", known.tags),
    principalContext(principal),
  );
}

/** Keys of a web identity that asks for a role. */
export function createTrustFacts(
  request: WebIdentityRequest,
  role: Role,
  context: RequestContext | undefined,
): ConditionFacts {
  return createConditionFacts(context, request.context, prefixed("aws:ResourceTag/", role.tags), {
    "aws:FederatedProvider": request.providerArn,
  });
}

function principalContext(principal: AwsPrincipal): RequestContext {
  const common = {
    "aws:PrincipalAccount": principal.accountId,
    "aws:userid": principal.userId,
    "aws:PrincipalIsAWSService": "false",
    "aws:ViaAWSService": "false",
  };
  switch (principal.kind) {
    case "root":
      return { ...common, "aws:PrincipalArn": principal.arn, "aws:PrincipalType": "Account" };
    case "user":
      return {
        ...common,
        "aws:PrincipalArn": principal.arn,
        "aws:PrincipalType": "User",
        "aws:username": principal.userName,
      };
    case "assumed-role":
      return {
        ...common,
        // for a session this is the role, not the session
        "aws:PrincipalArn": principal.roleArn,
        "aws:PrincipalType": "AssumedRole",
        "aws:TokenIssueTime": new Date(principal.issuedAt * 1000).toISOString().replace(".000Z", "Z"),
        ...prefixed("aws:PrincipalTag/", principal.tags),
        ...federatedContext(principal.federated),
      };
  }
}

type Federated = Extract<AwsPrincipal, { kind: "assumed-role" }>["federated"];

/** What the token said stays visible to every later request of its session. */
function federatedContext(federated: Federated): RequestContext {
  if (!federated) return {};
  const { provider, providerArn, subject, audience, amr } = federated;
  return {
    "aws:FederatedProvider": providerArn,
    [`${provider}:sub`]: subject,
    [`${provider}:aud`]: audience,
    ...(amr ? { [`${provider}:amr`]: amr } : {}),
  };
}

function prefixed(prefix: string, tags: Readonly<Record<string, string>>): RequestContext {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [prefix + name, value]));
}
