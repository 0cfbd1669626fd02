// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables are written like this
// Whatever the policies say: a further Deny never allows, and a missing Allow never allows more.
import fc from "fast-check";
import { test } from "vitest";
import type { AwsPrincipal } from "../../shared/aws/principal.ts";
import type { AccessRequest, Policy, PolicyKind, Role, Statement } from "../types.ts";
import { type AccessFacts, decideAccess, decideWebIdentity } from "./evaluate.ts";

const ACCOUNTS = ["111122223333", "444455556666"];
const PROVIDER = "arn:aws:iam::111122223333:oidc-provider/oidc.test";
const SESSION: AwsPrincipal = {
  kind: "assumed-role",
  accountId: "111122223333",
  arn: "arn:aws:sts::111122223333:assumed-role/r/s",
  userId: "AROAX:s",
  roleArn: "arn:aws:iam::111122223333:role/r",
  roleId: "AROAX",
  sessionName: "s",
  sessionPolicies: [],
  sessionPolicyArns: [],
  tags: { team: "a" },
  issuedAt: 0,
  expiresAt: 3600,
};
const ROOT: AwsPrincipal = {
  kind: "root",
  accountId: "111122223333",
  arn: "arn:aws:iam::111122223333:root",
  userId: "1",
};
const USER: AwsPrincipal = {
  kind: "user",
  accountId: "111122223333",
  arn: "arn:aws:iam::111122223333:user/u",
  userId: "AIDAX",
  userName: "u",
};

/** Mostly the first, so that worlds allow often enough to lose something. */
const often = <T>(usual: T, rare: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(rare) });
const list = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const actions = list("*", "ecr:*", "ecr:BatchGetImage", "ecr:PutImage", "sts:*");
const resources = list(
  "*",
  "arn:aws:ecr:*:*:*",
  "arn:aws:ecr:r:111122223333:repository/${aws:PrincipalTag/team}",
  "arn:aws:ecr:r:1:x",
);
const principals = fc.array(
  fc.constantFrom(
    { type: "AWS", value: "*" } as const,
    { type: "AWS", value: "111122223333" } as const,
    { type: "AWS", value: SESSION.kind === "assumed-role" ? SESSION.roleArn : "" } as const,
    { type: "AWS", value: SESSION.arn } as const,
    { type: "AWS", value: USER.arn } as const,
    { type: "AWS", value: "444455556666" } as const,
    { type: "Federated", value: PROVIDER } as const,
    { type: "Service", value: "ec2.amazonaws.com" } as const,
  ),
  { minLength: 1, maxLength: 2 },
);
const condition = fc.record({
  operator: fc.constantFrom(
    "StringEquals",
    "StringNotEquals",
    "StringLikeIfExists",
    "ForAllValues:StringEquals",
    "ForAnyValue:StringNotLike",
    "Null",
    "NumericLessThan",
    "Unheard",
  ),
  key: fc.constantFrom("aws:PrincipalTag/team", "aws:ResourceTag/team", "oidc.test:sub", "test:many", "test:none"),
  values: list("a", "b", "true", "*", "${aws:PrincipalTag/team}", "${test:none}"),
});

function statementOf(kind: PolicyKind): fc.Arbitrary<Statement> {
  const named = kind === "trust" || kind === "resource";
  return fc
    .record({
      id: fc.string({ minLength: 1, maxLength: 3 }),
      effect: often("Allow", "Deny"),
      action: fc.tuple(often(false, true), actions),
      resource: fc.tuple(fc.constantFrom("resources", "resources", "resources", "implied", "notResources"), resources),
      principals,
      conditions: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(condition, { maxLength: 2 })),
      unknown: often<readonly string[]>([], ["NotPrincipal"]),
    })
    .map(
      ({ action: [not, names], resource: [element, arns], principals: who, ...rest }): Statement => ({
        ...rest,
        effect: rest.effect === "Deny" ? "Deny" : "Allow",
        ...(not ? { notActions: names } : { actions: names }),
        ...(kind === "trust" || element === "implied" ? (named ? {} : { resources: ["*"] }) : { [element]: arns }),
        ...(named ? { principals: who } : {}),
      }),
    );
}

const policyOf = (kind: PolicyKind): fc.Arbitrary<Policy> =>
  fc
    .record({
      statements: fc.array(statementOf(kind), { minLength: 1, maxLength: 4 }),
      version: fc.constantFrom("2012-10-17", "2008-10-17"),
    })
    .map(
      ({ statements, version }): Policy => ({
        kind,
        name: kind,
        statements,
        version: version === "2012-10-17" ? version : "2008-10-17",
      }),
    );

interface World {
  readonly identity: Policy;
  readonly boundary: Policy | undefined;
  readonly session: Policy | undefined;
  readonly resource: Policy | undefined;
  readonly request: Omit<AccessRequest, "resourcePolicy">;
}

