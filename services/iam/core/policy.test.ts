// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables are written like this
import { describe, expect, test } from "vitest";
import type { PolicyKind } from "../types.ts";
import { listPolicyProblems, parsePolicy } from "./policy.ts";

const PROVIDER = "arn:aws:iam::111122223333:oidc-provider/oidc.test/c1";
const statement = (more: object = {}, kind: PolicyKind = "identity") => ({
  Effect: "Allow",
  Action: kind === "trust" ? "sts:AssumeRoleWithWebIdentity" : "ecr:BatchGetImage",
  ...(kind === "trust" ? { Principal: { Federated: PROVIDER } } : {}),
  ...(kind === "resource" ? { Principal: "*" } : {}),
  ...(kind === "trust" || kind === "resource" ? {} : { Resource: "*" }),
  ...more,
});
const document = (more: object = {}, kind: PolicyKind = "identity") => ({
  Version: "2012-10-17",
  Statement: [statement(more, kind)],
});

describe("a policy", () => {
  test("has lists where the document may have single values", () => {
    const policy = parsePolicy("identity", "pull", {
      Version: "2012-10-17",
      Id: "id",
      Statement: {
        Sid: "One",
        Effect: "Deny",
        NotAction: "ecr:*",
        NotResource: "*",
        Condition: {
          StringEquals: { "a:b": "x", "a:c": ["y", "z"] },
          Bool: { "aws:SecureTransport": false },
          NumericLessThan: { "a:n": 3 },
        },
      },
    });
    expect(policy).toEqual({
      kind: "identity",
      name: "pull",
      version: "2012-10-17",
      id: "id",
      statements: [
        {
          id: "One",
          effect: "Deny",
          notActions: ["ecr:*"],
          notResources: ["*"],
          conditions: [
            { operator: "StringEquals", key: "a:b", values: ["x"] },
            { operator: "StringEquals", key: "a:c", values: ["y", "z"] },
            { operator: "Bool", key: "aws:SecureTransport", values: ["false"] },
            { operator: "NumericLessThan", key: "a:n", values: ["3"] },
          ],
          unknown: [],
        },
      ],
    });
  });

  test("is of 2008 unless it says so, and names unnamed statements by their place", () => {
    const policy = parsePolicy("identity", "p", { Statement: [statement(), statement({ Sid: "" })] });
    expect(policy.version).toBe("2008-10-17");
    expect(policy.statements.map(({ id }) => id)).toEqual(["Statement[0]", "Statement[1]"]);
  });

  test("may be text", () => {
    expect(parsePolicy("identity", "p", JSON.stringify(document()))).toEqual(parsePolicy("identity", "p", document()));
  });

  test("may allow nothing at all", () => {
    expect(parsePolicy("session", "s", { Version: "2012-10-17", Statement: [] }).statements).toEqual([]);
  });

  test.each(["*", { AWS: "*" }])("has principal %j for everyone", (principal) => {
    const policy = parsePolicy("resource", "r", document({ Principal: principal }, "resource"));
    expect(policy.statements[0]!.principals).toEqual([{ type: "AWS", value: "*" }]);
  });

  test("has principals of several types", () => {
    const principal = { AWS: ["111122223333", "arn:aws:iam::111122223333:role/a/b"], Service: "ec2.amazonaws.com" };
    const policy = parsePolicy("trust", "t", document({ Principal: principal, Action: "sts:AssumeRole" }, "trust"));
    expect(policy.statements[0]!.principals).toEqual([
      { type: "AWS", value: "111122223333" },
      { type: "AWS", value: "arn:aws:iam::111122223333:role/a/b" },
      { type: "Service", value: "ec2.amazonaws.com" },
    ]);
  });
});

