// The numbered cases of aws.md 7 that STS can show, asked over HTTP. Each denial stands beside its allowed twin.
import { createHmac, createPublicKey } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  A,
  B,
  CI_KEY,
  claims,
  createKey,
  encode,
  form,
  ISSUER,
  K1,
  NOW,
  providerArn,
  roleArn,
  signToken,
  startSts,
  webIdentityParameters,
} from "./testdata/fixture.ts";

const ACCESS_DENIED = "403 AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity";
const NOT_A_JWT =
  "400 InvalidIdentityToken: The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)";
const WRONG_AUDIENCE = "400 InvalidIdentityToken: Incorrect token audience";
const WRONG_SIGNATURE = "400 InvalidIdentityToken: Token signature invalid";
const noProvider = (issuer: string) =>
  `400 InvalidIdentityToken: No OpenIDConnect provider found in your account for ${issuer}`;
const broken = (name: string, value: string, text: string) =>
  `400 ValidationError: 1 validation error detected: Value${value} at '${name}' failed to satisfy constraint: ${text}`;

let sts: Awaited<ReturnType<typeof startSts>>;
beforeEach(async () => {
  sts = await startSts();
});
afterEach(() => sts.close());

const token = (changes: Record<string, unknown> = {}, header: object = {}) => signToken(claims(changes), K1, header);
const lastEvent = () => sts.events.events.at(-1);

