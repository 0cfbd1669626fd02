// Sessions in use: signed calls of STS, role chaining, and what the credential resolver says.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountOfUniqueId } from "../shared/aws/arn.ts";
import { A, B, CI_KEY, claims, K1, keyOf, NOW, OPS_KEY, roleArn, signToken, startSts } from "./testdata/fixture.ts";

let sts: Awaited<ReturnType<typeof startSts>>;
beforeEach(async () => {
  sts = await startSts();
});
afterEach(() => sts.close());

const IDENTITY = { Action: "GetCallerIdentity" };
const assumeRole = (role: string, more: Record<string, string> = {}) => ({
  Action: "AssumeRole",
  RoleArn: role,
  RoleSessionName: "chained",
  ...more,
});
const deniedFor = (user: string, role: string) =>
  `403 AccessDenied: User: arn:aws:iam::${A}:user/${user} is not authorized to perform: sts:AssumeRole on resource: ${role}`;

describe("a session", () => {
  it("says who it is", async () => {
    const assumed = await sts.assume();
    const answer = await sts.signed(IDENTITY, keyOf(assumed));
    expect(answer.read("Arn")).toBe(`arn:aws:sts::${A}:assumed-role/tenant-a/ecr-credential-provider`);
    expect(answer.read("UserId")).toBe(assumed.read("AssumedRoleId"));
    expect(answer.read("Account")).toBe(A);
    expect(sts.events.events.at(-1)).toMatchObject({
      operation: "sts:GetCallerIdentity",
      lineage: "0e2b6b0c-0000-4000-8000-000000000001",
    });
  });

  it("carries its account in its key, and starts like a real token", async () => {
    const key = keyOf(await sts.assume());
    expect(accountOfUniqueId(key.accessKeyId)).toBe(A);
    expect(key.sessionToken).toMatch(/^IQoJb3JpZ2luX2Vj/);
    const info = await sts.signed({ Action: "GetAccessKeyInfo", AccessKeyId: key.accessKeyId }, CI_KEY);
    expect(info.read("Account")).toBe(A);
  });

  it("ends with its last second", async () => {
    const key = keyOf(await sts.assume());
    sts.clock.advance(3599);
    expect((await sts.signed(IDENTITY, key)).status).toBe(200);
    sts.clock.advance(1);
    const answer = await sts.signed(IDENTITY, key);
    expect(answer.verdict).toBe("403 ExpiredToken: The security token included in the request is expired");
    expect(sts.events.events.at(-1)).toMatchObject({ decision: "deny", reason: "signature-expired-session" });
  });

  it("52: does not go with another session's key, nor without its token, nor with a bit of it changed", async () => {
    const [one, two] = [keyOf(await sts.assume()), keyOf(await sts.assume())];
    const { sessionToken = "" } = one;
    const flipped = sessionToken.slice(0, 40) + (sessionToken[40] === "A" ? "B" : "A") + sessionToken.slice(41);
    const { sessionToken: _, ...bare } = one;
    const invalid = "403 InvalidClientTokenId: The security token included in the request is invalid.";
    for (const key of [{ ...one, sessionToken: two.sessionToken ?? "" }, { ...one, sessionToken: flipped }, bare]) {
      expect((await sts.signed(IDENTITY, key)).verdict).toBe(invalid);
    }
    expect((await sts.signed(IDENTITY, one)).status).toBe(200);
  });

  it("dies with its role, also when one of the same name is made anew", async () => {
    const key = keyOf(await sts.assume());
    sts.iam.deleteRole(A, "tenant-a");
    expect((await sts.signed(IDENTITY, key)).status).toBe(403);
    sts.iam.putRole(A, "tenant-a", { trustPolicy: TRUST_ANYONE });
    expect((await sts.signed(IDENTITY, key)).status).toBe(403);
    sts.iam.reset();
    expect((await sts.signed(IDENTITY, key)).status).toBe(200);
  });

  it("is accepted by the system's clock while the stack's is moved", async () => {
    sts.clock.advance(1800);
    const key = keyOf(await sts.assume());
    expect((await sts.signed(IDENTITY, key, new Date(NOW * 1000))).status).toBe(200);
    expect(sts.events.events.at(-1)?.notes?.clock).toBe("signed by the system's clock");
    const neither = await sts.signed(IDENTITY, key, new Date((NOW + 900 - 1) * 1000 + 3_600_000));
    expect(neither.verdict).toMatch(/^403 SignatureDoesNotMatch: Signature not yet current/);
  });

  it("54: presigned, it works until it expires", async () => {
    sts.clock.advance(1000); // out of reach of the system's clock, which would be good as well
    const path = sts.presigned(keyOf(await sts.assume()), 60);
    sts.clock.advance(60);
    expect((await fetch(sts.url + path)).status).toBe(200);
    sts.clock.advance(1);
    const answer = await fetch(sts.url + path);
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("Signature expired")]);
  });
});