/** Each mistake beside the document without it, so that only the mistake can be the cause. */
test.each<[PolicyKind, string, object, string, RegExp]>([
  [
    "identity",
    "an unknown element",
    { Resourse: "*" },
    "Statement.0.Resourse",
    /expected one of Sid, .*found "Resourse"/,
  ],
  [
    "identity",
    "an element in the wrong case",
    { condition: {} },
    "Statement.0.condition",
    /expected "Condition", found "condition"/,
  ],
  [
    "identity",
    "another effect",
    { Effect: "allow" },
    "Statement.0.Effect",
    /expected "Allow" or "Deny", found "allow"/,
  ],
  ["identity", "no effect", { Effect: undefined }, "Statement.0.Effect", /found nothing/],
  ["identity", "a Sid with blanks", { Sid: "a b" }, "Statement.0.Sid", /letters and digits/],
  ["identity", "a principal", { Principal: "*" }, "Statement.0.Principal", /no Principal in an identity policy/],
  ["session", "a principal", { Principal: "*" }, "Statement.0.Principal", /no Principal in a session policy/],
  ["boundary", "a principal", { Principal: "*" }, "Statement.0.Principal", /no Principal in a permissions boundary/],
  ["identity", "no action", { Action: undefined }, "Statement.0", /exactly one of Action and NotAction, found none/],
  ["identity", "both actions", { NotAction: "a:b" }, "Statement.0", /found both/],
  ["identity", "an action without service", { Action: "BatchGetImage" }, "Statement.0.Action", /<service>:<Action>/],
  ["identity", "an empty list of actions", { Action: [] }, "Statement.0.Action", /empty list/],
  [
    "identity",
    "an action that is no text",
    { Action: ["ecr:*", 3] },
    "Statement.0.Action.1",
    /expected a string, found 3/,
  ],
  ["identity", "no resource", { Resource: undefined }, "Statement.0", /exactly one of Resource and NotResource/],
  ["identity", "a resource that is no ARN", { Resource: "team-a/*" }, "Statement.0.Resource", /ARN of six parts/],
  ["identity", "an ARN cut short", { Resource: "arn:aws:ecr:*" }, "Statement.0.Resource", /ARN of six parts/],
  ["identity", "a variable too early", { Resource: "arn:aws:ecr:${aws:x}:1:r" }, "Statement.0.Resource", /last part/],
  ["identity", "a variable left open", { Resource: "arn:aws:ecr:r:1:${aws:x" }, "Statement.0.Resource", /closed/],
  ["trust", "a resource", { Resource: "*" }, "Statement.0.Resource", /no Resource in a trust policy/],
  ["trust", "no principal", { Principal: undefined }, "Statement.0.Principal", /found nothing/],
  ["trust", "NotPrincipal", { NotPrincipal: "*" }, "Statement.0.NotPrincipal", /not supported/],
  [
    "trust",
    "an unknown type of principal",
    { Principal: { Aws: "*" } },
    "Statement.0.Principal.Aws",
    /one of AWS, Federated, Service/,
  ],
  [
    "trust",
    "a type of principal from the prototype",
    { Principal: { constructor: "*" } },
    "Statement.0.Principal.constructor",
    /one of AWS/,
  ],
  [
    "trust",
    "a wildcard in a principal",
    { Principal: { AWS: "arn:aws:iam::111122223333:role/*" } },
    "Statement.0.Principal.AWS",
    /no wildcards/,
  ],
  [
    "trust",
    "a provider by URL",
    { Principal: { Federated: "https://oidc.test/c1" } },
    "Statement.0.Principal.Federated",
    /ARN of an OIDC/,
  ],
  ["trust", "an action of another service", { Action: "ecr:*" }, "Statement.0.Action", /AssumeRole action of sts/],
  [
    "trust",
    "an action misspelt",
    { Action: "sts:AssumeRoleWithWebIdentiy" },
    "Statement.0.Action",
    /AssumeRole action of sts/,
  ],
  [
    "resource",
    "a federated principal",
    { Principal: { Federated: PROVIDER } },
    "Statement.0.Principal.Federated",
    /no Federated principal in a resource policy/,
  ],
  [
    "identity",
    "an unknown operator",
    { Condition: { StringEqals: { "a:b": "c" } } },
    "Statement.0.Condition.StringEqals",
    /condition operator, found "StringEqals"/,
  ],
  [
    "identity",
    "an operator without keys",
    { Condition: { StringEquals: "c" } },
    "Statement.0.Condition.StringEquals",
    /expected an object/,
  ],
  [
    "identity",
    "a key without prefix",
    { Condition: { StringEquals: { sub: "c" } } },
    "Statement.0.Condition.StringEquals.sub",
    /a key like aws:SourceIp/,
  ],
  [
    "identity",
    "no values",
    { Condition: { StringEquals: { "a:b": [] } } },
    "Statement.0.Condition.StringEquals.a:b",
    /at least one/,
  ],
  [
    "identity",
    "null for a value",
    { Condition: { StringEquals: { "a:b": null } } },
    "Statement.0.Condition.StringEquals.a:b",
    /found null/,
  ],
  [
    "identity",
    "a value of another type",
    { Condition: { IpAddress: { "aws:SourceIp": "10.0.0" } } },
    "Statement.0.Condition.IpAddress.aws:SourceIp",
    /found "10.0.0"/,
  ],
])("%s policy with %s is refused", (kind, _, change, path, message) => {
  expect(listPolicyProblems(kind, document({}, kind))).toEqual([]);
  const problems = listPolicyProblems(kind, document(change, kind));
  expect(problems.map((problem) => problem.path.join("."))).toContain(path);
  expect(problems.find((problem) => problem.path.join(".") === path)!.message).toMatch(message);
});

test.each<[string, unknown, RegExp]>([
  ["null", null, /found null/],
  ["a list", [3], /found a list/],
  ["an empty list", [], /found an empty list/],
  ["a number", 3, /found 3/],
  ["text that is no JSON", "{", /expected JSON/],
  ["JSON that is no object", "3", /found 3/],
  ["no statement", { Version: "2012-10-17" }, /Statement: .*found nothing/],
  ["a version of its own", { ...document(), Version: "2026-01-01" }, /Version: expected "2012-10-17" or "2008-10-17"/],
  ["an unknown element", { ...document(), Statements: [] }, /Statements: expected one of Version, Id, Statement/],
  ["a statement that is no object", { Statement: ["x"] }, /Statement\[0\]: expected a statement/],
  [
    "a Sid used twice",
    { Statement: [statement({ Sid: "A" }), statement({ Sid: "A" })] },
    /Statement\[1\]\.Sid: .*unique/,
  ],
  [
    "a key given twice",
    '{"Version":"2012-10-17","Statement":[],"Statement":[]}',
    /expected each key once, found "Statement" again/,
  ],
  ["a key given twice in two spellings", '{"Statement":[],"\\u0053tatement":[]}', /found "Statement" again/],
])("%s is no policy", (_, value, message) => {
  expect(() => parsePolicy("identity", "p", value)).toThrow(
    expect.objectContaining({ code: "MalformedPolicyDocument", status: 400, message: expect.stringMatching(message) }),
  );
});

test("all mistakes are told at once", () => {
  const broken = {
    Version: "2012-10-17",
    Statement: [statement({ Effect: "Permit", Action: "x" }), statement({ Resource: 3 })],
  };
  expect(listPolicyProblems("identity", broken).map(({ path }) => path)).toEqual([
    ["Statement", 0, "Effect"],
    ["Statement", 0, "Action"],
    ["Statement", 1, "Resource"],
  ]);
});
