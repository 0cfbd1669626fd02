// Bad input over the real edge: every protocol answers in its own shape, nothing hangs, nothing is given away, and the
// stack goes on. Each refusal has a twin that differs in one fact and is answered.
import { XMLParser } from "fast-xml-parser";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { presignRequest, type SigningKey, signRequest } from "../shared/aws/sigv4-sign.ts";
import { type Stack, startStack } from "../testing/index.ts";
import { type Answer, type Ask, createEdgeClient, type EdgeClient } from "./testdata/edge-client.ts";

const STS = "sts.us-west-2.amazonaws.com";
const ECR = "api.ecr.us-west-2.amazonaws.com";
const ECR_REGISTRY = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
const PLAIN = "registry.pullproof.test";
const API = "kubernetes.default.svc";
const ISSUER = "oidc.eks.us-west-2.amazonaws.com";
const KEYS = "/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9/keys";
const CI: SigningKey = {
  accessKeyId: "AKIABTX3GSDS2UISEM2E",
  secretAccessKey: "pullproofExampleSecretKeyOfAccount111122",
};
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const JSON_TYPE = { "Content-Type": "application/json" };
const PULLER = { namespace: "team-a", serviceAccount: "puller" };

let stack: Stack;
let client: EdgeClient;
let token = "";
let basic = "";
const logged = vi.spyOn(console, "error").mockImplementation(() => {});

beforeAll(async () => {
  stack = await startStack();
  client = createEdgeClient(stack);
  token = client.guard((await stack.issuer("eks").mint(PULLER)).token);
  for (const secret of [CI.secretAccessKey, stack.controlKey, "team-a-password"]) client.guard(secret);
  basic = `Basic ${client.guard(Buffer.from("team-a:team-a-password").toString("base64"))}`;
});
afterEach(async () => {
  const health = await client.ask({ target: "/_pullproof/health" });
  expect([health.status, JSON.parse(health.body).status]).toEqual([200, "ok"]);
});
afterAll(async () => {
  const lines = logged.mock.calls.flat().map(String);
  expect(lines).toEqual([]);
  client.expectNothingLeaked(lines);
  await stack.close();
});

/** What an answer says, read as its protocol has it: `[status, code]`. */
const READERS = {
  xml({ headers, body }: Answer): unknown {
    expect(headers["content-type"]).toBe("text/xml");
    const { ErrorResponse } = new XMLParser().parse(body);
    expect(ErrorResponse.RequestId).toBe(headers["x-amzn-requestid"]);
    expect(ErrorResponse.Error.Message).toMatch(/\w/);
    return ErrorResponse.Error.Code;
  },
  aws({ headers, body }: Answer): unknown {
    expect(headers["content-type"]).toBe("application/x-amz-json-1.1");
    expect(headers["x-amzn-requestid"]).toMatch(/^[0-9a-f-]{36}$/);
    const { __type, message } = JSON.parse(body);
    expect(message).toMatch(/\w/);
    return __type;
  },
  status({ headers, body, status }: Answer): unknown {
    expect(headers["content-type"]).toBe("application/json");
    const parsed = JSON.parse(body);
    expect(parsed).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code: status });
    return parsed.reason;
  },
  control({ headers, body }: Answer): unknown {
    expect(headers["content-type"]).toMatch(/^application\/json/);
    const { code, message } = JSON.parse(body).error;
    expect(message).toMatch(/expected .*found/s);
    return code;
  },
  oci({ headers, body }: Answer): unknown {
    expect(headers["content-type"]).toMatch(/^application\/json/);
    const [error] = JSON.parse(body).errors;
    expect(error.message).toMatch(/\w/);
    return error.code;
  },
  oidc({ headers, body }: Answer): unknown {
    expect(headers["content-type"]).toMatch(/^application\/json/);
    return JSON.parse(body).error;
  },
  edge({ headers, body }: Answer): unknown {
    expect(headers["content-type"]).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toMatchObject({ expected: expect.any(String), found: expect.any(String) });
    return JSON.parse(body).error;
  },
} as const;
type Shape = keyof typeof READERS;

const readAs = (shape: Shape, answer: Answer) => [answer.status, READERS[shape](answer)];

function assumeRole(webIdentityToken: string, changes: Record<string, string> = {}): Ask {
  const form = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: "arn:aws:iam::111122223333:role/team-a-pull",
    RoleSessionName: "bad-input",
    WebIdentityToken: webIdentityToken,
    ...changes,
  });
  return { method: "POST", host: STS, headers: FORM, body: form.toString() };
}

