// Accounts and grants of plain registries.
import { describe, expect, it } from "vitest";
import { createPlainAuth } from "./plain-auth.ts";
import type { RegistryOperation } from "./types.ts";

const CONTEXT = { sourceIp: "127.0.0.1", secure: true, userAgent: "" };
const auth = createPlainAuth({
  auth: "basic",
  users: { team: { password: "pass:word" }, other: { password: "x" } },
  repositories: {
    "team/app": { grants: { team: ["pull", "push"] } },
    "team/*": { grants: { team: ["*"] } },
    "**/public": { anonymous: ["pull"] },
  },
});

function decide(user: string | undefined, operation: RegistryOperation, repository: string) {
  const principal = { name: user ?? "anonymous", anonymous: user === undefined, detail: undefined };
  return auth.authorizer.authorize({ principal, operation, repository, context: CONTEXT });
}

describe("grants", () => {
  it.each([
    ["team", "GetManifest", "team/app", "allow", "granted", "repositories[team/app].grants.team"],
    ["team", "PutManifest", "team/app", "allow", "granted", "repositories[team/app].grants.team"],
    ["team", "DeleteManifest", "team/app", "allow", "granted", "repositories[team/*].grants.team"],
    ["team", "DeleteManifest", "team/x/y", "deny", "no-grant", "repositories"],
    ["other", "GetManifest", "team/app", "deny", "no-grant", "repositories[team/app]"],
    ["other", "GetManifest", "none", "deny", "no-grant", "repositories"],
    ["toString", "GetManifest", "team/app", "deny", "no-grant", "repositories[team/app]"],
    [undefined, "GetManifest", "team/app", "deny", "anonymous-not-allowed", "repositories[team/app]"],
    [undefined, "GetBlob", "a/b/public", "allow", "granted-to-anyone", "repositories[**/public].anonymous"],
    [undefined, "StartUpload", "a/b/public", "deny", "anonymous-not-allowed", "repositories[**/public]"],
    [undefined, "Ping", "", "deny", "anonymous-not-allowed", "auth: basic"],
    ["other", "Ping", "", "allow", "signed-in", "auth: basic"],
    ["other", "ListCatalog", "", "allow", "filtered-list", "auth: basic"],
  ] as const)("%s, %s on %s: %s (%s)", (user, operation, repository, effect, reason, decidedBy) => {
    expect(decide(user, operation, repository)).toEqual({ effect, reason, decidedBy });
  });
});

describe("credentials", () => {
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
  it.each([
    [basic("team:pass:word"), "team"],
    [basic("team:pass:word").replace("Basic", "basic"), "team"],
    [basic("team:pass"), "bad-credentials"],
    [basic("nobody:pass:word"), "bad-credentials"],
    [basic("__proto__:x"), "bad-credentials"],
    [basic("team"), "malformed"],
    ["Bearer abc", "malformed"],
    ["Basic ???", "malformed"],
    ["Basic Og==", "anonymous"],
    [undefined, "anonymous"],
  ])("%s: %s", async (authorization, expected) => {
    const outcome = await auth.authenticator.authenticate(authorization);
    expect(outcome.kind === "refused" ? outcome.refusal : outcome.principal.name).toBe(expected);
  });
});

describe("the directory", () => {
  it("knows names, not patterns, and what was set since", () => {
    const own = createPlainAuth({ auth: "basic", repositories: { one: {}, "p/**": {} } });
    expect([...(own.directory.names?.() ?? [])]).toEqual(["one"]);
    expect(own.directory.find("p/x")).toBeUndefined();
    expect(own.directory.create).toBeUndefined();
    own.setRepository("two", {});
    expect(own.directory.find("two")).toEqual({ immutableTags: false });
    own.reset();
    expect(own.directory.find("two")).toBeUndefined();
  });
});

it("auth: none lets everybody in; bearer is refused for now", () => {
  const open = createPlainAuth({ auth: "none" });
  expect(open.authenticator.authenticate("Basic rubbish")).toMatchObject({ kind: "principal" });
  expect(() => createPlainAuth({ auth: "bearer" })).toThrow(/found bearer/);
});
