import http from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { MovableClock } from "../shared/clock.ts";
import { ControlError, createControlRouter, EventLog, type StackController } from "./index.ts";

const NOW = new Date("2026-11-30T10:00:00Z");
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function fakeStack(changes: Partial<StackController> = {}): StackController {
  const keys = [{ kid: "k1" }];
  return {
    version: "0.0.0",
    switches: { outsideNetwork: false },
    services: async () => ({ sts: "ok" }),
    caPem: async () => "-----BEGIN CERTIFICATE-----\n",
    environment: async () => ({ AWS_ENDPOINT_URL: "http://127.0.0.1:1", QUOTED: "it's" }),
    issuers: [
      {
        name: "eks",
        url: "https://issuer.test",
        alg: "RS256",
        keys: async () => keys,
        rotate: async ({ keepOld }) => ({ kid: "k2", keepOld }),
        withdraw: async (kid) => kid === "k1",
      },
    ],
    mintToken: async (issuer, request) => ({
      token: `${issuer}.${request.serviceAccount}.${request.bad ?? "good"}`,
      claims: {},
      expirationTimestamp: "",
    }),
    nodes: {
      list: () => [{ name: "node-1", version: "1.36" }],
      create: async (spec) => ({ name: String(spec.name) }),
      runPod: async (node, _manifest, wait) => {
        if (node !== "node-1") throw new ControlError("NotFound", "expected a node");
        return { verdict: "pulled", wait };
      },
      pods: async () => [],
      findPod: async (_node, _namespace, name) => (name === "there" ? { name } : undefined),
      deletePod: async (_node, _namespace, name) => name === "there",
      restart: async () => undefined,
      records: async () => ({ intents: [], records: [] }),
    },
    world: () => ({ version: 1 }),
    reset: async () => undefined,
    putRepositoryAccess: (registry) => registry === "plain",
    isKnownHost: (host) => host === "127.0.0.1" || host === "sts.us-west-2.amazonaws.com",
    ...changes,
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

async function start(options: { stack?: Partial<StackController>; requiredKey?: string } = {}) {
  const clock = new MovableClock({ now: () => NOW });
  const log = new EventLog(clock);
  const app = express();
  app.use(
    createControlRouter({
      stack: fakeStack(options.stack),
      log,
      clock,
      ...(options.requiredKey ? { requiredKey: options.requiredKey } : {}),
    }),
  );
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = (method: string, path: string, extra: { body?: unknown; headers?: Record<string, string> } = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const write = method !== "GET" && method !== "HEAD";
      const body =
        typeof extra.body === "string" ? extra.body : extra.body === undefined ? "" : JSON.stringify(extra.body);
      const headers = {
        ...(write ? { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) } : {}),
        ...extra.headers,
      };
      const request = http.request(
        { host: "127.0.0.1", port, method, path: `/_pullproof/${path}`, headers, agent: false },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => (text += part));
          response.on("end", () => {
            const isJson = String(response.headers["content-type"]).includes("json") && text !== "";
            resolve({ status: response.statusCode ?? 0, text, json: isJson ? JSON.parse(text) : {} });
          });
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  return { ask, log, clock, port };
}

const codeOf = (answer: Answer) => [answer.status, (answer.json.error as { code?: string } | undefined)?.code];

describe("guards of the control API", () => {
  it("refuses a foreign Origin and allows its own", async () => {
    const { ask, port } = await start();
    expect(codeOf(await ask("GET", "clock", { headers: { origin: "https://evil.example" } }))).toEqual([
      403,
      "Forbidden",
    ]);
    expect((await ask("GET", "clock", { headers: { origin: `http://127.0.0.1:${port}` } })).status).toBe(200);
  });

  it("refuses an unknown Host and allows every name of the stack", async () => {
    const { ask } = await start();
    expect(codeOf(await ask("GET", "clock", { headers: { host: "rebound.example" } }))).toEqual([
      421,
      "MisdirectedRequest",
    ]);
    expect((await ask("GET", "clock", { headers: { host: "sts.us-west-2.amazonaws.com" } })).status).toBe(200);
  });

  it("takes writes only as JSON", async () => {
    const { ask } = await start();
    const body = { advanceSeconds: 1 };
    expect(codeOf(await ask("PUT", "clock", { body, headers: { "content-type": "text/plain" } }))).toEqual([
      415,
      "UnsupportedMediaType",
    ]);
    expect(
      (await ask("PUT", "clock", { body, headers: { "content-type": "application/json; charset=utf-8" } })).status,
    ).toBe(200);
  });

  it("wants the key where one is required, except for health and the CA", async () => {
    const { ask } = await start({ requiredKey: "secret-key" });
    expect(codeOf(await ask("GET", "events"))).toEqual([401, "Unauthorized"]);
    expect(codeOf(await ask("GET", "events", { headers: { authorization: "Bearer secret-kex" } }))).toEqual([
      401,
      "Unauthorized",
    ]);
    expect((await ask("GET", "events", { headers: { authorization: "Bearer secret-key" } })).status).toBe(200);
    expect((await ask("GET", "health")).status).toBe(200);
    expect((await ask("GET", "ca.pem")).status).toBe(200);
  });
});

describe("bad input", () => {
  it.each([
    ["PUT", "clock", "[]", "a list"],
    ["PUT", "clock", "null", "null"],
    ["PUT", "clock", "nonsense", "no JSON"],
    ["PUT", "clock", {}, "0 of them"],
    ["PUT", "clock", { now: "yesterday" }, "yesterday"],
    ["PUT", "clock", { advanceSeconds: "1" }, "advanceSeconds"],
    ["PUT", "clock", { advanceSeconds: 1, frozen: true }, "2 of them"],
    ["PUT", "clock", { speed: 2 }, "speed"],
    ["GET", "events?since=-1", undefined, "since"],
    ["GET", "events?colour=red", undefined, "colour"],
    ["GET", "env?format=xml", undefined, "xml"],
    ["POST", "issuers/eks/tokens", {}, "serviceAccount"],
    ["POST", "issuers/eks/tokens", { serviceAccount: "x", extra: 1 }, "extra"],
    ["POST", "issuers/eks/keys", { keepOld: "no" }, "keepOld"],
  ])("%s %s with %j says what it found", async (method, path, body, found) => {
    const { ask } = await start();
    const answer = await ask(method, path, { body });
    expect(codeOf(answer)).toEqual([400, "BadRequest"]);
    expect(answer.text).toContain("expected");
    expect(answer.text).toContain(found);
  });

  it("refuses a body over the limit", async () => {
    const { ask } = await start();
    expect((await ask("PUT", "clock", { body: `{"now":"${"x".repeat(2 << 20)}"}` })).status).toBe(413);
  });

  it.each([
    ["GET", "nonsense"],
    ["GET", "traces/0123"],
    ["POST", "issuers/other/keys"],
    ["DELETE", "issuers/eks/keys/k9"],
    ["GET", "nodes/node-1/pods/ns/absent"],
    ["DELETE", "nodes/node-1/pods/ns/absent"],
    ["POST", "nodes/other/pods"],
    ["PUT", "registries/other/repositories/a/b"],
  ])("%s %s is not found", async (method, path) => {
    const { ask } = await start();
    expect(codeOf(await ask(method, path, method === "GET" ? {} : { body: {} }))).toEqual([404, "NotFound"]);
  });

  it("keeps an unexpected failure generic", async () => {
    const failing = async () => Promise.reject(new Error("secret detail"));
    const { ask } = await start({ stack: { caPem: failing } });
    const answer = await ask("GET", "ca.pem");
    expect(codeOf(answer)).toEqual([500, "InternalError"]);
    expect(answer.text).not.toContain("secret detail");
  });
});

describe("the control API", () => {
  it("is unhealthy when one service is", async () => {
    const good = await start();
    expect((await good.ask("GET", "health")).json).toMatchObject({
      status: "ok",
      version: "0.0.0",
      services: { sts: "ok" },
      clock: { frozen: false },
    });
    expect((await good.ask("HEAD", "health")).status).toBe(200);
    const bad = await start({ stack: { services: async () => ({ sts: "ok", ecr: "no key" }) } });
    expect((await bad.ask("GET", "health")).status).toBe(503);
  });

  it("moves, freezes and resets the clock", async () => {
    const { ask, clock } = await start();
    expect((await ask("PUT", "clock", { body: { advanceSeconds: 3600 } })).json).toEqual({
      now: "2026-11-30T11:00:00.000Z",
      frozen: false,
      offsetSeconds: 3600,
    });
    expect((await ask("PUT", "clock", { body: { now: "2030-01-01T00:00:00Z" } })).json).toMatchObject({
      now: "2030-01-01T00:00:00.000Z",
    });
    expect((await ask("PUT", "clock", { body: { frozen: true } })).json).toMatchObject({ frozen: true });
    expect(clock.moved).toBe(true);
    expect((await ask("PUT", "clock", { body: { now: "system" } })).json).toEqual({
      now: NOW.toISOString(),
      frozen: false,
      offsetSeconds: 0,
    });
  });

  it("quotes its shell exports", async () => {
    const { ask } = await start();
    expect((await ask("GET", "env?format=sh")).text).toBe(
      "export AWS_ENDPOINT_URL='http://127.0.0.1:1'\nexport QUOTED='it'\\''s'\n",
    );
    expect((await ask("GET", "env")).json).toEqual({ AWS_ENDPOINT_URL: "http://127.0.0.1:1", QUOTED: "it's" });
  });

  it("carries keys, tokens, nodes and Pods", async () => {
    const { ask } = await start();
    expect((await ask("GET", "issuers")).json).toEqual({
      issuers: [{ name: "eks", url: "https://issuer.test", alg: "RS256", keys: [{ kid: "k1" }] }],
    });
    expect((await ask("POST", "issuers/eks/keys", { body: { keepOld: false } })).json).toEqual({
      kid: "k2",
      keepOld: false,
    });
    expect((await ask("DELETE", "issuers/eks/keys/k1", { body: {} })).status).toBe(200);
    expect(
      (await ask("POST", "issuers/eks/tokens", { body: { serviceAccount: "puller", bad: "expired" } })).json,
    ).toMatchObject({ token: "eks.puller.expired" });
    expect((await ask("POST", "nodes", { body: { name: "n" } })).status).toBe(201);
    expect((await ask("POST", "nodes/node-1/pods?wait=true", { body: {} })).json).toEqual({
      verdict: "pulled",
      wait: true,
    });
    expect((await ask("POST", "nodes/node-1/pods", { body: {} })).status).toBe(202);
    expect((await ask("GET", "nodes/node-1/pods/ns/there")).status).toBe(200);
    expect((await ask("PUT", "registries/plain/repositories/a/b", { body: { anonymous: [] } })).json).toEqual({
      registry: "plain",
      repository: "a/b",
      anonymous: [],
    });
  });
});

describe("events", () => {
  const draft = (operation: string, more = {}) => ({ operation, room: "sts", status: 200, ...more });

  it("are filtered and paged without loss", async () => {
    const { ask, log } = await start();
    for (let index = 0; index < 5; index += 1)
      log.record(draft("sts:GetCallerIdentity", { principal: `p${index % 2}` }));
    const first = (await ask("GET", "events?limit=2&principal=p0")).json as { events: { seq: number }[]; next: number };
    expect(first.events.map((event) => event.seq)).toEqual([1, 3]);
    const rest = (await ask("GET", `events?since=${first.next}&principal=p0`)).json as {
      events: { seq: number }[];
      next: number;
    };
    expect(rest.events.map((event) => event.seq)).toEqual([5]);
    expect(rest.next).toBe(5);
  });

  it("follow as server-sent events, resumable by Last-Event-ID", async () => {
    const { log, port } = await start();
    log.record(draft("sts:One"));
    log.record(draft("sts:Two"));
    const received = await new Promise<string>((resolve) => {
      const headers = { accept: "text/event-stream", "last-event-id": "1" };
      const request = http.get(
        { host: "127.0.0.1", port, path: "/_pullproof/events", headers, agent: false },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => {
            text += part;
            if (text.includes("sts:Three")) {
              request.destroy();
              resolve(text);
            } else log.record(draft("sts:Three"));
          });
        },
      );
      request.on("error", () => undefined);
    });
    expect(received).not.toContain("sts:One");
    expect(received).toMatch(/id: 2\ndata: .*sts:Two.*\n\nid: 3\ndata: .*sts:Three/s);
  });

  it("say how many were dropped from the bounded log", () => {
    const log = new EventLog({ now: () => NOW }, 3);
    for (let index = 0; index < 5; index += 1) log.record(draft("sts:X"));
    expect(log.page()).toMatchObject({ next: 5, dropped: 2 });
    expect(log.page().events.map((event) => event.seq)).toEqual([3, 4, 5]);
    expect(log.page({ since: 3 }).dropped).toBeUndefined();
  });

  it("join a lineage to its pull, and name what settled it", () => {
    const log = new EventLog({ now: () => NOW });
    log.join("jti-1", "trace-1");
    log.record(draft("apiserver:CreateToken", { trace: "trace-1", lineage: "jti-1", decision: "allow" }));
    log.record(
      draft("sts:AssumeRoleWithWebIdentity", { lineage: "jti-1", decision: "deny", reason: "no-trust-policy-allows" }),
    );
    log.record(draft("registry:HeadManifest", { trace: "trace-1", decision: "deny", reason: "no-credentials" }));
    log.record(draft("kubelet:PullImage", { trace: "trace-1", decision: "deny", reason: "registry-refused" }));
    log.record(draft("sts:AssumeRoleWithWebIdentity", { lineage: "jti-2", decision: "deny" }));
    const trace = log.trace("trace-1");
    expect(trace.events).toHaveLength(4);
    expect(trace.why?.reason).toBe("no-trust-policy-allows");
    expect(log.trace("jti-1").events).toHaveLength(2);
  });

  it("name the registry's answer or the node's record as what allowed a pull", () => {
    const log = new EventLog({ now: () => NOW });
    log.record(
      draft("sts:AssumeRoleWithWebIdentity", { trace: "t", decision: "deny", reason: "first-credential-failed" }),
    );
    log.record(draft("registry:GetManifest", { trace: "t", decision: "allow", reason: "allowed-by-identity-policy" }));
    log.record(draft("kubelet:PullImage", { trace: "t", decision: "allow", reason: "pulled-with-secret" }));
    expect(log.trace("t").why?.reason).toBe("allowed-by-identity-policy");
    log.record(draft("kubelet:DecidePull", { trace: "u", decision: "allow", reason: "record-service-account" }));
    log.record(draft("kubelet:PullImage", { trace: "u", decision: "allow", reason: "present" }));
    expect(log.trace("u").why?.reason).toBe("record-service-account");
  });
});