/** A signed call of the ECR API, as the user `ci`. */
function callEcr(body: string | Buffer, changes: { region?: string; key?: SigningKey; now?: Date } = {}): Ask {
  const { region = "us-west-2", key = CI, now = new Date() } = changes;
  const headers = {
    host: ECR,
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": "AmazonEC2ContainerRegistry_V20150921.DescribeRepositories",
  };
  const signed = signRequest({ method: "POST", rawPath: "/", headers, body }, { key, service: "ecr", region, now });
  const { host: _host, ...rest } = signed;
  return { method: "POST", host: ECR, headers: rest, body };
}

describe("tokens at STS", () => {
  it("are accepted when they are good", async () => {
    expect((await client.ask(assumeRole(token))).status).toBe(200);
  });

  it.each([
    ["garbage", 400, "InvalidIdentityToken"],
    ["truncated", 400, "InvalidIdentityToken"],
    ["payload-not-json", 400, "InvalidIdentityToken"],
    ["none-alg", 400, "InvalidIdentityToken"],
    ["altered-signature", 400, "InvalidIdentityToken"],
    ["huge", 400, "ValidationError"],
  ])("%s: %i %s", async (bad, status, code) => {
    const spoilt = client.guard((await stack.issuer("eks").mint({ ...PULLER, bad })).token);
    expect(readAs("xml", await client.ask(assumeRole(spoilt)))).toEqual([status, code]);
  });

  it.each([
    ["zero bytes", "\0\0\0\0", "InvalidIdentityToken"],
    ["three empty parts", "..", "ValidationError"],
    ["dots without end", ".".repeat(10_000), "InvalidIdentityToken"],
    ["markup", "<script>alert(1)</script>&amp;\u0001\ud83d\ude00", "InvalidIdentityToken"],
    ["a lone surrogate's bytes", "a.b.c\ufffd", "InvalidIdentityToken"],
    ["base64 of no JSON", `${Buffer.from("[]").toString("base64url")}.e30.e30`, "InvalidIdentityToken"],
    ["deep JSON", `${Buffer.from("[".repeat(9_000)).toString("base64url")}.e30.AA`, "InvalidIdentityToken"],
  ])("%s", async (_what, text, code) => {
    expect(readAs("xml", await client.ask(assumeRole(text)))).toEqual([400, code]);
  });
});

