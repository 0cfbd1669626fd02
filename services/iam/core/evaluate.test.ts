// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables are written like this
import { describe, expect, test } from "vitest";
import type { AwsPrincipal } from "../../shared/aws/principal.ts";
import type { AccessRequest, Decision, Policy, PolicyKind, Role } from "../types.ts";
import { renderDenial } from "./denial.ts";
import { type AccessFacts, decideAccess, decideWebIdentity } from "./evaluate.ts";
import { parsePolicy } from "./policy.ts";
import { findMissingSubjectCondition } from "./subject.ts";

const A = "111122223333";
const B = "444455556666";
const PULL = "ecr:BatchGetImage";
const APP = `arn:aws:ecr:us-west-2:${A}:repository/team-a/app`;

const SESSION: AwsPrincipal = {
  kind: "assumed-role",
  accountId: A,
  arn: `arn:aws:sts::${A}:assumed-role/puller/pod`,
  userId: "AROAPULLER0000000000A:pod",
  roleArn: `arn:aws:iam::${A}:role/k8s/puller`,
  roleId: "AROAPULLER0000000000A",
  sessionName: "pod",
  sessionPolicies: [],
  sessionPolicyArns: [],
  tags: {},
  issuedAt: 1_769_860_800,
  expiresAt: 1_769_864_400,
};
const USER: AwsPrincipal = {
  kind: "user",
  accountId: A,
  arn: `arn:aws:iam::${A}:user/ci`,
  userId: "AIDACI00000000000000A",
  userName: "ci",
};
const ROOT: AwsPrincipal = { kind: "root", accountId: A, arn: `arn:aws:iam::${A}:root`, userId: A };

function policy(kind: PolicyKind, ...statements: readonly object[]): Policy {
  const filled = statements.map((statement) => ({
    Effect: "Allow",
    Action: PULL,
    ...(kind === "resource" || kind === "trust" ? {} : { Resource: "*" }),
    ...statement,
  }));
  return parsePolicy(kind, kind, { Version: "2012-10-17", Statement: filled });
}

const DENY = { Sid: "No", Effect: "Deny" };
const none: AccessFacts = { known: true, policies: [], tags: {} };
const allowing: AccessFacts = { ...none, policies: [policy("identity", { Sid: "Yes" })] };
const repository = (...statements: readonly object[]) => policy("resource", ...statements);
const byOwner = (principal: unknown) => ({ resourcePolicy: repository({ Sid: "Named", Principal: principal }) });

function ask(request: Partial<AccessRequest>, facts: AccessFacts): Decision {
  return decideAccess({ principal: SESSION, action: PULL, resource: APP, resourceAccount: A, ...request }, facts);
}

const foreign = { resourceAccount: B, resource: `arn:aws:ecr:us-west-2:${B}:repository/shared/base` };
const emptyList = parsePolicy("session", "session", { Version: "2012-10-17", Statement: [] });
const other = (kind: PolicyKind) => policy(kind, { Action: "ecr:ListImages" });
const role = SESSION.kind === "assumed-role" ? SESSION.roleArn : "";

