import { describe, expect, test } from "vitest";
import { accountOfUniqueId } from "../shared/aws/arn.ts";
import type { AwsPrincipal } from "../shared/aws/principal.ts";
import { MovableClock } from "../shared/clock.ts";
import { createSeededRandom } from "../shared/random.ts";
import { type AccountSeed, createIam, type Iam, parsePolicy, type Role } from "./index.ts";

const A = "111122223333";
const B = "444455556666";
const ISSUER = "https://oidc.test:8443/c1/";
const PROVIDER = `arn:aws:iam::${A}:oidc-provider/oidc.test:8443/c1/`;
const ALLOW = { Version: "2012-10-17", Statement: { Effect: "Allow", Action: "ecr:*", Resource: "*" } };
const TRUST = {
  Version: "2012-10-17",
  Statement: {
    Effect: "Allow",
    Principal: { Federated: PROVIDER },
    Action: "sts:AssumeRoleWithWebIdentity",
    Condition: { StringEquals: { "oidc.test:8443/c1/:sub": "me" } },
  },
};
const SEED: AccountSeed = {
  id: A,
  oidcProviders: [{ url: ISSUER, clientIds: ["sts.amazonaws.com"] }],
  managedPolicies: {
    narrow: { Version: "2012-10-17", Statement: { Effect: "Allow", Action: "ecr:ListImages", Resource: "*" } },
  },
  roles: {
    puller: {
      path: "/k8s/",
      trustPolicy: TRUST,
      policies: { pull: ALLOW },
      tags: { t: "v" },
      maxSessionDuration: 7200,
    },
    bound: { trustPolicy: TRUST, policies: { pull: ALLOW }, permissionsBoundary: `arn:aws:iam::${A}:policy/narrow` },
    managed: { trustPolicy: TRUST, managedPolicies: [`arn:aws:iam::${A}:policy/narrow`] },
  },
  users: { ci: { accessKeys: [{ id: "AKIABTX3GSDS2UISEM2E", secret: "s" }], policies: { all: ALLOW } } },
};

function start(change: Partial<AccountSeed> = {}, clock?: MovableClock): Iam {
  const accounts = [{ ...SEED, ...change }, { id: B }];
  return createIam({ accounts, random: createSeededRandom("iam"), ...(clock ? { clock } : {}) });
}

function sessionOf(role: Role, more: Partial<Extract<AwsPrincipal, { kind: "assumed-role" }>> = {}): AwsPrincipal {
  return {
    kind: "assumed-role",
    accountId: role.accountId,
    arn: `arn:aws:sts::${role.accountId}:assumed-role/${role.name}/s`,
    userId: `${role.id}:s`,
    roleArn: role.arn,
    roleId: role.id,
    sessionName: "s",
    sessionPolicies: [],
    sessionPolicyArns: [],
    tags: {},
    issuedAt: 0,
    expiresAt: 3600,
    ...more,
  };
}

const pull = (iam: Iam, principal: AwsPrincipal, action = "ecr:BatchGetImage") =>
  iam.decideAccess({ principal, action, resource: `arn:aws:ecr:r:${A}:repository/a`, resourceAccount: A });

describe("what is declared can be found", () => {
  const iam = start();
  const role = iam.findRoleByName(A, "puller")!;

  test("roles by ARN and by name, their path in the ARN", () => {
    expect(role).toMatchObject({
      arn: `arn:aws:iam::${A}:role/k8s/puller`,
      maxSessionDurationSeconds: 7200,
      tags: { t: "v" },
    });
    expect(iam.findRole(role.arn)).toBe(role);
    expect(iam.findRole(`arn:aws:iam::${A}:role/puller`)).toBeUndefined();
    expect(iam.findRole(`arn:aws:iam::${B}:role/k8s/puller`)).toBeUndefined();
    expect(iam.listRoles().map(({ name }) => name)).toEqual(["puller", "bound", "managed"]);
  });

  test("ids that tell their account", () => {
    expect(role.id).toMatch(/^AROA[A-Z2-7]{17}$/);
    expect(accountOfUniqueId(role.id)).toBe(A);
  });

  test("users by ARN and by key", () => {
    expect(iam.findUserByAccessKey("AKIABTX3GSDS2UISEM2E")).toMatchObject({ secret: "s", user: { name: "ci" } });
    expect(iam.findUserByAccessKey("AKIABTX3GSDS2UISEM2F")).toBeUndefined();
    expect(iam.findUser(`arn:aws:iam::${A}:user/ci`)?.id).toMatch(/^AIDA/);
  });

  test("providers by exactly their URL, in their own account", () => {
    expect(iam.findOidcProvider(A, ISSUER)).toMatchObject({
      arn: PROVIDER,
      provider: "oidc.test:8443/c1/",
      clientIds: ["sts.amazonaws.com"],
    });
    for (const url of [ISSUER.slice(0, -1), ISSUER.replace("oidc", "OIDC"), ISSUER.replace("https", "http")]) {
      expect(iam.findOidcProvider(A, url), url).toBeUndefined();
    }
    expect(iam.findOidcProvider(B, ISSUER)).toBeUndefined();
  });

  test("accounts", () => {
    expect([iam.hasAccount(A), iam.hasAccount("000000000000"), iam.accountIds()]).toEqual([true, false, [A, B]]);
  });
});