describe("bad tokens of a Pod", () => {
  const pod = (bad?: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${bad ?? "good"}`,
      namespace: "team-a",
      annotations: bad ? { "pullproof.dev/bad-token": bad } : {},
    },
    spec: { serviceAccountName: "puller", containers: [{ name: "app", image: `${ECR_REGISTRY}/team-a/app:1` }] },
  });

  it.each(["garbage", "truncated", "huge"])("%s: denied, and STS's words are told", async (bad) => {
    const verdict = await stack.runPod("node-1", pod(bad));
    expect(verdict).toMatchObject({ verdict: "denied", podReason: "ErrImagePull", reason: "no-credentials" });
    expect(verdict.providers).toMatchObject([{ outcome: "failed", reason: "plugin-exit" }]);
    const { why } = stack.events.trace(verdict.trace);
    expect(why).toMatchObject({ operation: "kubelet:ExecPlugin", decision: "deny", reason: "plugin-exit" });
    expect(why?.notes?.stderr).toMatch(
      /operation error STS: AssumeRoleWithWebIdentity.*(InvalidIdentityToken|ValidationError)/,
    );
  });

  it("pulls with the good one", async () => {
    expect(await stack.runPod("node-1", pod())).toMatchObject({ verdict: "pulled" });
  });
});

describe("bodies over the limit", () => {
  const admin = () => ({ ...JSON_TYPE, Authorization: `Bearer ${stack.controlKey}` });
  const padded = (length: number) => JSON.stringify({ pad: "x".repeat(length - '{"pad":""}'.length) });

  it.each<{ room: string; shape: Shape; limit: number; code: string; ask: (length: number) => Ask }>([
    {
      room: "sts",
      shape: "xml",
      limit: 256 * 1024,
      code: "RequestEntityTooLarge",
      ask: (length) => ({ method: "POST", host: STS, headers: FORM, body: `Action=${"x".repeat(length - 7)}` }),
    },
    {
      room: "ecr",
      shape: "aws",
      limit: 1 << 20,
      code: "RequestEntityTooLarge",
      ask: (length) => callEcr(padded(length)),
    },
    {
      room: "apiserver",
      shape: "status",
      limit: 3 << 20,
      code: "RequestEntityTooLarge",
      ask: (length) => ({
        method: "POST",
        host: API,
        target: "/api/v1/namespaces",
        headers: admin(),
        body: padded(length),
      }),
    },
    {
      room: "control",
      shape: "control",
      limit: 1 << 20,
      code: "RequestEntityTooLarge",
      ask: (length) => ({ method: "PUT", target: "/_pullproof/clock", headers: JSON_TYPE, body: padded(length) }),
    },
    {
      room: "registry",
      shape: "oci",
      limit: 4 << 20,
      code: "SIZE_INVALID",
      ask: (length) => ({
        method: "PUT",
        host: PLAIN,
        target: "/v2/team-a/app/manifests/big",
        headers: { "Content-Type": "application/vnd.oci.image.manifest.v1+json", Authorization: basic },
        body: padded(length),
      }),
    },
  ])("$room: 413 in its own words, and one byte less is read", async ({ shape, limit, code, ask }) => {
    const request = ask(limit + 1);
    const announced = await client.ask(request);
    const { "Content-Length": _length, ...headers } = request.headers ?? {};
    const chunk = `${Buffer.byteLength(request.body ?? "").toString(16)}\r\n${request.body}\r\n0\r\n\r\n`;
    const chunked = await client.ask({
      ...request,
      headers: { ...headers, "Transfer-Encoding": "chunked" },
      body: chunk,
    });
    expect([announced.status, announced.headers.connection]).toEqual([413, "close"]);
    expect(READERS[shape](announced)).toBe(code);
    expect(readAs(shape, chunked)).toEqual([413, code]);
    const twin = await client.ask(ask(limit));
    expect(twin.status).toBeLessThan(500);
    expect(twin.status).not.toBe(413);
  });
});

describe("JSON that is no object", () => {
  const BODIES = [
    "[]",
    "null",
    '"text"',
    "1",
    "{",
    "",
    '{"a":1}trailing',
    '{"__proto__":',
    "\xff\xfe",
    "[".repeat(5000),
  ];
  const admin = () => ({ ...JSON_TYPE, Authorization: `Bearer ${stack.controlKey}` });

  it.each(BODIES)("ecr: %j", async (body) => {
    const bytes = Buffer.from(body, "latin1");
    const answer = await client.ask(callEcr(bytes));
    if (body === "") expect(answer.status).toBe(200);
    else expect(readAs("aws", answer)).toEqual([400, "SerializationException"]);
  });

  it.each(BODIES)("apiserver: %j", async (body) => {
    const request = { method: "POST", host: API, target: "/api/v1/namespaces", headers: admin() };
    const answer = await client.ask({ ...request, body: Buffer.from(body, "latin1") });
    expect(readAs("status", answer)).toEqual([400, "BadRequest"]);
  });

  it.each(BODIES)("control: %j", async (body) => {
    for (const target of ["clock", "nodes", "issuers/eks/tokens", "registries/plain/repositories/team-a/scratch"]) {
      const method = /clock|registries/.test(target) ? "PUT" : "POST";
      const request = { method, target: `/_pullproof/${target}`, headers: JSON_TYPE };
      const answer = await client.ask({ ...request, body: Buffer.from(body, "latin1") });
      if (body === "" && target.startsWith("registries")) continue; // an empty change
      expect([target, ...readAs("control", answer)]).toEqual([target, 400, "BadRequest"]);
    }
  });

  it("that is one is read", async () => {
    expect((await client.ask(callEcr("{}"))).status).toBe(200);
    const headers = admin();
    const body = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"fresh"}}';
    const create = { method: "POST", host: API, target: "/api/v1/namespaces", headers, body };
    expect((await client.ask(create)).status).toBe(201);
    const freeze = { method: "PUT", target: "/_pullproof/clock", headers: JSON_TYPE, body: '{"frozen":false}' };
    expect((await client.ask(freeze)).status).toBe(200);
  });
});

describe("paths below /v2/", () => {
  const get = (target: string, host = PLAIN) => client.ask({ host, target, headers: { Authorization: basic } });

  it.each([
    ["/v2/team-a/../team-b/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-b/../team-a/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a/%2e%2e/team-b/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a/%2E%2E%2Fteam-b/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a%2fapp/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a%2Fapp/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a%252fapp/manifests/1", 400, "NAME_INVALID"],
    ["/v2//team-a/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a//app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/./team-a/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/../v2/team-a/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/TEAM-A/app/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a/app%00/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a/app%/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a/%ff/manifests/1", 400, "NAME_INVALID"],
    ["/v2/team-a\\app/manifests/1", 400, "NAME_INVALID"],
    [`/v2/${"a/".repeat(200)}b/manifests/1`, 400, "NAME_INVALID"],
    ["/v2/team-a/app/manifests/%", 404, "MANIFEST_UNKNOWN"],
    ["/v2/team-a/app/manifests/%00", 404, "MANIFEST_UNKNOWN"],
    ["/v2/team-a/app/manifests/..%2f..%2fteam-b%2fapp", 404, "MANIFEST_UNKNOWN"],
    ["/v2/team-a/app/manifests/1/", 404, "UNSUPPORTED"],
    ["/v2/team-a/app/manifests/1/../../../team-b/app", 404, "UNSUPPORTED"],
    ["/v2/team-a/app/blobs/sha256:..%2f..", 400, "DIGEST_INVALID"],
    ["/v2/team-a/app/blobs/../manifests/1", 400, "NAME_INVALID"],
    ["/v2/_catalog/", 404, "UNSUPPORTED"],
    ["/v2/%5fcatalog", 404, "UNSUPPORTED"],
    ["/v2/x#y", 404, "UNSUPPORTED"],
    ["//v2/team-a/app/manifests/1", 404, "not found"],
    ["/%76%32/team-a/app/manifests/1", 404, "not found"],
    ["/v2/../../etc/passwd", 404, "UNSUPPORTED"],
  ])("%s: %i %s", async (target, status, code) => {
    expect(readAs(code === "not found" ? "edge" : "oci", await get(target))).toEqual([status, code]);
  });

  it("that are straight lead to the image, also where the path names the registry", async () => {
    expect((await get("/v2/team-a/app/manifests/1")).status).toBe(200);
    expect((await get("/v2/%74eam-a/app/manifests/1")).status).toBe(200); // decoded once, and then a good name
    expect((await get(`/v2/${PLAIN}/team-a/app/manifests/1`, "localhost")).status).toBe(200);
    expect((await get("/v2/team-a/app/manifests/1?ns=%zz")).status).toBe(200);
  });

  it("say nothing about a foreign repository, however they are written", async () => {
    const denied = await get("/v2/team-b/app/manifests/1");
    const missing = await get("/v2/team-b/none/manifests/1");
    expect([denied.status, missing.status]).toEqual([403, 403]);
    const names = ["team-b/app", "team-b/none"];
    const bodies = [denied, missing].map(({ body }, index) => body.replaceAll(names[index]!, "<name>"));
    expect(bodies[0]).toBe(bodies[1]);
  });

  it("are refused by ECR's registry before anybody is asked who they are", async () => {
    for (const target of ["/v2/team-a/../team-a/app/manifests/1", "/v2//team-a/app/manifests/1"]) {
      const answer = await client.ask({ host: ECR_REGISTRY, target });
      expect([answer.status, answer.body]).toEqual([401, "Not Authorized\n"]);
    }
  });
});

describe("requests that are hardly HTTP", () => {
  const HEALTH = "/_pullproof/health";
  const statuses = (raw: string) => [...raw.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  const line = (text: string) => `${text}\r\nConnection: close\r\n\r\n`;

  it.each([
    ["a known host", `GET ${HEALTH} HTTP/1.1\r\nHost: localhost`, [200]],
    ["no host", `GET ${HEALTH} HTTP/1.1`, [400]],
    ["two hosts", `GET ${HEALTH} HTTP/1.1\r\nHost: localhost\r\nHost: ${STS}`, [400]],
    ["HTTP/1.0", `GET ${HEALTH} HTTP/1.0\r\nHost: localhost`, [200]],
    ["HTTP/1.0 without host", `GET ${HEALTH} HTTP/1.0`, [421]],
    ["an unknown version", `GET ${HEALTH} HTTP/9.9\r\nHost: localhost`, [400]],
    ["no version", `GET ${HEALTH}`, [421]],
    ["HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]],
    ["a method in lower case", `get ${HEALTH} HTTP/1.1\r\nHost: localhost`, [400]],
    ["a method of its own", `FETCH ${HEALTH} HTTP/1.1\r\nHost: localhost`, [400]],
    ["no path", "GET HTTP/1.1\r\nHost: localhost", [400]],
    ["a space in a header's name", `GET ${HEALTH} HTTP/1.1\r\nHost: localhost\r\nX Y: 1`, [400]],
    ["a header folded over lines", `GET ${HEALTH} HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n: c`, [400]],
    ["two lengths", `POST / HTTP/1.1\r\nHost: ${STS}\r\nContent-Length: 1\r\nContent-Length: 2`, [400]],
    ["length and chunks", `POST / HTTP/1.1\r\nHost: ${STS}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked`, [400]],
    ["a negative length", `POST / HTTP/1.1\r\nHost: ${STS}\r\nContent-Length: -1`, [400]],
    ["a header over the limit", `GET ${HEALTH} HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(70_000)}`, [431]],
    ["a header below it", `GET ${HEALTH} HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(60_000)}`, [200]],
    ["a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443", []],
    ["an asterisk", "OPTIONS * HTTP/1.1\r\nHost: localhost", [421]],
  ])("%s", async (_what, text, expected) => {
    expect(statuses(await client.send(line(text)))).toEqual(expected);
  });

  it("bytes that mean nothing: 400 and an end", async () => {
    for (const bytes of ["\0\x01\x02\x03\r\n\r\n", "hello\r\n\r\n", Buffer.alloc(5000, 0xff)]) {
      expect(statuses(await client.send(bytes))).toEqual([400]);
    }
  });

  // Whether the good request's answer or the complaint comes first is a matter of timing: an answer, then an end.
  it("garbage behind a good request ends the connection", async () => {
    const good = `GET ${HEALTH} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    expect(statuses(await client.send(`${good}GARBAGE GARBAGE\r\n\r\n`)).join()).toMatch(/^(200|400)(,400)?$/);
    expect(statuses(await client.send(good + line(`GET ${HEALTH} HTTP/1.1\r\nHost: localhost`)))).toEqual([200, 200]);
  });

  it("a broken chunk in a form", async () => {
    const head = `POST / HTTP/1.1\r\nHost: ${STS}\r\nContent-Type: ${FORM["Content-Type"]}\r\nTransfer-Encoding: chunked`;
    expect(statuses(await client.send(`${line(head)}zz\r\n`))).toEqual([400]);
    expect(statuses(await client.send(`${line(head)}3\r\na=b\r\n0\r\n\r\n`))).toEqual([400]);
    const form = assumeRole(token).body ?? "";
    const whole = `${form.length.toString(16)}\r\n${form}\r\n0\r\n\r\n`;
    expect(statuses(await client.send(line(head) + whole))).toEqual([200]);
  });

  it("a ClientHello cut in half, and what only looks like one", async () => {
    const hello = await client.clientHello();
    expect(hello.length).toBeGreaterThan(100);
    const { connect } = await import("node:net");
    const port = Number(new URL(stack.http).port);
    for (const bytes of [
      hello.subarray(0, hello.length >> 1),
      hello.subarray(0, 1),
      Buffer.from("\x16\x03\x01garbage"),
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, "127.0.0.1")
          .on("error", () => {})
          .on("close", () => resolve());
        socket.resume().end(bytes);
      });
    }
    // One that goes on to be held open hinders nobody else.
    const held = connect(port, "127.0.0.1").on("error", () => {});
    held.write(hello.subarray(0, hello.length >> 1));
    const agent = await stack.agent();
    const { default: https } = await import("node:https");
    const status = await new Promise((resolve, reject) => {
      const request = https.get(`https://${ISSUER}${KEYS}`, { agent }, (response) => resolve(response.statusCode));
      request.on("error", reject);
    });
    expect(status).toBe(200);
    agent.destroy();
    held.destroy();
  });
});

