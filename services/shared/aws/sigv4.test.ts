import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { CredentialLookup, CredentialResolver } from "./credential-resolver.ts";
import { type SignedRequest, type Verification, verifySignature } from "./sigv4.ts";
import { computeSignature, renderCanonicalRequest } from "./sigv4-canonical.ts";
import { presignRequest, signRequest } from "./sigv4-sign.ts";

interface Vector {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly normalize?: boolean;
  readonly signBody?: boolean;
  readonly token?: string;
  readonly tokenAddedLater?: boolean;
  /** Signed headers and signature. */
  readonly header: readonly [string, string];
  readonly query: readonly [string, string];
}

// facts of the public suite awslabs/aws-c-auth, tests/aws-signing-test-suite/v4, in our own compact form
const SUITE: {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly service: string;
  readonly amzDate: string;
  readonly expiresSeconds: number;
  readonly cases: readonly Vector[];
} = JSON.parse(readFileSync(new URL("testdata/sigv4-vectors.json", import.meta.url), "utf8"));

const NOW = new Date("2015-08-30T12:36:00Z");
const SCOPE = `${SUITE.amzDate.slice(0, 8)}/${SUITE.region}/${SUITE.service}/aws4_request`;
const ROOT = {
  kind: "root",
  accountId: "111122223333",
  arn: "arn:aws:iam::111122223333:root",
  userId: "111122223333",
} as const;