describe("decisions read what is true now", () => {
  test("a role's policies are read at each request", () => {
    const iam = start();
    const session = sessionOf(iam.findRoleByName(A, "puller")!);
    expect(pull(iam, session)).toMatchObject({ effect: "allow", decidedBy: "puller/pull#Statement[0]" });
    iam.putRole(A, "puller", { path: "/k8s/", trustPolicy: TRUST });
    expect(pull(iam, session)).toMatchObject({ effect: "deny", reason: "no-identity-policy-allows" });
    iam.reset();
    expect(pull(iam, session).effect).toBe("allow");
  });

  test("sessions of a deleted role end, also when the role is made again", () => {
    const iam = start();
    const before = iam.findRoleByName(A, "puller")!;
    expect(iam.deleteRole(A, "puller")).toBe(true);
    expect(iam.deleteRole(A, "puller")).toBe(false);
    expect(pull(iam, sessionOf(before))).toMatchObject({ effect: "deny", reason: "no-such-principal" });
    const again = iam.putRole(A, "puller", { path: "/k8s/", trustPolicy: TRUST, policies: { pull: ALLOW } });
    expect(again.arn).toBe(before.arn);
    expect(again.id).not.toBe(before.id);
    expect(pull(iam, sessionOf(before)).reason).toBe("no-such-principal");
    expect(pull(iam, sessionOf(again)).effect).toBe("allow");
    iam.reset();
    expect(iam.findRoleByName(A, "puller")!.id).toBe(before.id);
  });

  test("a grant does not pass to a recreated role", () => {
    const iam = start();
    const before = iam.findRoleByName(A, "puller")!;
    const document = {
      Version: "2012-10-17",
      Statement: { Effect: "Allow", Principal: { AWS: before.arn }, Action: "ecr:PutImage" },
    };
    const resourcePolicy = iam.bindPrincipals(parsePolicy("resource", "repository policy", document));
    const push = (role: Role) =>
      iam.decideAccess({
        principal: sessionOf(role),
        action: "ecr:PutImage",
        resource: "*",
        resourceAccount: A,
        resourcePolicy,
      });
    const bare = { path: "/k8s/", trustPolicy: TRUST };
    expect(push(iam.putRole(A, "puller", bare)).reason).toBe("allowed-by-resource-policy");
    iam.deleteRole(A, "puller");
    expect(push(iam.putRole(A, "puller", bare)).reason).toBe("no-identity-policy-allows");
    expect(iam.bindPrincipals(resourcePolicy)).toBe(resourcePolicy);
  });

  test("boundaries and managed policies", () => {
    const iam = start();
    const of = (name: string) => sessionOf(iam.findRoleByName(A, name)!);
    expect(pull(iam, of("bound"))).toMatchObject({ reason: "no-boundary-allows", decidedBy: "narrow#Statement[0]" });
    expect(pull(iam, of("bound"), "ecr:ListImages").effect).toBe("allow");
    expect(pull(iam, of("managed"), "ecr:ListImages")).toMatchObject({
      effect: "allow",
      decidedBy: "narrow#Statement[0]",
    });
    expect(pull(iam, of("managed")).reason).toBe("no-identity-policy-allows");
  });

  test("session policies, inline and by ARN, together", () => {
    const iam = start();
    const role = iam.findRoleByName(A, "puller")!;
    const narrow = `arn:aws:iam::${A}:policy/narrow`;
    const inline = JSON.stringify({
      Version: "2012-10-17",
      Statement: { Effect: "Allow", Action: "ecr:BatchGetImage", Resource: "*" },
    });
    const ask = (more: object) => pull(iam, sessionOf(role, more)).reason;
    expect(ask({ sessionPolicies: [inline] })).toBe("allowed-by-identity-policy");
    expect(ask({ sessionPolicyArns: [narrow] })).toBe("no-session-policy-allows");
    expect(ask({ sessionPolicies: [inline], sessionPolicyArns: [narrow] })).toBe("allowed-by-identity-policy");
    expect(ask({ sessionPolicyArns: [`${narrow}er`] })).toBe("no-session-policy-allows");
  });

  test("web identities", () => {
    const iam = start();
    const ask = (sub: string, roleArn = `arn:aws:iam::${A}:role/k8s/puller`) =>
      iam.decideWebIdentity({
        roleArn,
        providerArn: PROVIDER,
        context: { "oidc.test:8443/c1/:sub": sub },
        actions: ["sts:AssumeRoleWithWebIdentity"],
      });
    expect(ask("me")).toMatchObject({ effect: "allow", decidedBy: "trust policy of puller#Statement[0]" });
    expect(ask("you")).toMatchObject({ effect: "deny", reason: "no-trust-policy-allows" });
    expect(ask("me", `arn:aws:iam::${A}:role/none`)).toMatchObject({ effect: "deny", reason: "no-such-role" });
  });

  test("the time, where a clock is given", () => {
    const clock = new MovableClock();
    clock.set(new Date("2026-01-01T00:00:00Z"));
    clock.freeze(true);
    const until = {
      Condition: {
        DateLessThan: { "aws:CurrentTime": "2026-06-01T00:00:00Z" },
        NumericGreaterThan: { "aws:EpochTime": "0" },
      },
    };
    const policies = { pull: { Version: "2012-10-17", Statement: { ...ALLOW.Statement, ...until } } };
    const iam = start({ roles: { puller: { trustPolicy: TRUST, policies } } }, clock);
    const session = sessionOf(iam.findRoleByName(A, "puller")!);
    expect(pull(iam, session).effect).toBe("allow");
    clock.set(new Date("2026-07-01T00:00:00Z"));
    expect(pull(iam, session).effect).toBe("deny");
  });

  test("a user's old keys end when the user is replaced", () => {
    const iam = start();
    iam.putUser(A, "ci", { accessKeys: [{ id: "AKIABTX3GSDS2UISEM2F", secret: "n" }] });
    expect(iam.findUserByAccessKey("AKIABTX3GSDS2UISEM2E")).toBeUndefined();
    expect(iam.findUserByAccessKey("AKIABTX3GSDS2UISEM2F")?.secret).toBe("n");
    iam.reset();
    expect(iam.findUserByAccessKey("AKIABTX3GSDS2UISEM2E")?.secret).toBe("s");
    expect(iam.findUserByAccessKey("AKIABTX3GSDS2UISEM2F")).toBeUndefined();
  });
});