describe("hosts and targets", () => {
  it("an unknown host is misdirected, whatever it asks for", async () => {
    for (const target of ["/", "/v2/", "/api", "/?Action=GetCallerIdentity&Version=2011-06-15"]) {
      const answer = await client.ask({ host: "example.com", target });
      expect(readAs("edge", answer)).toEqual([421, "misdirected request"]);
    }
    const control = await client.ask({ host: "example.com", target: "/_pullproof/world" });
    expect(readAs("control", control)).toEqual([421, "MisdirectedRequest"]);
  });

  it.each(["999999999999.dkr.ecr.us-west-2.amazonaws.com", "localhost.example.com", "[::1", "", "a:b:c", `${STS}.`])(
    "is misdirected: host %j",
    async (host) => {
      expect((await client.ask({ host, target: "/v2/" })).status).toBe(421);
    },
  );

  it("absolute targets name the host; what the Host header says does not count", async () => {
    const query = "/?Action=GetCallerIdentity&Version=2011-06-15";
    const sts = await client.ask({ target: `http://${STS}${query}` });
    expect(readAs("xml", sts)).toEqual([403, "MissingAuthenticationToken"]);
    const registry = await client.ask({ target: `http://${ECR_REGISTRY}/v2/`, host: PLAIN });
    expect([registry.status, registry.body]).toEqual([401, "Not Authorized\n"]);
    const health = await client.ask({ target: "http://localhost/_pullproof/health" });
    expect(health.status).toBe(200);
    const foreign = await client.ask({ target: "http://example.com/_pullproof/health" });
    expect(readAs("control", foreign)).toEqual([421, "MisdirectedRequest"]);
    const dots = await client.ask({
      target: `http://${PLAIN}/v2/team-a/../team-b/app/manifests/1`,
      headers: { Authorization: basic },
    });
    expect(readAs("oci", dots)).toEqual([400, "NAME_INVALID"]);
  });
});