test.each<[string, Partial<AccessRequest>, AccessFacts, Decision["reason"], string]>([
  ["own account, an identity policy allows", {}, allowing, "allowed-by-identity-policy", "identity#Yes"],
  ["own account, nothing allows", {}, none, "no-identity-policy-allows", "no statement"],
  [
    "own account, another action is allowed",
    {},
    { ...none, policies: [other("identity")] },
    "no-identity-policy-allows",
    "identity#Statement[0]",
  ],
  [
    "a Deny in the identity policy",
    {},
    { ...none, policies: [policy("identity", { Sid: "Yes" }, DENY)] },
    "explicit-deny-in-identity-policy",
    "identity#No",
  ],
  [
    "a boundary that allows",
    {},
    { ...allowing, boundary: policy("boundary", {}) },
    "allowed-by-identity-policy",
    "identity#Yes",
  ],
  [
    "a boundary that does not",
    {},
    { ...allowing, boundary: other("boundary") },
    "no-boundary-allows",
    "boundary#Statement[0]",
  ],
  [
    "a boundary that denies",
    {},
    { ...allowing, boundary: policy("boundary", {}, DENY) },
    "explicit-deny-in-boundary",
    "boundary#No",
  ],
  ["a boundary alone", {}, { ...none, boundary: policy("boundary", {}) }, "no-identity-policy-allows", "no statement"],
  [
    "a session policy that allows",
    {},
    { ...allowing, sessionPolicies: [policy("session", {})] },
    "allowed-by-identity-policy",
    "identity#Yes",
  ],
  [
    "one of two session policies allows",
    {},
    { ...allowing, sessionPolicies: [other("session"), policy("session", {})] },
    "allowed-by-identity-policy",
    "identity#Yes",
  ],
  [
    "a session policy that does not",
    {},
    { ...allowing, sessionPolicies: [other("session")] },
    "no-session-policy-allows",
    "session#Statement[0]",
  ],
  [
    "an empty session policy",
    {},
    { ...allowing, sessionPolicies: [emptyList] },
    "no-session-policy-allows",
    "no statement",
  ],
  [
    "a session policy that denies",
    {},
    { ...allowing, sessionPolicies: [policy("session", {}, DENY)] },
    "explicit-deny-in-session-policy",
    "session#No",
  ],
  [
    "a session policy alone",
    {},
    { ...none, sessionPolicies: [policy("session", {})] },
    "no-identity-policy-allows",
    "no statement",
  ],

  [
    "own account, the repository names the session",
    byOwner({ AWS: SESSION.arn }),
    none,
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "… whatever the session policy does not allow",
    byOwner({ AWS: SESSION.arn }),
    { ...none, sessionPolicies: [emptyList] },
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "… but not what it denies",
    byOwner({ AWS: SESSION.arn }),
    { ...none, sessionPolicies: [policy("session", DENY)] },
    "explicit-deny-in-session-policy",
    "session#No",
  ],
  [
    "own account, the repository names another session",
    byOwner({ AWS: `${SESSION.arn}2` }),
    none,
    "no-identity-policy-allows",
    "no statement",
  ],
  [
    "own account, the repository names the role",
    byOwner({ AWS: role }),
    none,
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "… within the session policy only",
    byOwner({ AWS: role }),
    { ...none, sessionPolicies: [emptyList] },
    "no-identity-policy-allows",
    "no statement",
  ],
  [
    "own account, the repository names the role by id",
    byOwner({ AWS: "AROAPULLER0000000000A" }),
    none,
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "own account, the repository names another role's id",
    byOwner({ AWS: "AROAPULLER0000000000B" }),
    none,
    "no-identity-policy-allows",
    "no statement",
  ],
  ["own account, everyone", byOwner("*"), none, "allowed-by-resource-policy", "resource#Named"],
  [
    "own account, everyone, but the boundary",
    byOwner("*"),
    { ...allowing, boundary: other("boundary") },
    "no-boundary-allows",
    "boundary#Statement[0]",
  ],
  [
    "own account, the account: it only delegates",
    byOwner({ AWS: A }),
    none,
    "no-identity-policy-allows",
    "no statement",
  ],
  [
    "own account, the account, and identity",
    byOwner({ AWS: `arn:aws:iam::${A}:root` }),
    allowing,
    "allowed-by-identity-policy",
    "identity#Yes",
  ],
  [
    "a Deny in the repository policy",
    { resourcePolicy: repository({ ...DENY, Principal: "*" }) },
    allowing,
    "explicit-deny-in-resource-policy",
    "resource#No",
  ],
  [
    "a Deny in the repository policy for others",
    { resourcePolicy: repository({ ...DENY, Principal: { AWS: B } }) },
    allowing,
    "allowed-by-identity-policy",
    "identity#Yes",
  ],
  [
    "a service principal is nobody here",
    byOwner({ Service: "ec2.amazonaws.com" }),
    none,
    "no-identity-policy-allows",
    "no statement",
  ],

  [
    "other account, both sides allow",
    { ...foreign, ...byOwner({ AWS: `arn:aws:iam::${A}:root` }) },
    allowing,
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "other account, by account id",
    { ...foreign, ...byOwner({ AWS: A }) },
    allowing,
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "other account, by role",
    { ...foreign, ...byOwner({ AWS: role }) },
    allowing,
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "other account, everyone",
    { ...foreign, ...byOwner("*") },
    allowing,
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  ["other account, no repository policy", foreign, allowing, "no-resource-policy-allows", "no statement"],
  [
    "other account, a third account is named",
    { ...foreign, ...byOwner({ AWS: B }) },
    allowing,
    "no-resource-policy-allows",
    "resource#Named",
  ],
  [
    "other account, no identity policy",
    { ...foreign, ...byOwner({ AWS: SESSION.arn }) },
    none,
    "no-identity-policy-allows",
    "no statement",
  ],
  ["other account, neither", foreign, none, "no-identity-policy-allows", "no statement"],
  [
    "other account, session policy missing",
    { ...foreign, ...byOwner("*") },
    { ...allowing, sessionPolicies: [emptyList] },
    "no-session-policy-allows",
    "no statement",
  ],

  ["a user, by identity policy", { principal: USER }, allowing, "allowed-by-identity-policy", "identity#Yes"],
  [
    "a user, named by the repository",
    { principal: USER, ...byOwner({ AWS: USER.arn }) },
    { ...none, boundary: other("boundary") },
    "allowed-by-resource-policy",
    "resource#Named",
  ],
  [
    "another user, named by the repository",
    { principal: USER, ...byOwner({ AWS: `${USER.arn}2` }) },
    none,
    "no-identity-policy-allows",
    "no statement",
  ],
  ["root, in its own account", { principal: ROOT }, none, "allowed-as-root", "no statement"],
  ["root, in another account", { principal: ROOT, ...foreign }, none, "no-resource-policy-allows", "no statement"],
  [
    "root, denied by the repository",
    { principal: ROOT, resourcePolicy: repository({ ...DENY, Principal: "*" }) },
    none,
    "explicit-deny-in-resource-policy",
    "resource#No",
  ],
  ["a principal that is gone", {}, { ...allowing, known: false }, "no-such-principal", "no statement"],
])("%s", (_, request, facts, reason, decidedBy) => {
  const effect = reason.startsWith("allowed") ? "allow" : "deny";
  expect(ask(request, facts)).toMatchObject({ effect, reason, decidedBy });
});

describe("AssumeRole asks the trust policy as the role's own policy", () => {
  const trust = (principal: unknown) => ({
    action: "sts:AssumeRole",
    resource: `arn:aws:iam::${A}:role/next`,
    resourcePolicy: policy("trust", { Sid: "Trust", Action: "sts:AssumeRole", Principal: principal }),
  });
  const mayAssume: AccessFacts = { ...none, policies: [policy("identity", { Sid: "Yes", Action: "sts:AssumeRole" })] };

  test.each<[string, unknown, AccessFacts, string, Decision["reason"]]>([
    ["same account, the role is named", { AWS: role }, none, A, "allowed-by-trust-policy"],
    ["same account, the account is named", { AWS: A }, mayAssume, A, "allowed-by-trust-policy"],
    ["same account, the account is named, no identity policy", { AWS: A }, none, A, "no-identity-policy-allows"],
    ["same account, nobody is named that fits", { AWS: B }, mayAssume, A, "no-trust-policy-allows"],
    ["other account, both", { AWS: role }, mayAssume, B, "allowed-by-trust-policy"],
    ["other account, trust alone", { AWS: role }, none, B, "no-identity-policy-allows"],
    ["other account, identity alone", { AWS: B }, mayAssume, B, "no-trust-policy-allows"],
  ])("%s", (_, principal, facts, resourceAccount, reason) => {
    expect(ask({ ...trust(principal), resourceAccount }, facts).reason).toBe(reason);
  });
});

describe("what statements can see", () => {
  const facts = (condition: object, more: Partial<AccessFacts> = {}): AccessFacts => ({
    ...none,
    policies: [policy("identity", { Condition: condition })],
    ...more,
  });
  const federated = {
    providerArn: `arn:aws:iam::${A}:oidc-provider/oidc.test:8443/c1`,
    provider: "oidc.test:8443/c1",
    subject: "sub",
    audience: "aud",
  };
  const tagged: AwsPrincipal = { ...SESSION, tags: { Team: "session" }, federated };

  test.each<[string, object, Partial<AccessRequest>, Partial<AccessFacts>]>([
    ["the role's ARN for a session", { ArnEquals: { "aws:PrincipalArn": role } }, {}, {}],
    ["the user id", { StringLike: { "aws:userid": "*:pod" } }, {}, {}],
    ["the account", { StringEquals: { "aws:PrincipalAccount": A, "aws:ResourceAccount": A } }, {}, {}],
    ["when the session began", { DateEquals: { "aws:TokenIssueTime": "2026-01-31T12:00:00Z" } }, {}, {}],
    ["no user name for a role", { Null: { "aws:username": "true" } }, {}, {}],
    ["the user name of a user", { StringEquals: { "aws:username": "ci" } }, { principal: USER }, {}],
    ["tags of the role", { StringEquals: { "aws:PrincipalTag/team": "role" } }, {}, { tags: { Team: "role" } }],
    [
      "tags of the session before those of the role, whatever their case",
      { StringEquals: { "aws:PrincipalTag/team": "session" } },
      { principal: tagged },
      { tags: { TEAM: "role" } },
    ],
    [
      "tags of the repository",
      { StringEquals: { "aws:ResourceTag/t": "v", "ecr:ResourceTag/t": "v" } },
      { resourceTags: { t: "v" } },
      {},
    ],
    [
      "the web identity that the session came from",
      {
        StringEquals: {
          "oidc.test:8443/c1:sub": "sub",
          "oidc.test:8443/c1:aud": "aud",
          "aws:FederatedProvider": federated.providerArn,
        },
      },
      { principal: tagged },
      {},
    ],
    [
      "what the request brings",
      { IpAddress: { "aws:SourceIp": "10.0.0.0/8" } },
      { context: { "aws:sourceip": "10.1.1.1" } },
      {},
    ],
    [
      "a tag as a variable",
      { StringEquals: { "aws:ResourceTag/team": "${aws:PrincipalTag/Team}" } },
      { principal: tagged, resourceTags: { team: "session" } },
      {},
    ],
  ])("%s", (_, condition, request, more) => {
    expect(ask(request, facts(condition, more)).effect).toBe("allow");
    // the twin: one key more that nothing can satisfy
    const spoilt = { ...condition, StringEqualsIgnoreCase: { "aws:PrincipalAccount": "x" } };
    expect(ask(request, facts(spoilt, more)).effect).toBe("deny");
  });

  test("a request cannot claim another principal", () => {
    const claimed = { context: { "AWS:PrincipalArn": "arn:aws:iam::111122223333:role/admin" } };
    expect(
      ask(claimed, facts({ ArnEquals: { "aws:PrincipalArn": "arn:aws:iam::111122223333:role/admin" } })).effect,
    ).toBe("deny");
    expect(ask(claimed, facts({ ArnEquals: { "aws:PrincipalArn": role } })).effect).toBe("allow");
  });

  test("a variable in a resource", () => {
    const own = {
      ...none,
      policies: [policy("identity", { Resource: `arn:aws:ecr:*:${A}:repository/\${aws:PrincipalTag/Team}/*` })],
    };
    expect(ask({}, { ...own, tags: { team: "team-a" } }).effect).toBe("allow");
    for (const tags of [{ team: "team-b" }, { team: "*" }, {}]) expect(ask({}, { ...own, tags }).effect).toBe("deny");
  });

  test("actions without regard to case, resources with", () => {
    const upper = { ...none, policies: [policy("identity", { Action: "ECR:batchget*" })] };
    expect(ask({}, upper).effect).toBe("allow");
    const wrongCase = { ...none, policies: [policy("identity", { Resource: APP.replace("team-a", "Team-a") })] };
    expect(ask({}, wrongCase).effect).toBe("deny");
  });

  test("NotAction and NotResource", () => {
    const but = (statement: object) => ({ ...none, policies: [policy("identity", statement)] });
    const notAction = (name: string) => but({ Action: undefined, NotAction: name });
    expect(ask({}, notAction("ecr:PutImage")).effect).toBe("allow");
    expect(ask({}, notAction("ecr:*")).effect).toBe("deny");
    const notResource = (arn: string) => but({ Resource: undefined, NotResource: arn });
    expect(ask({}, notResource(`${APP}2`)).effect).toBe("allow");
    expect(ask({}, notResource(APP)).effect).toBe("deny");
  });
});

describe("what is unknown fails closed", () => {
  const unknown = (effect: "Allow" | "Deny", change: object): Policy => {
    const parsed = policy("identity", { Effect: effect });
    return { ...parsed, statements: parsed.statements.map((statement) => ({ ...statement, ...change })) };
  };
  const constructs = [
    { unknown: ["NotPrincipal"] },
    { conditions: [{ operator: "StringMatches", key: "a:b", values: ["c"] }] },
    { conditions: [{ operator: "NumericLessThan", key: "aws:userid", values: ["3"] }] },
  ];
  test.each(constructs)("%j", (construct) => {
    const allowed = ask({}, { ...none, policies: [unknown("Allow", construct)] });
    expect(allowed).toMatchObject({ effect: "deny", reason: "no-identity-policy-allows" });
    expect(allowed.outcomes[0]).toMatchObject({ matched: false, failedOn: "unknown" });
    const denied = ask({}, { ...allowing, policies: [...allowing.policies, unknown("Deny", construct)] });
    expect(denied).toMatchObject({ effect: "deny", reason: "explicit-deny-in-identity-policy" });
    expect(denied.outcomes.at(-1)).toMatchObject({ matched: true, failedOn: "unknown" });
    expect(ask({}, allowing).effect).toBe("allow");
  });

  test("but a Deny whose known condition does not hold stays out", () => {
    const conditions = [
      { operator: "StringMatches", key: "a:b", values: ["c"] },
      { operator: "StringEquals", key: "aws:PrincipalAccount", values: [B] },
    ];
    expect(ask({}, { ...allowing, policies: [...allowing.policies, unknown("Deny", { conditions })] }).effect).toBe(
      "allow",
    );
  });
});

test("every statement says why it did not match, and the closest one is named", () => {
  const facts = {
    ...none,
    policies: [
      policy(
        "identity",
        { Sid: "Push", Action: "ecr:PutImage" },
        { Sid: "Other", Resource: `${APP}2` },
        { Sid: "Later", Condition: { StringEquals: { "aws:PrincipalAccount": B } } },
        { Sid: "Never", Effect: "Deny", Action: "ecr:DeleteRepository" },
      ),
    ],
  };
  const decision = ask({}, facts);
  expect(decision).toMatchObject({ effect: "deny", reason: "no-identity-policy-allows", decidedBy: "identity#Later" });
  expect(decision.outcomes.map(({ statement, failedOn, because }) => [statement, failedOn, because])).toEqual([
    ["Push", "action", 'action: expected "ecr:PutImage", found "ecr:BatchGetImage"'],
    ["Other", "resource", `resource: expected "${APP}2", found "${APP}"`],
    ["Later", "condition", `condition StringEquals on aws:PrincipalAccount: expected "${B}", found "${A}"`],
    ["Never", "action", 'action: expected "ecr:DeleteRepository", found "ecr:BatchGetImage"'],
  ]);
});

describe("denials in AWS's words", () => {
  const say = (decision: Decision) =>
    renderDenial(decision, { principalArn: SESSION.arn, action: PULL, resource: APP });
  const plain = `User: ${SESSION.arn} is not authorized to perform: ${PULL} on resource: ${APP}`;
  const session = { ...allowing, sessionPolicies: [emptyList] };
  test.each<[Partial<AccessRequest>, AccessFacts, string]>([
    [{}, none, " because no identity-based policy allows the ecr:BatchGetImage action"],
    [
      {},
      { ...allowing, boundary: other("boundary") },
      " because no permissions boundary allows the ecr:BatchGetImage action",
    ],
    [{}, session, " because no session policy allows the ecr:BatchGetImage action"],
    [foreign, allowing, " because no resource-based policy allows the ecr:BatchGetImage action"],
    [{}, { ...none, policies: [policy("identity", DENY)] }, " with an explicit deny in an identity-based policy"],
    [{}, { ...allowing, sessionPolicies: [policy("session", DENY)] }, " with an explicit deny in a session policy"],
    [
      { resourcePolicy: repository({ ...DENY, Principal: "*" }) },
      allowing,
      " with an explicit deny in a resource-based policy",
    ],
    [{}, { ...none, known: false }, " because no identity-based policy allows the ecr:BatchGetImage action"],
  ])("%#", (request, facts, ending) => {
    expect(say(ask(request, facts))).toBe(plain + ending);
  });
});

const PROVIDER = `arn:aws:iam::${A}:oidc-provider/oidc.test/c1`;
const SUB = "oidc.test/c1:sub";
const WEB = "sts:AssumeRoleWithWebIdentity";

function roleWith(...statements: readonly object[]): Role {
  const filled = statements.map((statement) => ({ Action: WEB, Principal: { Federated: PROVIDER }, ...statement }));
  return {
    accountId: A,
    name: "tenant-a",
    path: "/",
    arn: `arn:aws:iam::${A}:role/tenant-a`,
    id: "AROATENANT0000000000A",
    trustPolicy: policy("trust", ...filled),
    maxSessionDurationSeconds: 3600,
    tags: { tenant: "a" },
    policies: [],
    managedPolicies: [],
  };
}

describe("a web identity", () => {
  const only = (subject: string) => ({
    Condition: { StringEquals: { [SUB]: subject, "oidc.test/c1:aud": "sts.amazonaws.com" } },
  });
  const TENANT = "system:serviceaccount:tenant-a:app";
  const come = (
    trusted: Role | undefined,
    change: { sub?: string; providerArn?: string; actions?: readonly string[] } = {},
  ): Decision => {
    const { sub = TENANT, providerArn = PROVIDER, actions = [WEB] } = change;
    const context = { [SUB]: sub, "oidc.test/c1:aud": "sts.amazonaws.com" };
    return decideWebIdentity(
      { roleArn: `arn:aws:iam::${A}:role/tenant-a`, providerArn, context, actions },
      { role: trusted },
    );
  };

  test.each<[string, object, Parameters<typeof come>[1], Decision["reason"]]>([
    ["its own role", only(TENANT), {}, "allowed-by-trust-policy"],
    ["another subject", only(TENANT), { sub: "system:serviceaccount:tenant-b:app" }, "no-trust-policy-allows"],
    [
      "a subject in another case",
      only(TENANT),
      { sub: "system:serviceaccount:Tenant-a:app" },
      "no-trust-policy-allows",
    ],
    ["a longer subject", only(TENANT), { sub: `${TENANT}2` }, "no-trust-policy-allows"],
    ["a star under StringEquals", only("system:serviceaccount:tenant-a:*"), {}, "no-trust-policy-allows"],
    [
      "a star under StringLike",
      { Condition: { StringLike: { [SUB]: "system:serviceaccount:tenant-a:*" } } },
      {},
      "allowed-by-trust-policy",
    ],
    ["no condition at all", {}, { sub: "anybody" }, "allowed-by-trust-policy"],
    [
      "a key misspelt under ForAllValues",
      { Condition: { "ForAllValues:StringEquals": { "oidc.test/c1:subject": TENANT } } },
      { sub: "anybody" },
      "allowed-by-trust-policy",
    ],
    [
      "the condition key in another case",
      { Condition: { StringEquals: { "OIDC.test/c1:SUB": TENANT } } },
      {},
      "allowed-by-trust-policy",
    ],
    ["another provider", {}, { providerArn: `${PROVIDER}2` }, "no-trust-policy-allows"],
    [
      "a provider of another account",
      { Principal: { Federated: PROVIDER.replace(A, B) } },
      { providerArn: PROVIDER.replace(A, B) },
      "no-trust-policy-allows",
    ],
    ["everyone, which means no federated caller", { Principal: "*" }, {}, "no-trust-policy-allows"],
    ["another action", { Action: "sts:AssumeRole" }, {}, "no-trust-policy-allows"],
    ["a star for the action", { Action: "sts:*" }, {}, "allowed-by-trust-policy"],
    [
      "the role's tags",
      { Condition: { StringEquals: { "aws:ResourceTag/tenant": "a" } } },
      {},
      "allowed-by-trust-policy",
    ],
    ["session tags that are not allowed", {}, { actions: [WEB, "sts:TagSession"] }, "no-trust-policy-allows"],
    [
      "session tags that are",
      { Action: [WEB, "sts:TagSession"] },
      { actions: [WEB, "sts:TagSession"] },
      "allowed-by-trust-policy",
    ],
  ])("%s", (_, statement, change, reason) => {
    expect(come(roleWith(statement), change).reason).toBe(reason);
  });

  test("is stopped by a Deny, also by one for everyone", () => {
    const denying = (principal: unknown, sub: string) =>
      come(roleWith({}, { ...DENY, Principal: principal, Condition: { StringEquals: { [SUB]: sub } } }));
    for (const principal of [{ Federated: PROVIDER }, "*"]) {
      expect(denying(principal, TENANT)).toMatchObject({
        reason: "explicit-deny-in-trust-policy",
        decidedBy: "trust#No",
      });
      expect(denying(principal, "other").effect).toBe("allow");
    }
  });

  test("learns nothing from a role that does not exist", () => {
    expect(come(undefined)).toEqual({
      effect: "deny",
      reason: "no-such-role",
      decidedBy: "no statement",
      because: "expected a role that exists, found none of this name",
      outcomes: [],
    });
  });

  test("is told which condition failed", () => {
    const decision = come(roleWith(only(TENANT)), { sub: "system:serviceaccount:team-b:impostor" });
    expect(decision.decidedBy).toBe("trust#Statement[0]");
    expect(decision.outcomes[0]!.because).toBe(
      `condition StringEquals on ${SUB}: expected "${TENANT}", found "system:serviceaccount:team-b:impostor"`,
    );
  });
});

describe("a trust policy without a subject", () => {
  const find = (statement: object) => findMissingSubjectCondition(roleWith(statement), PROVIDER);
  test.each<[string, object, string | undefined]>([
    ["is found", {}, `trust policy of role/tenant-a has no condition on ${SUB}`],
    [
      "is found beside an audience",
      { Condition: { StringEquals: { "oidc.test/c1:aud": "x" } } },
      `trust policy of role/tenant-a has no condition on ${SUB}`,
    ],
    [
      "is found behind a bare star",
      { Condition: { StringLike: { [SUB]: "*" } } },
      `trust policy of role/tenant-a accepts every subject: its condition on ${SUB} is StringLike "*"`,
    ],
    [
      "is found behind a negation",
      { Condition: { StringNotEquals: { [SUB]: "x" } } },
      `trust policy of role/tenant-a accepts every subject: its condition on ${SUB} is StringNotEquals "x"`,
    ],
    ["is not seen where the subject is named", { Condition: { StringEquals: { [SUB]: "x" } } }, undefined],
    [
      "is not seen where a namespace is named",
      { Condition: { StringLike: { [SUB]: "system:serviceaccount:a:*" } } },
      undefined,
    ],
    ["does not matter in a Deny", { Effect: "Deny" }, undefined],
    ["does not matter for another provider", { Principal: { Federated: `${PROVIDER}2` } }, undefined],
    ["does not matter for another action", { Action: "sts:TagSession" }, undefined],
  ])("%s", (_, statement, expected) => {
    expect(find(statement)).toBe(expected);
  });
});