test.each<[string, Partial<AccountSeed>, string, RegExp]>([
  ["an account of eleven digits", { id: "11112222333" }, "ValidationError", /12 digits/],
  ["an account declared twice", { id: B }, "EntityAlreadyExists", /declared twice/],
  [
    "two roles of one name",
    { roles: { a: { trustPolicy: TRUST }, A: { trustPolicy: TRUST } } },
    "EntityAlreadyExists",
    /role A twice/,
  ],
  [
    "a role without trust policy",
    { roles: { a: { trustPolicy: undefined } } },
    "ValidationError",
    /expected a trust policy, found none/,
  ],
  [
    "a trust policy that is none",
    { roles: { a: { trustPolicy: ALLOW } } },
    "MalformedPolicyDocument",
    /trust policy of a: Statement\.Principal/,
  ],
  [
    "a policy that is none",
    { roles: { a: { trustPolicy: TRUST, policies: { p: TRUST } } } },
    "MalformedPolicyDocument",
    /a\/p: Statement/,
  ],
  ["a name with blanks", { roles: { "a b": { trustPolicy: TRUST } } }, "ValidationError", /found "a b"/],
  ["a path without slash", { roles: { a: { path: "k8s", trustPolicy: TRUST } } }, "ValidationError", /path of a/],
  [
    "sessions that last too long",
    { roles: { a: { trustPolicy: TRUST, maxSessionDuration: 43_201 } } },
    "ValidationError",
    /found "43201"/,
  ],
  [
    "a managed policy that is not there",
    { roles: { a: { trustPolicy: TRUST, managedPolicies: [`arn:aws:iam::${A}:policy/x`] } } },
    "NoSuchEntity",
    /policy\/x/,
  ],
  [
    "one key of two users",
    { users: { a: { accessKeys: SEED.users!.ci!.accessKeys! }, b: { accessKeys: SEED.users!.ci!.accessKeys! } } },
    "EntityAlreadyExists",
    /belongs to/,
  ],
  [
    "a provider twice",
    { oidcProviders: [SEED.oidcProviders![0]!, SEED.oidcProviders![0]!] },
    "EntityAlreadyExists",
    /twice/,
  ],
  [
    "a provider that is no URL",
    { oidcProviders: [{ url: "oidc.test", clientIds: [] }] },
    "ValidationError",
    /found "oidc.test"/,
  ],
  [
    "a provider with a query",
    { oidcProviders: [{ url: `${ISSUER}?a`, clientIds: [] }] },
    "ValidationError",
    /without query/,
  ],
  [
    "a short thumbprint",
    { oidcProviders: [{ url: ISSUER, clientIds: [], thumbprints: ["00"] }] },
    "ValidationError",
    /40 hexadecimal/,
  ],
])("%s is refused", (_, change, code, message) => {
  expect(() => start()).not.toThrow();
  expect(() => start(change)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
});

test("what is put into an account that does not exist is refused", () => {
  const iam = start();
  for (const put of [
    () => iam.putRole("000000000000", "a", { trustPolicy: TRUST }),
    () => iam.putUser("000000000000", "a", {}),
  ]) {
    expect(put).toThrow(expect.objectContaining({ code: "NoSuchEntity", status: 404 }));
  }
});