describe("methods that a protocol does not have", () => {
  it.each<[string, Shape, number, string, Ask, Ask]>([
    ["sts", "xml", 400, "InvalidAction", { ...assumeRole(""), method: "PUT" }, { host: STS, target: "/healthz" }],
    ["ecr", "aws", 400, "UnknownOperationException", { host: ECR, method: "PUT" }, { host: ECR, target: "/healthz" }],
    [
      "apiserver",
      "status",
      403,
      "Forbidden",
      { host: API, method: "PROPFIND", target: "/version" },
      { host: API, target: "/version" },
    ],
    [
      "oidc",
      "oidc",
      405,
      "method_not_allowed",
      { host: ISSUER, method: "PUT", target: KEYS },
      { host: ISSUER, target: KEYS },
    ],
    [
      "control",
      "control",
      404,
      "NotFound",
      { method: "PROPFIND", target: "/_pullproof/health", headers: JSON_TYPE },
      { target: "/_pullproof/health" },
    ],
  ])("%s", async (_room, shape, status, code, bad, good) => {
    expect(readAs(shape, await client.ask(bad))).toEqual([status, code]);
    expect((await client.ask(good)).status).toBe(200);
  });

  it("registry: 405 with what is allowed", async () => {
    const headers = { Authorization: basic };
    const target = "/v2/team-a/app/manifests/1";
    const answer = await client.ask({ host: PLAIN, method: "PATCH", target, headers });
    expect(readAs("oci", answer)).toEqual([405, "UNSUPPORTED"]);
    expect(answer.headers.allow).toBe("GET, HEAD, PUT, DELETE");
    expect((await client.ask({ host: PLAIN, target, headers })).status).toBe(200);
  });
});