describe("AssumeRoleWithWebIdentity", () => {
  it("1: gives a session for a valid token and the right role", async () => {
    const answer = await sts.assume();
    expect(answer.verdict).toBe("200");
    expect(answer.read("Arn")).toBe(`arn:aws:sts::${A}:assumed-role/tenant-a/ecr-credential-provider`);
    expect(answer.read("AssumedRoleId")).toMatch(/^AROA[A-Z2-7]{17}:ecr-credential-provider$/);
    expect(answer.read("Provider")).toBe(providerArn());
    expect(answer.read("Audience")).toBe("sts.amazonaws.com");
    expect(answer.read("SubjectFromWebIdentityToken")).toBe("system:serviceaccount:tenant-a:app");
    expect(answer.read("Expiration")).toBe("2026-01-31T13:00:00Z");
    expect(answer.read("AccessKeyId")).toMatch(/^ASIA[A-Z2-7]{16}$/);
    expect(answer.read("SecretAccessKey")).toMatch(/^[A-Za-z0-9+/]{40}$/);
    expect(answer.read("PackedPolicySize")).toBeUndefined();
    expect(answer.text).toMatch(
      /^<AssumeRoleWithWebIdentityResponse xmlns="https:\/\/sts\.amazonaws\.com\/doc\/2011-06-15\/">\n {2}<AssumeRoleWithWebIdentityResult>\n/,
    );
    expect(answer.headers.get("content-type")).toBe("text/xml");
    expect(answer.headers.get("x-amzn-requestid")).toBe(answer.read("RequestId"));
    expect(answer.headers.get("date")).toBe(new Date(NOW * 1000).toUTCString());
    expect(lastEvent()).toMatchObject({
      operation: "sts:AssumeRoleWithWebIdentity",
      decision: "allow",
      reason: "allowed-by-trust-policy",
      lineage: "0e2b6b0c-0000-4000-8000-000000000001",
      principal: `arn:aws:sts::${A}:assumed-role/tenant-a/ecr-credential-provider`,
      resource: roleArn("tenant-a"),
    });
    expect(JSON.stringify(sts.events.events)).not.toContain(answer.read("SecretAccessKey"));
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ["2: a foreign subject", { sub: "system:serviceaccount:tenant-b:app" }, "tenant-a", ACCESS_DENIED],
    ["3: a subject that differs in case", { sub: "system:serviceaccount:Tenant-A:app" }, "tenant-a", ACCESS_DENIED],
    ["4: a subject with text appended", { sub: "system:serviceaccount:tenant-a:app2" }, "tenant-a", ACCESS_DENIED],
    ["4: the same under StringLike", { sub: "system:serviceaccount:tenant-a:app2" }, "teams/tenant-a-like", "200"],
    [
      "4: a foreign one under StringLike",
      { sub: "system:serviceaccount:tenant-b:app" },
      "teams/tenant-a-like",
      ACCESS_DENIED,
    ],
    ["6: another audience", { aud: ["https://kubernetes.default.svc"] }, "tenant-a", WRONG_AUDIENCE],
    ["7: several audiences, one registered", { aud: ["x", "sts.amazonaws.com"] }, "tenant-a", "200"],
    ["7: the audience as plain text", { aud: "sts.amazonaws.com" }, "tenant-a", "200"],
    ["8: azp of another app", { azp: "other" }, "tenant-a", WRONG_AUDIENCE],
    ["8: azp that is registered", { azp: "sts.amazonaws.com", aud: "x" }, "tenant-a", "200"],
    ["9: no aud", { aud: undefined }, "tenant-a", "400 InvalidIdentityToken: Missing a required claim: aud"],
    ["9: no sub", { sub: undefined }, "tenant-a", "400 InvalidIdentityToken: Missing a required claim: sub"],
    ["9: no iss", { iss: undefined }, "tenant-a", "400 InvalidIdentityToken: Missing a required claim: iss"],
    ["9: no exp", { exp: undefined }, "tenant-a", "400 InvalidIdentityToken: Missing a required claim: exp"],
    ["9: no iat", { iat: undefined }, "tenant-a", "400 InvalidIdentityToken: Missing a required claim: iat"],
    [
      "an exp with a fraction",
      { exp: NOW + 0.5 },
      "tenant-a",
      "400 InvalidIdentityToken: Invalid value for claim: exp",
    ],
    ["an exp as text", { exp: String(NOW + 9) }, "tenant-a", "400 InvalidIdentityToken: Invalid value for claim: exp"],
    ["10: an unregistered issuer", { iss: "https://oidc.test/c2" }, "tenant-a", noProvider("https://oidc.test/c2")],
    ["11: a trailing slash", { iss: `${ISSUER}/` }, "tenant-a", noProvider(`${ISSUER}/`)],
    ["12: an issuer of B only", { iss: "https://only-b.test" }, "tenant-a", noProvider("https://only-b.test")],
    [
      "5: an http issuer",
      { iss: "http://oidc.test/c1" },
      "tenant-a",
      "400 InvalidIdentityToken: Invalid issuer: http://oidc.test/c1 (expected a URL that starts with https://)",
    ],
    [
      "21: an expired token",
      { exp: NOW },
      "tenant-a",
      `400 ExpiredTokenException: Token expired: current date/time ${NOW} must be before the expiration date/time ${NOW}`,
    ],
    ["21: a second left", { exp: NOW + 1 }, "tenant-a", "200"],
    ["23: an old token", { iat: NOW - 172_800 }, "tenant-a", "400 ExpiredTokenException: Token too old: 172800"],
    ["23: a day old", { iat: NOW - 86_400 }, "tenant-a", "200"],
    [
      "24: nbf ten minutes ahead",
      { nbf: NOW + 600 },
      "tenant-a",
      `400 InvalidIdentityToken: Token not yet valid: current date/time ${NOW} must not be before the nbf date/time ${NOW + 600}`,
    ],
    ["24: nbf a minute ahead", { nbf: NOW + 60 }, "tenant-a", "200"],
    [
      "24: iat ten minutes ahead",
      { iat: NOW + 600 },
      "tenant-a",
      `400 InvalidIdentityToken: Token not yet valid: current date/time ${NOW} must not be before the iat date/time ${NOW + 600}`,
    ],
    [
      "a subject of 256 characters",
      { sub: "s".repeat(256) },
      "loose",
      "400 InvalidIdentityToken: Invalid value for claim: sub",
    ],
    ["a subject of 255 characters", { sub: "s".repeat(255) }, "loose", "200"],
    ["33: a loose trust policy", { sub: "system:serviceaccount:tenant-b:app" }, "loose", "200"],
    ["33: ForAllValues on a missing key", { sub: "system:serviceaccount:tenant-b:app" }, "vacuous", "200"],
    ["33: ForAllValues on a key that is there", { amr: ["tenant-b"] }, "vacuous", ACCESS_DENIED],
    ["an explicit deny", { sub: "system:serviceaccount:tenant-b:app" }, "denies-tenant-b", ACCESS_DENIED],
    ["whom the deny does not mean", {}, "denies-tenant-b", "200"],
  ])("%s", async (_name, changes, role, verdict) => {
    const answer = await sts.assume({ RoleArn: roleArn(role), WebIdentityToken: token(changes) });
    expect(answer.verdict).toBe(verdict);
    if (verdict !== "200")
      expect(lastEvent()).toMatchObject({ decision: "deny", reason: expect.stringMatching(/^[a-z-]+$/) });
  });

  it("5: answers for a role that does not exist as for a wrong subject, byte for byte", async () => {
    const foreign = token({ sub: "system:serviceaccount:tenant-b:app" });
    const wrong = await sts.assume({ WebIdentityToken: foreign });
    const wrongEvent = lastEvent();
    const missing = await sts.assume({ RoleArn: roleArn("nobody"), WebIdentityToken: foreign });
    const plain = (answer: typeof wrong) => answer.text.replaceAll(answer.read("RequestId") ?? "", "<id>");
    expect(plain(missing)).toBe(plain(wrong));
    expect(missing.status).toBe(403);
    const headers = (answer: typeof wrong) => [...answer.headers].filter(([name]) => name !== "x-amzn-requestid");
    expect(headers(missing)).toEqual(headers(wrong));
    expect([wrongEvent?.reason, lastEvent()?.reason]).toEqual(["no-trust-policy-allows", "no-such-role"]);
  });

  it("2: the event says which condition failed, and what was found", async () => {
    await sts.assume({ WebIdentityToken: token({ sub: "system:serviceaccount:tenant-b:app" }) });
    expect(lastEvent()?.reason).toBe("no-trust-policy-allows");
    expect(JSON.stringify(lastEvent()?.notes?.outcomes)).toContain("system:serviceaccount:tenant-b:app");
  });

  it("12: the twin in the account that has the provider", async () => {
    const changes = { sub: "system:serviceaccount:tenant-b:app" };
    const answer = await sts.assume({ RoleArn: roleArn("tenant-b", B), WebIdentityToken: token(changes) });
    expect(answer.read("Provider")).toBe(providerArn(B));
  });

  it.each<[string, string, string]>([
    ["13: alg none", `${encode({ alg: "none", kid: "k1" })}.${encode(claims())}.`, WRONG_SIGNATURE],
    ["13: alg none, with a signature", signToken(claims(), K1, { alg: "none" }), WRONG_SIGNATURE],
    ["PS256 over an RSA key", signToken(claims(), K1, { alg: "PS256" }), WRONG_SIGNATURE],
    ["RS512 claimed, RS256 used", signToken(claims(), K1, { alg: "RS512" }), WRONG_SIGNATURE],
    ["an alg that is a property of objects", signToken(claims(), K1, { alg: "constructor" }), WRONG_SIGNATURE],
    [
      "20: a changed payload",
      token().replace(/\.[^.]+\./, `.${encode(claims({ sub: "system:serviceaccount:tenant-a:root" }))}.`),
      WRONG_SIGNATURE,
    ],
    ["22: expired and forged", token({ exp: NOW - 5 }).replace(/.{4}$/, "AAAA"), WRONG_SIGNATURE],
    ["25: three parts of garbage", "aaa.bbb.ccc", NOT_A_JWT],
    ["an opaque access token", "ya29.opaque", NOT_A_JWT],
    ["five parts", `${token()}.a.b`, NOT_A_JWT],
    ["a truncated token", token().split(".").slice(0, 2).join("."), NOT_A_JWT],
    ["padding", token().replace(/\./, "=."), NOT_A_JWT],
    ["a payload that is a list", `${encode({ alg: "RS256", kid: "k1" })}.${encode([])}.AAAA`, NOT_A_JWT],
    [
      "a payload in broken UTF-8",
      `${encode({ alg: "RS256" })}.${Buffer.from([0x7b, 0xff, 0x7d]).toString("base64url")}.AAAA`,
      NOT_A_JWT,
    ],
    ["a critical extension", signToken(claims(), K1, { crit: ["b64"] }), NOT_A_JWT],
    ["25: 3 characters", "abc", broken("webIdentityToken", "", "Member must have length greater than or equal to 4")],
    [
      "25: 20001 characters",
      "a".repeat(20_001),
      broken("webIdentityToken", "", "Member must have length less than or equal to 20000"),
    ],
    [
      "100 KB",
      "a".repeat(100_000),
      broken("webIdentityToken", "", "Member must have length less than or equal to 20000"),
    ],
  ])("%s", async (_name, text, verdict) => {
    expect((await sts.assume({ WebIdentityToken: text })).verdict).toBe(verdict);
  });

  it("14: HS256 with the public key as secret", async () => {
    const pem = createPublicKey(K1.privateKey).export({ format: "pem", type: "spki" });
    const input = `${encode({ alg: "HS256", kid: "k1" })}.${encode(claims())}`;
    const forged = `${input}.${createHmac("sha256", pem).update(input).digest("base64url")}`;
    expect((await sts.assume({ WebIdentityToken: forged })).verdict).toBe(WRONG_SIGNATURE);
  });

  it.each(["RS384", "RS512", "ES256", "ES384", "ES512"])("accepts %s, and not under another name", async (alg) => {
    const key = createKey("k2", alg);
    sts.issuer.keys.push({ ...key.jwk, alg: undefined });
    expect((await sts.assume({ WebIdentityToken: signToken(claims(), key) })).verdict).toBe("200");
    const other = alg === "ES256" ? "ES384" : "ES256";
    const renamed = signToken(claims(), key, { alg: other });
    expect((await sts.assume({ WebIdentityToken: renamed })).verdict).toBe(WRONG_SIGNATURE);
  });

  it("15: RS256 where the JWK is EC", async () => {
    const ec = createKey("k1", "ES256");
    sts.issuer.keys.splice(0, 1, { ...ec.jwk, alg: undefined });
    expect((await sts.assume()).verdict).toBe(WRONG_SIGNATURE);
    sts.sts.reset();
    sts.issuer.keys.splice(0, 1, K1.jwk);
    expect((await sts.assume()).verdict).toBe("200");
  });

  it("16: keys in the header are ignored", async () => {
    const own = createKey("k1", "RS256");
    const header = { jwk: own.jwk, jku: "https://oidc.test/evil", x5c: ["AAAA"], x5u: "https://oidc.test/evil" };
    expect((await sts.assume({ WebIdentityToken: signToken(claims(), own, header) })).verdict).toBe(WRONG_SIGNATURE);
    expect((await sts.assume({ WebIdentityToken: token({}, header) })).verdict).toBe("200");
    expect(sts.issuer.asked).not.toContain("/evil");
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    [
      "26: a session name of one letter",
      { RoleSessionName: "a" },
      broken("roleSessionName", " 'a'", "Member must have length greater than or equal to 2"),
    ],
    [
      "26: a session name of 65",
      { RoleSessionName: "a".repeat(65) },
      broken("roleSessionName", ` '${"a".repeat(65)}'`, "Member must have length less than or equal to 64"),
    ],
    [
      "26: a blank in the session name",
      { RoleSessionName: "a b" },
      broken("roleSessionName", " 'a b'", "Member must satisfy regular expression pattern: [\\w+=,.@-]*"),
    ],
    ["26: no session name", { RoleSessionName: undefined }, broken("roleSessionName", "", "Member must not be null")],
    [
      "27: 899 seconds",
      { DurationSeconds: "899" },
      broken("durationSeconds", " '899'", "Member must have value greater than or equal to 900"),
    ],
    ["27: 900 seconds", { DurationSeconds: "900" }, "200"],
    [
      "27: 43201 seconds",
      { DurationSeconds: "43201" },
      broken("durationSeconds", " '43201'", "Member must have value less than or equal to 43200"),
    ],
    [
      "27: 7200 where the role allows 3600",
      { DurationSeconds: "7200" },
      "400 ValidationError: The requested DurationSeconds exceeds the MaxSessionDuration set for this role.",
    ],
    ["27: 7200 where the role allows it", { DurationSeconds: "7200", RoleArn: roleArn("teams/tenant-a-like") }, "200"],
    ["28: the provider's ARN", { RoleArn: providerArn() }, "400 ValidationError: Request ARN is invalid"],
    ["28: a user's ARN", { RoleArn: `arn:aws:iam::${A}:user/ci-user` }, "400 ValidationError: Request ARN is invalid"],
    [
      "a ProviderId",
      { ProviderId: "www.amazon.com" },
      "400 ValidationError: ProviderId must not be given with an OpenID Connect token",
    ],
    ["a session policy that is no JSON", { Policy: "{" }, expect.stringMatching(/^400 MalformedPolicyDocument: /)],
    [
      "a session policy with a principal",
      {
        Policy: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}',
      },
      expect.stringMatching(/^400 MalformedPolicyDocument: /),
    ],
    [
      "a sound session policy",
      { Policy: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}' },
      "200",
    ],
    [
      "a session policy of 2049 characters",
      { Policy: `{${" ".repeat(2047)}}` },
      expect.stringContaining(
        "at 'policy' failed to satisfy constraint: Member must have length less than or equal to 2048",
      ),
    ],
    [
      "a managed policy of another account",
      { "PolicyArns.member.1.arn": `arn:aws:iam::${B}:policy/x` },
      expect.stringMatching(/^400 ValidationError: Session policy arn/),
    ],
  ])("%s", async (_name, changes, verdict) => {
    expect((await sts.assume(changes)).verdict).toEqual(verdict);
  });

  it("names every broken parameter at once", async () => {
    const answer = await sts.assume({ RoleSessionName: "a b", DurationSeconds: "1", WebIdentityToken: undefined });
    expect(answer.verdict).toMatch(
      /^400 ValidationError: 3 validation errors detected: .*roleSessionName.*; .*webIdentityToken.*; .*durationSeconds/,
    );
  });

  it("checks in the order of the specification: each failure hides the later ones", async () => {
    const forged = (text: string) => text.replace(/.{4}$/, "AAAA");
    const bad = { sub: "system:serviceaccount:tenant-b:app" };
    const ladder: [Record<string, string>, string][] = [
      [{ RoleSessionName: "a b", RoleArn: providerArn(), WebIdentityToken: "a.b.c" }, "ValidationError: 1 validation"],
      [{ RoleArn: providerArn(), WebIdentityToken: "a.b.c.d" }, "Request ARN is invalid"],
      [{ WebIdentityToken: forged(token({ iss: "http://x", aud: undefined })) }, "Missing a required claim: aud"],
      [{ WebIdentityToken: forged(token({ iss: "http://x", aud: "x" })) }, "Invalid issuer"],
      [{ WebIdentityToken: forged(token({ iss: "https://x", aud: "x" })) }, "No OpenIDConnect provider"],
      [{ WebIdentityToken: forged(token({ aud: "x", exp: 1 }, { kid: "no" })) }, "Incorrect token audience"],
      [{ WebIdentityToken: forged(token({ exp: 1 }, { kid: "no" })) }, "Couldn't retrieve verification key"],
      [{ WebIdentityToken: forged(token({ exp: 1, iat: 1 })) }, "Token signature invalid"],
      [{ WebIdentityToken: token({ exp: 1, iat: 1, ...bad }) }, "Token expired"],
      [{ WebIdentityToken: token({ iat: 1, nbf: NOW + 999, ...bad }) }, "Token too old"],
      [{ WebIdentityToken: token({ nbf: NOW + 999, ...bad }) }, "Token not yet valid"],
      [{ WebIdentityToken: token(bad), DurationSeconds: "7200", Policy: "{" }, "Not authorized"],
      [{ DurationSeconds: "7200", Policy: "{" }, "MaxSessionDuration"],
      [{ Policy: "{" }, "MalformedPolicyDocument"],
    ];
    for (const [changes, expected] of ladder) expect((await sts.assume(changes)).verdict).toContain(expected);
  });

  it("15: a policy and tags that take too much space", async () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`key${i}`, ["v".repeat(250)]]));
    const tagged = (tags: object) => token({ "https://aws.amazon.com/tags": { principal_tags: tags } });
    const role = roleArn("tagged");
    const large = await sts.assume({ RoleArn: role, WebIdentityToken: tagged(many) });
    expect(large.verdict).toMatch(/^400 PackedPolicyTooLarge: Packed policy consumes 1\d\d% of allotted space/);
    const small = await sts.assume({ RoleArn: role, WebIdentityToken: tagged({ team: ["blue"] }) });
    expect([small.status, small.read("PackedPolicySize")]).toEqual([200, "1"]);
    const untagged = await sts.assume({ WebIdentityToken: tagged({ team: ["blue"] }) });
    expect(untagged.verdict).toBe(ACCESS_DENIED);
    const malformed = await sts.assume({ RoleArn: role, WebIdentityToken: tagged({ team: "blue" }) });
    expect(malformed.verdict).toBe("400 InvalidIdentityToken: Invalid value for claim: https://aws.amazon.com/tags");
  });

  it("29: the GET form equals the POST form", async () => {
    const query = form(webIdentityParameters());
    const [got, posted] = [await sts.get(query), await sts.post(query)];
    expect([got.status, got.read("Arn")]).toEqual([200, posted.read("Arn")]);
  });

  it.each([
    ["Action twice", (good: string) => sts.post(`${good}&Action=GetCallerIdentity`)],
    ["Action in body and query", (good: string) => sts.post(good, {}, "/?Action=GetCallerIdentity")],
    ["RoleArn twice", (good: string) => sts.post(`${good}&RoleArn=x`)],
    ["broken percent-encoding", (good: string) => sts.post(`${good}&X=%zz`)],
  ])("30: %s is refused", async (_name, send) => {
    const answer = await send(form(webIdentityParameters()));
    expect([answer.status, answer.read("AccessKeyId")]).toEqual([400, undefined]);
    expect((await sts.post(form(webIdentityParameters()))).status).toBe(200);
  });

  it("31: the same token works again within its life", async () => {
    const text = token();
    const [first, second] = [
      await sts.assume({ WebIdentityToken: text }),
      await sts.assume({ WebIdentityToken: text }),
    ];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.read("AccessKeyId")).not.toBe(second.read("AccessKeyId"));
  });

  it("33: says why a loose trust policy let it in", async () => {
    await sts.assume({
      RoleArn: roleArn("loose"),
      WebIdentityToken: token({ sub: "system:serviceaccount:tenant-b:app" }),
    });
    expect(lastEvent()?.notes?.warning).toContain("has no condition on");
    await sts.assume();
    expect(lastEvent()?.notes?.warning).toBeUndefined();
  });
});