const world: fc.Arbitrary<World> = fc.record({
  identity: policyOf("identity"),
  boundary: fc.option(policyOf("boundary"), { nil: undefined }),
  session: fc.option(policyOf("session"), { nil: undefined }),
  resource: fc.option(fc.oneof(policyOf("resource"), policyOf("trust")), { nil: undefined }),
  request: fc.record({
    principal: fc.constantFrom(SESSION, ROOT, USER),
    action: fc.constantFrom("ecr:BatchGetImage", "ecr:PutImage"),
    resource: fc.constantFrom("*", "arn:aws:ecr:r:111122223333:repository/a"),
    resourceAccount: fc.constantFrom(...ACCOUNTS),
    resourceTags: fc.constantFrom({}, { team: "a" }, { team: "b" }),
    context: fc.constantFrom({}, { "test:many": ["a", "b"] }, { "oidc.test:sub": "a" }),
  }),
});

function allows({ identity, boundary, session, resource, request }: World): boolean {
  const facts: AccessFacts = {
    known: true,
    policies: [identity],
    boundary,
    sessionPolicies: session && [session],
    tags: {},
  };
  return decideAccess({ ...request, ...(resource ? { resourcePolicy: resource } : {}) }, facts).effect === "allow";
}

const KINDS = ["identity", "boundary", "session", "resource"] as const;

/** The world with the statements of one policy changed. */
function change(
  before: World,
  kind: (typeof KINDS)[number],
  edit: (statements: readonly Statement[]) => readonly Statement[],
): World {
  const policy = before[kind];
  return policy ? { ...before, [kind]: { ...policy, statements: edit(policy.statements) } } : before;
}

const RUNS = { numRuns: 600 };

test("a further Deny never turns deny into allow", () => {
  const denies = fc.oneof(...KINDS.map((kind) => statementOf(kind).map((statement) => ({ kind, statement }))));
  fc.assert(
    fc.property(world, denies, fc.boolean(), (before, { kind, statement }, first) => {
      const deny: Statement = { ...statement, effect: "Deny" };
      const after = change(before, kind, (all) => (first ? [deny, ...all] : [...all, deny]));
      return !allows(after) || allows(before);
    }),
    RUNS,
  );
});

test("a Deny of everything denies, in whichever policy it stands", () => {
  fc.assert(
    fc.property(world, fc.constantFrom(...KINDS), fc.boolean(), (before, kind, first) => {
      const named = kind === "resource" ? { principals: [{ type: "AWS", value: "*" } as const] } : { resources: ["*"] };
      const deny: Statement = { id: "no", effect: "Deny", actions: ["*"], conditions: [], unknown: [], ...named };
      return (
        before[kind] === undefined || !allows(change(before, kind, (all) => (first ? [deny, ...all] : [...all, deny])))
      );
    }),
    RUNS,
  );
});

test("a missing Allow never allows more", () => {
  fc.assert(
    fc.property(world, fc.constantFrom(...KINDS), fc.nat(3), (before, kind, index) => {
      const after = change(before, kind, (all) => (all[index]?.effect === "Allow" ? all.toSpliced(index, 1) : all));
      return !allows(after) || allows(before);
    }),
    RUNS,
  );
});

test("a boundary or a session policy only narrows", () => {
  fc.assert(
    fc.property(world, (limited) => {
      const free = { ...limited, boundary: undefined, session: undefined };
      return !allows(limited) || allows(free);
    }),
    RUNS,
  );
});

test("the order of statements does not matter", () => {
  fc.assert(
    fc.property(world, fc.constantFrom(...KINDS), (before, kind) => {
      return allows(before) === allows(change(before, kind, (all) => all.toReversed()));
    }),
    RUNS,
  );
});

test("a web identity gains nothing by a further Deny or a missing Allow", () => {
  const subject = fc.constantFrom("a", "b");
  const decide = (trustPolicy: Policy, sub: string): boolean => {
    const role: Role = {
      accountId: "111122223333",
      name: "r",
      path: "/",
      arn: "arn:aws:iam::111122223333:role/r",
      id: "AROAX",
      trustPolicy,
      maxSessionDurationSeconds: 3600,
      tags: {},
      policies: [],
      managedPolicies: [],
    };
    const asked = {
      roleArn: role.arn,
      providerArn: PROVIDER,
      context: { "oidc.test:sub": sub },
      actions: ["sts:AssumeRoleWithWebIdentity"],
    };
    return decideWebIdentity(asked, { role }).effect === "allow";
  };
  fc.assert(
    fc.property(policyOf("trust"), statementOf("trust"), fc.nat(3), subject, (policy, statement, index, sub) => {
      const denied = { ...policy, statements: [...policy.statements, { ...statement, effect: "Deny" } as const] };
      const kept = policy.statements.filter(({ effect }, at) => effect === "Deny" || at !== index);
      const before = decide(policy, sub);
      return before || !(decide(denied, sub) || decide({ ...policy, statements: kept }, sub));
    }),
    RUNS,
  );
});

test("the worlds are worth something: both answers occur often", () => {
  const seen = new Map<string, number>();
  for (const each of fc.sample(world, { numRuns: 1000, seed: 7 })) {
    const key = String(allows(each));
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  for (const answer of ["true", "false"]) {
    if ((seen.get(answer) ?? 0) < 50)
      throw new Error(`expected at least 50 of ${answer}, found ${seen.get(answer) ?? 0}`);
  }
});