describe("Expect: 100-continue", () => {
  const put = (tag: string, headers: Record<string, string>): Ask => ({
    method: "PUT",
    host: PLAIN,
    target: `/v2/team-a/app/manifests/${tag}`,
    headers: { Expect: "100-continue", ...headers },
    body: '{"schemaVersion":2}',
  });

  it("a refusal comes in place of the go-ahead", async () => {
    const anonymous = await client.ask(put("new", {}));
    expect(anonymous.raw).not.toContain("100 Continue");
    expect(readAs("oci", anonymous)).toEqual([401, "UNAUTHORIZED"]);
    const large = await client.ask({
      ...assumeRole(token),
      headers: { ...FORM, Expect: "100-continue", "Content-Length": "9999999" },
      body: "",
    });
    expect(large.raw).not.toContain("100 Continue");
    expect(readAs("xml", large)).toEqual([413, "RequestEntityTooLarge"]);
  });

  it("whoever may go on is told so, then judged", async () => {
    const type = "application/vnd.oci.image.manifest.v1+json";
    const allowed = await client.ask(put("new", { Authorization: basic, "Content-Type": type }));
    expect(allowed.raw).toContain("100 Continue");
    expect(readAs("oci", allowed)).toEqual([400, "MANIFEST_INVALID"]);
    const session = await client.ask({ ...assumeRole(token), headers: { ...FORM, Expect: "100-continue" } });
    expect([session.raw.includes("100 Continue"), session.status]).toEqual([true, 200]);
  });

  it("other expectations fail", async () => {
    expect((await client.ask({ ...put("new", {}), headers: { Expect: "a-miracle" } })).status).toBe(417);
  });
});