describe("the Query protocol", () => {
  it.each([
    [
      "an unknown action",
      "Action=Nope&Version=2011-06-15",
      "400 InvalidAction: Could not find operation Nope for version 2011-06-15",
    ],
    [
      "another version",
      "Action=GetCallerIdentity&Version=2010-05-08",
      "400 InvalidAction: Could not find operation GetCallerIdentity for version 2010-05-08",
    ],
    [
      "an action that is a property of objects",
      "Action=constructor&Version=2011-06-15",
      "400 InvalidAction: Could not find operation constructor for version 2011-06-15",
    ],
    [
      "no signature",
      "Action=GetCallerIdentity&Version=2011-06-15",
      "403 MissingAuthenticationToken: Request is missing Authentication Token",
    ],
  ])("refuses %s", async (_name, body, verdict) => {
    expect((await sts.post(body)).verdict).toBe(verdict);
  });

  it("refuses a body over the limit, and goes on", async () => {
    const answer = await sts.post("a".repeat(300_000));
    expect(answer.verdict).toMatch(/^413 RequestEntityTooLarge: /);
    expect((await sts.assume()).status).toBe(200);
  });

  it("does not look at a signature that nobody asked for", async () => {
    const authorization = { authorization: "AWS4-HMAC-SHA256 garbage" };
    expect((await sts.post(form(webIdentityParameters()), authorization)).status).toBe(200);
  });

  it("shows who signed, for a user", async () => {
    const answer = await sts.signed({ Action: "GetCallerIdentity" }, CI_KEY);
    expect(answer.read("Arn")).toBe(`arn:aws:iam::${A}:user/ci`);
  });
});