/** Knows one key, and the one session token that belongs to it. */
function resolverOf(sessionToken: string | undefined, answer?: CredentialLookup): CredentialResolver {
  return {
    resolve: (id, token) =>
      id !== SUITE.accessKeyId || token !== sessionToken
        ? "unknown"
        : (answer ?? { secretAccessKey: SUITE.secretAccessKey, principal: ROOT, lineage: "chain" }),
  };
}

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** The request of a vector as Node would hand it over, signed in the header. */
function headerForm(vector: Vector): SignedRequest {
  const [signedHeaders, signature] = vector.header;
  const headers: (readonly [string, string])[] = [...vector.headers, ["X-Amz-Date", SUITE.amzDate]];
  if (vector.token) headers.push(["X-Amz-Security-Token", vector.token]);
  const body = Buffer.from(vector.body ?? "");
  if (vector.signBody) headers.push(["x-amz-content-sha256", sha256(body)]);
  const credential = `Credential=${SUITE.accessKeyId}/${SCOPE}`;
  const parts = `${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
  headers.push(["Authorization", `AWS4-HMAC-SHA256 ${parts}`]);
  return { method: vector.method, rawPath: latin1(vector.target), rawHeaders: headers.flat(), body };
}

/** The same, presigned. */
function queryForm(vector: Vector): SignedRequest {
  const [signedHeaders, signature] = vector.query;
  const fields = [
    "X-Amz-Algorithm=AWS4-HMAC-SHA256",
    `X-Amz-Credential=${encodeURIComponent(`${SUITE.accessKeyId}/${SCOPE}`)}`,
    `X-Amz-Date=${SUITE.amzDate}`,
    `X-Amz-SignedHeaders=${encodeURIComponent(signedHeaders)}`,
    `X-Amz-Expires=${SUITE.expiresSeconds}`,
    ...(vector.token ? [`X-Amz-Security-Token=${encodeURIComponent(vector.token)}`] : []),
    `X-Amz-Signature=${signature}`,
  ];
  const mark = vector.target.includes("?") ? "&" : "?";
  return {
    method: vector.method,
    rawPath: latin1(vector.target) + mark + fields.join("&"),
    rawHeaders: vector.headers.flat(),
    body: Buffer.from(vector.body ?? ""),
  };
}

function sha256(body: Buffer): string {
  return createHash("sha256").update(body).digest("hex");
}

function verify(request: SignedRequest, vector: Pick<Vector, "token" | "normalize">, now = NOW): Verification {
  const normalizePath = vector.normalize ?? true;
  return verifySignature(request, { service: SUITE.service, resolver: resolverOf(vector.token), now, normalizePath });
}

describe("the public signing suite", () => {
  test("has 38 cases", () => expect(SUITE.cases).toHaveLength(38));

  for (const [form, build] of [
    ["header", headerForm],
    ["query", queryForm],
  ] as const) {
    test.each(SUITE.cases)(`$name verifies in ${form} form`, (vector) => {
      expect(verify(build(vector), vector)).toMatchObject({ ok: true, region: "us-east-1", usedSystemClock: false });
    });

    test.each(SUITE.cases)(`$name in ${form} form fails for each flipped part`, (vector) => {
      const request = build(vector);
      for (const [part, flipped] of flips(request)) {
        expect(verify(flipped, vector), part).toMatchObject({ ok: false, refusal: "wrong-signature" });
      }
    });
  }
});

/** The request with one part changed by a byte, for each part that the signature covers. */
function flips(request: SignedRequest): [string, SignedRequest][] {
  const mark = request.rawPath.indexOf("?");
  const path = mark < 0 ? request.rawPath : request.rawPath.slice(0, mark);
  const query = mark < 0 ? "" : request.rawPath.slice(mark);
  const flipped: [string, SignedRequest][] = [
    ["method", { ...request, method: request.method === "GET" ? "GEU" : "POSU" }],
    ["path", { ...request, rawPath: `${path}x${query}` }],
    ["query", { ...request, rawPath: `${path}${query}${query ? "&" : "?"}x=1` }],
    ["body", { ...request, body: Buffer.concat([request.body, Buffer.from([1])]) }],
  ];
  const host = request.rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  const rawHeaders = request.rawHeaders.with(host + 1, "fxample.amazonaws.com");
  flipped.push(["header", { ...request, rawHeaders }]);
  if (request.body.length > 0) {
    const body = Buffer.from(request.body);
    body[0] = body[0]! ^ 1;
    flipped.push(["body byte", { ...request, body }]);
  }
  const original = /Signature=([0-9a-f]{64})/;
  const digit = (match: string) => match.slice(0, -1) + (match.endsWith("0") ? "1" : "0");
  flipped.push([
    "signature",
    {
      ...request,
      rawPath: request.rawPath.replace(original, digit),
      rawHeaders: request.rawHeaders.map((text) => text.replace(original, digit)),
    },
  ]);
  return flipped;
}

const KEY = { accessKeyId: SUITE.accessKeyId, secretAccessKey: SUITE.secretAccessKey };
const BODY = "Action=GetCallerIdentity&Version=2011-06-15";

interface Signing {
  readonly service?: string;
  readonly region?: string;
  readonly now?: Date;
  readonly sessionToken?: string;
  readonly headers?: Record<string, string>;
}

function signed(signing: Signing = {}): SignedRequest {
  const { service = "sts", region = "us-west-2", now = NOW, sessionToken, headers: extra } = signing;
  const key = { ...KEY, ...(sessionToken ? { sessionToken } : {}) };
  const given = {
    host: "sts.us-west-2.amazonaws.com:4566",
    "content-type": "application/x-www-form-urlencoded",
    ...extra,
  };
  const headers = signRequest(
    { method: "POST", rawPath: "/", headers: given, body: BODY },
    { key, service, region, now },
  );
  return { method: "POST", rawPath: "/", rawHeaders: Object.entries(headers).flat(), body: Buffer.from(BODY) };
}

function ask(request: SignedRequest, more: Partial<Parameters<typeof verifySignature>[1]> = {}): Verification {
  return verifySignature(request, { service: "sts", resolver: resolverOf(undefined), now: NOW, ...more });
}

/** The request with one header's value replaced, or the header left out. */
function withHeader(request: SignedRequest, name: string, value: ((old: string) => string) | undefined): SignedRequest {
  const at = request.rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  if (value === undefined) return { ...request, rawHeaders: request.rawHeaders.toSpliced(at, 2) };
  return { ...request, rawHeaders: request.rawHeaders.with(at + 1, value(request.rawHeaders[at + 1]!)) };
}

const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000);

describe("a signed request", () => {
  test("names its signer", () => {
    expect(ask(signed())).toEqual({
      ok: true,
      principal: ROOT,
      lineage: "chain",
      accessKeyId: "AKIDEXAMPLE",
      region: "us-west-2",
      usedSystemClock: false,
    });
  });

  test("is refused when its body was changed after signing", () => {
    const answer = ask({ ...signed(), body: Buffer.from(`${BODY}&x=y`) });
    expect(answer).toMatchObject({ ok: false, refusal: "wrong-signature" });
    expect(answer).toHaveProperty(
      "message",
      expect.stringMatching(/^The request signature we calculated does not match/),
    );
  });

  test.each([
    ["14 minutes ago", -14, undefined, ""],
    [
      "16 minutes ago",
      -16,
      "expired",
      "Signature expired: 20150830T122000Z is now earlier than 20150830T122100Z (20150830T123600Z - 15 min.)",
    ],
    ["14 minutes ahead", 14, undefined, ""],
    [
      "16 minutes ahead",
      16,
      "not-yet",
      "Signature not yet current: 20150830T125200Z is still later than 20150830T125100Z (20150830T123600Z + 15 min.)",
    ],
  ])("signed %s", (_, offset, refusal, message) => {
    const answer = ask(signed({ now: minutes(offset) }));
    expect(answer).toMatchObject(refusal ? { ok: false, refusal, message } : { ok: true });
  });

  test("is measured by the system's clock too while the stack's is moved", () => {
    const request = signed({ now: minutes(600) });
    expect(ask(request)).toMatchObject({ ok: false, refusal: "not-yet" });
    expect(ask(request, { systemNow: minutes(601) })).toMatchObject({ ok: true, usedSystemClock: true });
    expect(ask(signed(), { systemNow: minutes(601) })).toMatchObject({ ok: true, usedSystemClock: false });
    expect(ask(request, { systemNow: minutes(700) })).toMatchObject({ ok: false, refusal: "not-yet" });
  });

  test.each([
    ["the service", { service: "ecr" }, "Credential should be scoped to correct service: 'sts'."],
    ["the region", { region: "moon" }, "Credential should be scoped to a valid Region, not 'moon'."],
  ])("is refused for %s of another scope", (_, signing, message) => {
    expect(ask(signed(signing))).toEqual({ ok: false, refusal: "scope", message });
  });

  test("is refused for another day or terminator in its scope", () => {
    const other = (from: string, to: string) => withHeader(signed(), "authorization", (old) => old.replace(from, to));
    expect(ask(other("/20150830/", "/20150831/"))).toEqual({
      ok: false,
      refusal: "scope",
      message:
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: " +
        "'20150831' != '20150830', from '20150830T123600Z'.",
    });
    expect(ask(other("aws4_request", "aws5_request"))).toMatchObject({
      refusal: "scope",
      message: "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5_request'.",
    });
  });

  test("must carry the session token that belongs to its key", () => {
    const resolver = resolverOf("mine");
    expect(ask(signed({ sessionToken: "mine" }), { resolver })).toMatchObject({ ok: true });
    const refused = {
      ok: false,
      refusal: "unknown-key",
      message: "The security token included in the request is invalid.",
    };
    expect(ask(signed({ sessionToken: "theirs" }), { resolver })).toEqual(refused);
    expect(ask(signed(), { resolver })).toEqual(refused);
  });

  test("of an expired session says so", () => {
    const message = "The security token included in the request is expired";
    expect(ask(signed(), { resolver: resolverOf(undefined, "expired") })).toEqual({
      ok: false,
      refusal: "expired-session",
      message,
    });
  });

  test("must sign host, and x-amz-target where it is sent", () => {
    const added = signed();
    const target = {
      ...added,
      rawHeaders: [...added.rawHeaders, "X-Amz-Target", "AmazonEC2ContainerRegistry_V20150921.X"],
    };
    expect(ask(target)).toMatchObject({
      ok: false,
      refusal: "wrong-signature",
      message: expect.stringContaining("x-amz-target"),
    });
    expect(ask(signed({ headers: { "x-amz-target": "a.b" } }))).toMatchObject({ ok: true });
    const noHost = withHeader(signed(), "authorization", (old) => old.replace("host;", ""));
    expect(ask(noHost)).toMatchObject({
      ok: false,
      refusal: "wrong-signature",
      message: expect.stringContaining("host"),
    });
  });

  test("without a header that it signed is refused", () => {
    expect(ask(withHeader(signed(), "content-type", undefined))).toMatchObject({
      ok: false,
      refusal: "wrong-signature",
    });
  });

  test("with a wrong x-amz-content-sha256 is refused, whether or not it was signed", () => {
    const right = sha256(Buffer.from(BODY));
    expect(ask(signed({ headers: { "x-amz-content-sha256": right } }))).toMatchObject({ ok: true });
    for (const wrong of ["UNSIGNED-PAYLOAD", sha256(Buffer.from("other"))]) {
      expect(ask(signed({ headers: { "x-amz-content-sha256": wrong } })), wrong).toMatchObject({
        refusal: "wrong-signature",
      });
    }
  });

  test("may bring its time in a Date header", () => {
    const date = "Sun, 30 Aug 2015 12:36:00 GMT";
    expect(ask(dated(date))).toMatchObject({ ok: true });
    expect(ask(dated("30 August 2015 12:36 UTC"))).toMatchObject({ ok: false, refusal: "incomplete" });
  });
});

/** Signed by a client that sends `Date` in place of `X-Amz-Date`. */
function dated(date: string): SignedRequest {
  const headers = new Map([
    ["date", [date]],
    ["host", ["sts.us-west-2.amazonaws.com"]],
  ]);
  const scope = { day: "20150830", region: "us-west-2", service: "sts" };
  const signedHeaders = ["date", "host"];
  const payloadHash = sha256(Buffer.alloc(0));
  const parts = { method: "GET", path: "/", query: "", headers, signedHeaders, payloadHash, normalizePath: true };
  const canonicalRequest = renderCanonicalRequest(parts);
  const signature = computeSignature(KEY.secretAccessKey, scope, { amzDate: SUITE.amzDate, canonicalRequest });
  const authorization = `AWS4-HMAC-SHA256 Credential=${KEY.accessKeyId}/20150830/us-west-2/sts/aws4_request, SignedHeaders=date;host, Signature=${signature}`;
  const rawHeaders = ["Date", date, "Host", "sts.us-west-2.amazonaws.com", "Authorization", authorization];
  return { method: "GET", rawPath: "/", rawHeaders, body: Buffer.alloc(0) };
}

describe("credentials that cannot be read", () => {
  const bare: SignedRequest = {
    method: "GET",
    rawPath: "/",
    rawHeaders: ["Host", "sts.amazonaws.com"],
    body: Buffer.alloc(0),
  };
  const authorized = (value: string): SignedRequest => ({
    ...bare,
    rawHeaders: [...bare.rawHeaders, "Authorization", value],
  });

  test("are missing when there are none", () => {
    expect(ask(bare)).toEqual({ ok: false, refusal: "missing", message: "Request is missing Authentication Token" });
  });

  test.each([
    ["Bearer abc", "Unsupported AWS 'algorithm': 'Bearer'."],
    [
      "AWS4-HMAC-SHA256 nonsense",
      "'nonsense' not a valid key=value pair (missing equal-sign) in Authorization header: 'AWS4-HMAC-SHA256 nonsense'.",
    ],
    [
      "AWS4-HMAC-SHA256 Credential=a/b/c/d/e",
      "Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. " +
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256",
    ],
  ])("%s", (value, message) => {
    expect(ask(authorized(value))).toEqual({ ok: false, refusal: "incomplete", message });
  });

  test.each([
    ["four parts of a credential", (old: string) => old.replace("/aws4_request", "")],
    ["a short signature", (old: string) => old.slice(0, -2)],
    ["unsorted signed headers", (old: string) => old.replace("content-type;host", "host;content-type")],
    ["a part given twice", (old: string) => `${old}, SignedHeaders=host`],
  ])("%s", (_, change) => {
    expect(ask(withHeader(signed(), "authorization", change))).toMatchObject({ ok: false, refusal: "incomplete" });
    expect(ask(signed())).toMatchObject({ ok: true });
  });

  test("a date that is none", () => {
    expect(ask(withHeader(signed(), "x-amz-date", () => "20151399T999999Z"))).toMatchObject({
      ok: false,
      refusal: "incomplete",
    });
  });

  test("a second Authorization header or a second date", () => {
    const request = signed();
    const twice = (name: string, value: string) => ({ ...request, rawHeaders: [...request.rawHeaders, name, value] });
    expect(ask(twice("X-Amz-Date", "20150830T123600Z"))).toMatchObject({ ok: false, refusal: "incomplete" });
    expect(ask(twice("Authorization", "AWS4-HMAC-SHA256 Credential=x"))).toMatchObject({
      ok: false,
      refusal: "incomplete",
    });
  });
});

describe("a presigned request", () => {
  const presigned = (expiresSeconds: number, sessionToken?: string): SignedRequest => {
    const key = { ...KEY, ...(sessionToken ? { sessionToken } : {}) };
    const unsigned = { method: "GET", rawPath: `/?${BODY}`, headers: { host: "sts.us-west-2.amazonaws.com" } };
    const rawPath = presignRequest(unsigned, { key, service: "sts", region: "us-west-2", now: NOW, expiresSeconds });
    return { method: "GET", rawPath, rawHeaders: ["Host", "sts.us-west-2.amazonaws.com"], body: Buffer.alloc(0) };
  };

  test("lives as long as it says", () => {
    expect(ask(presigned(60), { now: minutes(1) })).toMatchObject({ ok: true });
    expect(ask(presigned(60), { now: minutes(1.1) })).toEqual({
      ok: false,
      refusal: "expired",
      message: "Signature expired: 20150830T123600Z is now earlier than 20150830T123606Z (20150830T123706Z - 1 min.)",
    });
    expect(ask(presigned(60), { now: minutes(-16) })).toMatchObject({ ok: false, refusal: "not-yet" });
  });

  test("carries a session token in the query", () => {
    expect(ask(presigned(60, "mine/+="), { resolver: resolverOf("mine/+=") })).toMatchObject({ ok: true });
    expect(ask(presigned(60, "mine/+="), { resolver: resolverOf("other") })).toMatchObject({ refusal: "unknown-key" });
  });

  test.each(["0", "604801", "-1", "1e3", ""])("cannot live for %j seconds", (seconds) => {
    const request = presigned(604_800);
    expect(ask(request)).toMatchObject({ ok: true });
    const rawPath = request.rawPath.replace("X-Amz-Expires=604800", `X-Amz-Expires=${seconds}`);
    expect(ask({ ...request, rawPath })).toMatchObject({ ok: false, refusal: "incomplete" });
  });

  test("must not come with a header signature or a repeated parameter", () => {
    const request = presigned(60);
    const header = signed().rawHeaders;
    expect(ask({ ...request, rawHeaders: header })).toMatchObject({ ok: false, refusal: "incomplete" });
    const rawPath = `${request.rawPath}&X-Amz-Date=20150830T123600Z`;
    expect(ask({ ...request, rawPath })).toMatchObject({ ok: false, refusal: "incomplete" });
  });

  test("may not be longer lived by a changed query", () => {
    const request = presigned(60);
    const rawPath = request.rawPath.replace("X-Amz-Expires=60", "X-Amz-Expires=600");
    expect(ask({ ...request, rawPath })).toMatchObject({ ok: false, refusal: "wrong-signature" });
  });
});