const TRUST_ANYONE = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { AWS: `arn:aws:iam::${A}:root` }, Action: "sts:AssumeRole" }],
};

describe("AssumeRole", () => {
  it("lets in whom the trust policy names, without any policy of its own", async () => {
    const answer = await sts.signed(assumeRole(roleArn("for-ci")), CI_KEY);
    expect(answer.read("Arn")).toBe(`arn:aws:sts::${A}:assumed-role/for-ci/chained`);
    expect(sts.events.events.at(-1)?.lineage).toBe(CI_KEY.accessKeyId);
    const ops = await sts.signed(assumeRole(roleArn("for-ci")), OPS_KEY);
    expect(ops.verdict).toBe(deniedFor("staff/ops", roleArn("for-ci")));
  });

  it("wants the caller's own policy where the trust policy names the account", async () => {
    expect((await sts.signed(assumeRole(roleArn("for-account")), OPS_KEY)).status).toBe(200);
    const answer = await sts.signed(assumeRole(roleArn("for-account")), CI_KEY);
    expect(answer.verdict).toBe(deniedFor("ci", roleArn("for-account")));
  });

  it("says the same of a role that does not exist, here and in another account", async () => {
    for (const role of [roleArn("nobody"), roleArn("tenant-b", B), roleArn("nobody", B)]) {
      expect((await sts.signed(assumeRole(role), OPS_KEY)).verdict).toBe(deniedFor("staff/ops", role));
    }
  });

  it("chains for an hour at most", async () => {
    const key = keyOf(await sts.assume());
    const long = await sts.signed(assumeRole(roleArn("for-ci"), { DurationSeconds: "3601" }), key);
    expect(long.verdict).toMatch(
      /^400 ValidationError: The requested DurationSeconds exceeds the 1 hour session limit/,
    );
    expect((await sts.signed(assumeRole(roleArn("for-ci"), { DurationSeconds: "3600" }), key)).status).toBe(200);
    expect((await sts.signed(assumeRole(roleArn("for-ci"), { DurationSeconds: "43200" }), CI_KEY)).status).toBe(200);
  });

  it("keeps the lineage of the token", async () => {
    const key = keyOf(await sts.assume());
    const chained = keyOf(await sts.signed(assumeRole(roleArn("for-ci")), key));
    await sts.signed(IDENTITY, chained);
    expect(sts.events.events.at(-1)?.lineage).toBe("0e2b6b0c-0000-4000-8000-000000000001");
  });

  it("asks for the right to tag", async () => {
    const tag = { "Tags.member.1.Key": "team", "Tags.member.1.Value": "blue" };
    const answer = await sts.signed(assumeRole(roleArn("for-ci"), tag), CI_KEY);
    expect(answer.verdict).toContain("is not authorized to perform: sts:TagSession on resource");
    const twice = { ...tag, "Tags.member.2.Key": "Team", "Tags.member.2.Value": "red" };
    expect((await sts.signed(assumeRole(roleArn("for-ci"), twice), CI_KEY)).verdict).toMatch(
      /^400 ValidationError: Duplicate tag/,
    );
  });
});

describe("GetSessionToken", () => {
  it("is for users and their own keys", async () => {
    const answer = await sts.signed({ Action: "GetSessionToken", DurationSeconds: "900" }, CI_KEY);
    const key = keyOf(answer);
    expect((await sts.signed(IDENTITY, key)).read("Arn")).toBe(`arn:aws:iam::${A}:user/ci`);
    const again = await sts.signed({ Action: "GetSessionToken" }, key);
    expect(again.verdict).toBe("403 AccessDenied: Cannot call GetSessionToken with session credentials");
    const role = await sts.signed({ Action: "GetSessionToken" }, keyOf(await sts.assume()));
    expect(role.verdict).toBe("403 AccessDenied: Cannot call GetSessionToken with session credentials");
  });
});

describe("mintSession", () => {
  it("makes a machine's own identity without a token", async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = sts.sts.mintSession({
      roleArn: roleArn("for-account"),
      sessionName: "node-1",
      durationSeconds: 900,
      lineage: "node-1",
    });
    const answer = await sts.signed(IDENTITY, { accessKeyId, secretAccessKey, sessionToken });
    expect(answer.read("Arn")).toBe(`arn:aws:sts::${A}:assumed-role/for-account/node-1`);
    expect(() => sts.sts.mintSession({ roleArn: roleArn("nobody"), sessionName: "x", durationSeconds: 900 })).toThrow();
  });
});

it("a token of another key never becomes a session", async () => {
  const other = { ...K1, privateKey: (await import("./testdata/fixture.ts")).createKey("k1", "RS256").privateKey };
  expect((await sts.assume({ WebIdentityToken: signToken(claims(), other) })).status).toBe(400);
  expect((await sts.assume()).status).toBe(200);
});