describe("signatures that are nonsense", () => {
  const scope = `${CI.accessKeyId}/20260101/us-west-2/ecr/aws4_request`;
  const full = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date, Signature=${"0".repeat(64)}`;

  it.each([
    ["no scheme known", "Negotiate abc", "IncompleteSignatureException"],
    ["the scheme alone", "AWS4-HMAC-SHA256", "IncompleteSignatureException"],
    ["no signature", `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host`, "IncompleteSignatureException"],
    ["a credential without scope", full.replace(scope, CI.accessKeyId), "IncompleteSignatureException"],
    ["a credential with too much scope", full.replace(scope, `${scope}/x/y`), "IncompleteSignatureException"],
    ["another version", full.replace("AWS4", "AWS5"), "IncompleteSignatureException"],
    ["no headers signed", full.replace("host;x-amz-date", ""), "IncompleteSignatureException"],
    ["a key that is a path", full.replace(CI.accessKeyId, "..%2f__proto__"), "IncompleteSignatureException"],
    ["parts twice", `${full}, Signature=${"1".repeat(64)}`, "IncompleteSignatureException"],
    ["bytes beyond ASCII", full.replace("0000", "\xff\xfe\xff\xfe"), "IncompleteSignatureException"],
    ["a signature from long ago", full, "InvalidSignatureException"],
  ])("%s", async (_what, authorization, code) => {
    const request = callEcr("{}");
    const headers = { ...request.headers, authorization };
    expect(readAs("aws", await client.ask({ ...request, headers }))).toEqual([400, code]);
  });

  it.each<[string, Parameters<typeof callEcr>[1], string]>([
    ["another secret", { key: { ...CI, secretAccessKey: "x" } }, "InvalidSignatureException"],
    ["a key that nobody has", { key: { ...CI, accessKeyId: "AKIAAAAAAAAAAAAAAAAA" } }, "UnrecognizedClientException"],
    ["a key that is a property", { key: { ...CI, accessKeyId: "constructor" } }, "UnrecognizedClientException"],
    ["a session token that is none", { key: { ...CI, sessionToken: "AAAA" } }, "UnrecognizedClientException"],
    ["an hour ago", { now: new Date(Date.now() - 3_600_000) }, "InvalidSignatureException"],
    ["in an hour", { now: new Date(Date.now() + 3_600_000) }, "InvalidSignatureException"],
  ])("signed with %s", async (_what, changes, code) => {
    expect(readAs("aws", await client.ask(callEcr("{}", changes)))).toEqual([400, code]);
    expect((await client.ask(callEcr("{}"))).status).toBe(200);
  });

  it("presigned with nonsense", async () => {
    const request = { method: "GET", rawPath: "/?Action=GetCallerIdentity&Version=2011-06-15", headers: { host: STS } };
    const options = { key: CI, service: "sts", region: "us-west-2", now: new Date(), expiresSeconds: 60 };
    const target = presignRequest(request, options);
    expect((await client.ask({ host: STS, target })).status).toBe(200);
    for (const [from, to] of [
      [/X-Amz-Expires=\d+/, "X-Amz-Expires=-1"],
      [/X-Amz-Date=\w+/, "X-Amz-Date=yesterday"],
      [/X-Amz-Signature=\w+/, "X-Amz-Signature=zz"],
      [/X-Amz-Credential=[^&]+/, "X-Amz-Credential=%2F%2F%2F%2F"],
      [/X-Amz-Algorithm=[^&]+/, "X-Amz-Algorithm=none"],
      [/$/, "&X-Amz-Signature=again"],
    ] as const) {
      const answer = await client.ask({ host: STS, target: target.replace(from, to) });
      expect([to, answer.status >= 400 && answer.status < 500]).toEqual([to, true]);
      expect(READERS.xml(answer)).toMatch(
        /^(IncompleteSignature|SignatureDoesNotMatch|MissingAuthenticationToken|InvalidClientTokenId)$/,
      );
    }
  });
});
