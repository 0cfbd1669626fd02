import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { run } from "./main.ts";

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: unknown;
}

type Answer = { status?: number; type?: string; body: unknown };

const EVENT = {
  seq: 7,
  time: "2026-01-02T03:04:05.678Z",
  trace: "cafe",
  operation: "registry:GetManifest",
  room: "registry",
  status: 403,
  decision: "deny",
  reason: "no-identity-policy-allows",
  principal: "arn:aws:sts::1:assumed-role/x\u001b[31m",
  durationMs: 1,
};
const VERDICT = {
  namespace: "team-a",
  image: "registry.test/app:1",
  verdict: "pulled",
  reason: "pulled-with-secret",
  decidedBy: "record",
  imageRef: "sha256:0",
  trace: "cafe",
  events: [],
  credentials: [{ source: "secret", name: "team-a/regcred", username: "ann", outcome: "accepted" }],
  providers: [{ name: "ecr-credential-provider", outcome: "not-matched", because: "no match image" }],
};
const CLOCK = { now: "2026-01-02T03:04:05.000Z", frozen: true, offsetSeconds: 3600 };

const calls: Call[] = [];
let answers: Record<string, Answer> = {};
let endpoint = "";

const server = http.createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const { method = "", url = "", headers } = request;
  const path = url.replace("/_pullproof/", "");
  calls.push({ method, path, headers, body: text === "" ? undefined : JSON.parse(text) });
  const key = `${method} ${path.split("?")[0]?.replace(/pull-[0-9a-f]{8}$/, "POD")}`;
  const { status = 200, type = "application/json", body } = answers[key] ?? { status: 404, body: refusal(`no ${key}`) };
  response.writeHead(status, { "Content-Type": type }).end(typeof body === "string" ? body : JSON.stringify(body));
});

function refusal(message: string, hint?: string) {
  return { error: { code: "X", message, ...(hint ? { hint } : {}) } };
}

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  calls.length = 0;
  answers = {
    "GET nodes": {
      body: {
        nodes: [
          { name: "node-1", version: "1.36" },
          { name: "node-lax", version: "1.36" },
        ],
      },
    },
    "POST nodes/node-1/pods": { body: VERDICT },
    "DELETE nodes/node-1/pods/team-a/POD": { body: {} },
    "GET traces/cafe": { body: { trace: "cafe", events: [EVENT], why: EVENT } },
    "GET world": { body: { cluster: { issuer: "eks" } } },
    "POST issuers/eks/tokens": { status: 201, body: { token: "a.b.c", claims: {}, expirationTimestamp: "x" } },
    "POST issuers/rogue/tokens": { status: 201, body: { token: "r.b.c", claims: {}, expirationTimestamp: "x" } },
    "GET clock": { body: CLOCK },
    "PUT clock": { body: CLOCK },
    "GET events": { body: { events: [EVENT], next: 7 } },
    "GET env": { body: "export A='b'\n" },
    "POST reset": { body: { reset: true } },
  };
});

/** Runs a command line against the fake stack. */
async function cli(line: string | readonly string[], environment: Record<string, string> = {}) {
  const result = { code: -1, out: "", err: "" };
  const args = typeof line === "string" ? line.split(" ") : line;
  result.code = await run(args, {
    stdout: { write: (text: string) => (result.out += text) },
    stderr: { write: (text: string) => (result.err += text) },
    environment: { PULLPROOF_ENDPOINT: endpoint, ...environment },
    untilStopped: () => new Promise(() => {}),
  });
  return result;
}

describe("pull", () => {
  const LINE = "pull registry.test/app:1 --as team-a/puller";

  it("runs a Pod of its own name, waits for the verdict and takes the Pod away", async () => {
    await cli(`${LINE} --policy Always --secret regcred other`);
    const [, create, remove] = calls;
    expect(create).toMatchObject({ method: "POST", path: "nodes/node-1/pods?wait=true" });
    const { metadata, spec } = create!.body as { metadata: { name: string }; spec: unknown };
    expect(metadata).toEqual({ name: expect.stringMatching(/^pull-[0-9a-f]{8}$/), namespace: "team-a" });
    expect(spec).toEqual({
      serviceAccountName: "puller",
      restartPolicy: "Never",
      containers: [{ name: "app", image: "registry.test/app:1", imagePullPolicy: "Always" }],
      imagePullSecrets: [{ name: "regcred" }, { name: "other" }],
    });
    expect(remove).toMatchObject({ method: "DELETE", path: `nodes/node-1/pods/team-a/${metadata.name}` });
    await cli(LINE);
    expect((calls[5]!.body as { metadata: unknown }).metadata).not.toEqual(metadata);
  });

  it("prints verdict, reason, what was tried and the trace", async () => {
    const { code, out } = await cli(LINE);
    expect(code).toBe(0);
    for (const text of ["pulled  registry.test/app:1  as team-a/puller on node-1", "pulled-with-secret · record"]) {
      expect(out).toContain(text);
    }
    expect(out).toMatch(/secret team-a\/regcred ann accepted/);
    expect(out).toMatch(/03:04:05\.678 +registry:GetManifest +deny +403 +no-identity-policy-allows/);
    expect(out).toMatch(/why +registry:GetManifest/);
    expect(out).not.toContain("\u001b");
  });

  it("prints one line of JSON in the shape that others rely on", async () => {
    const { out } = await cli(`${LINE} --json`);
    const { image, verdict, reason, imageRef, credentials, trace, events } = JSON.parse(out);
    expect({ image, verdict, reason, imageRef, trace }).toEqual({
      image: "registry.test/app:1",
      verdict: "pulled",
      reason: "pulled-with-secret",
      imageRef: "sha256:0",
      trace: "cafe",
    });
    expect(credentials).toEqual(VERDICT.credentials);
    expect(events).toEqual([EVENT]);
  });

  it.each([
    ["pulled", 0],
    ["present", 0],
    ["denied", 1],
    ["leaked", 1],
  ])("ends a verdict %s with %i", async (verdict, code) => {
    answers["POST nodes/node-1/pods"] = { body: { ...VERDICT, verdict } };
    expect((await cli(LINE)).code).toBe(code);
  });

  it("uses the node that it is told", async () => {
    answers["POST nodes/node-lax/pods"] = { body: VERDICT };
    answers["DELETE nodes/node-lax/pods/team-a/POD"] = { body: {} };
    expect((await cli(`${LINE} --node node-lax`)).code).toBe(0);
    expect(calls[0]?.path).toBe("nodes/node-lax/pods?wait=true");
  });

  it("says that a stack without nodes cannot pull", async () => {
    answers["GET nodes"] = { body: { nodes: [] } };
    expect(await cli(LINE)).toMatchObject({ code: 2, err: expect.stringMatching(/no node[\s\S]*cluster\.nodes/) });
  });
});

describe("token create", () => {
  it("prints the token of the cluster's issuer and nothing else", async () => {
    expect(await cli("token create puller -n team-a")).toEqual({ code: 0, out: "a.b.c\n", err: "" });
    expect(calls[1]?.body).toEqual({ serviceAccount: "puller", namespace: "team-a" });
  });

  it("passes on audience, duration, kind and issuer", async () => {
    const { out } = await cli("token create puller --audience x --duration 1h30m --bad expired --issuer rogue --json");
    expect(JSON.parse(out).token).toBe("r.b.c");
    expect(calls[0]?.body).toEqual({
      serviceAccount: "puller",
      namespace: "default",
      audience: "x",
      expirationSeconds: 5400,
      bad: "expired",
    });
  });

  it("tells the stack's refusal with its hint", async () => {
    answers["POST issuers/eks/tokens"] = { status: 400, body: refusal("expected a kind, found x", "try expired") };
    const { code, err } = await cli("token create puller --bad x");
    expect({ code, err }).toEqual({ code: 2, err: "error: expected a kind, found x\nhint: try expired\n" });
  });
});

describe("clock", () => {
  it.each([
    ["clock", undefined],
    ["clock set 2026-01-02T03:04:05Z", { now: "2026-01-02T03:04:05Z" }],
    ["clock advance 12h", { advanceSeconds: 43_200 }],
    ["clock advance 90", { advanceSeconds: 90 }],
    ["clock freeze", { frozen: true }],
    ["clock unfreeze", { frozen: false }],
    ["clock reset", { now: "system" }],
  ])("%s sends %o", async (line, body) => {
    const { code, out } = await cli(line);
    expect([code, out]).toEqual([0, "2026-01-02T03:04:05.000Z  frozen  +3600 s\n"]);
    expect(calls).toMatchObject([{ method: body ? "PUT" : "GET", path: "clock" }]);
    expect(calls[0]?.body).toEqual(body);
  });

  it("can be moved back", async () => {
    await cli(["clock", "advance", "--", "-1h"]);
    expect(calls[0]?.body).toEqual({ advanceSeconds: -3600 });
  });

  it.each(["clock --json", "clock freeze --json", "clock --json freeze"])("%s prints the state", async (line) => {
    expect(JSON.parse((await cli(line)).out)).toEqual(CLOCK);
  });
});

describe("events, env, reset", () => {
  it("prints a table of events without control characters", async () => {
    const { out } = await cli("events");
    expect(out).toMatch(/^TIME +OPERATION/);
    expect(out).toContain("arn:aws:sts::1:assumed-role/x");
    expect(out).not.toContain("\u001b");
  });

  it("passes filters on, and prints the page as JSON", async () => {
    const { out } = await cli("events --since 3 --trace t --operation sts:X --decision deny --limit 2 --json");
    expect(JSON.parse(out)).toEqual({ events: [EVENT], next: 7 });
    expect(calls[0]?.path).toBe("events?since=3&trace=t&operation=sts%3AX&decision=deny&limit=2");
  });

  it("follows the stream, one event a line", async () => {
    const stream = [1, 2].map((seq) => `id: ${seq}\ndata: ${JSON.stringify({ ...EVENT, seq })}\n\n`).join("");
    answers["GET events"] = { type: "text/event-stream", body: `: hello\n\n${stream}` };
    const { code, out, err } = await cli("events --follow --json");
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).seq),
    ).toEqual([1, 2]);
    expect([code, err]).toEqual([0, "the stack has ended the stream of events\n"]);
    expect(calls[0]?.headers.accept).toBe("text/event-stream");
    expect((await cli("events -f")).out).toMatch(/^03:04:05\.678 {2}registry:GetManifest {2}deny {2}403/);
  });

  it("prints exports, or JSON", async () => {
    expect((await cli("env")).out).toBe("export A='b'\n");
    answers["GET env"] = { body: { A: "b" } };
    expect(JSON.parse((await cli("env --format json")).out)).toEqual({ A: "b" });
    expect(calls.map(({ path }) => path)).toEqual(["env?format=sh", "env?format=json"]);
  });

  it("resets with an empty JSON object as its body", async () => {
    expect((await cli("reset")).code).toBe(0);
    expect(calls[0]).toMatchObject({ method: "POST", path: "reset", body: {} });
    expect(calls[0]?.headers["content-type"]).toBe("application/json");
  });
});

describe("the control key", () => {
  const folder = mkdtempSync(join(tmpdir(), "pullproof-cli-"));
  writeFileSync(join(folder, "control.key"), "from-folder\n");

  it.each([
    ["is not sent where there is none", "clock", {}, undefined],
    ["comes from the option", "clock --control-key k1", { PULLPROOF_CONTROL_KEY: "k2" }, "Bearer k1"],
    ["comes from its variable", "clock", { PULLPROOF_CONTROL_KEY: "k2", PULLPROOF_DATA_DIR: folder }, "Bearer k2"],
    ["comes from the data folder", "clock", { PULLPROOF_DATA_DIR: folder }, "Bearer from-folder"],
  ])("%s", async (_what, line, environment, expected) => {
    await cli(line, environment);
    expect(calls[0]?.headers.authorization).toBe(expected);
  });

  it("is asked for when the stack wants one", async () => {
    answers["GET clock"] = { status: 401, body: refusal("expected a key") };
    expect((await cli("clock")).err).toBe(
      "error: expected a key\nhint: give the key with --control-key, PULLPROOF_CONTROL_KEY or PULLPROOF_DATA_DIR\n",
    );
  });
});

const HTML = { type: "text/html", body: "<html>" };

describe("errors", () => {
  it.each<[string, string, RegExp, Record<string, Answer>?]>([
    ["an unknown command", "frobnicate", /unknown command 'frobnicate'/],
    ["an unknown option", "clock --nope", /unknown option '--nope'/],
    ["no command", "", /Usage: pullproof/],
    ["half a command", "token", /create/],
    ["a missing argument", "pull --as a/b", /missing required argument 'image'/],
    ["a missing option", "pull x", /--as/],
    ["an extra argument", "reset now", /too many arguments/],
    [
      "an identity without namespace",
      "pull x --as puller",
      /NAMESPACE\/SERVICEACCOUNT, found "puller"[\s\S]*team-a\/puller/,
    ],
    ["an identity of three parts", "pull x --as a/b/c", /found "a\/b\/c"/],
    ["a policy that is none", "pull x --as a/b --policy Sometimes", /Always, IfNotPresent, Never/],
    ["a format that is none", "env --format xml", /sh, json/],
    ["a duration that is none", "clock advance soon", /clock advance: expected seconds or a duration .*"soon"/],
    ["a duration below nothing", "token create x --duration=-5", /--duration: expected seconds/],
    ["an endpoint that is no URL", "clock --endpoint nowhere", /http or https URL, found "nowhere"/],
    ["an endpoint of another scheme", "clock --endpoint ftp://x", /http or https URL/],
    [
      "nobody at the endpoint",
      "clock --endpoint http://127.0.0.1:1",
      /no stack answers at http:\/\/127\.0\.0\.1:1: nothing listens there\nhint: start one with 'pullproof up'/,
    ],
    [
      "an unknown host",
      "clock --endpoint http://nowhere.invalid",
      /no stack answers at http:\/\/nowhere\.invalid: the host name is unknown/,
    ],
    ["a web server that is no stack", "clock", /is no pullproof stack/, { "GET clock": HTML }],
    [
      "a web server that knows nothing",
      "clock",
      /is no pullproof stack \(HTTP 404\)/,
      { "GET clock": { ...HTML, status: 404 } },
    ],
    ["an answer of another version", "clock", /expected an answer with now/, { "GET clock": { body: {} } }],
    ["a port that is none", "up --port 99999", /port as a number from 0 to 65535, found "99999"/],
    ["a switch that is none", "up --port 0 --switch a=b", /NAME or NAME=false/],
  ])("name %s, with exit code 2 and no stack trace", async (_what, line, message, changed = {}) => {
    Object.assign(answers, changed);
    const { code, out, err } = await cli(line === "" ? [] : line);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it("print help and version as results", async () => {
    const help = await cli("--help");
    expect([help.code, help.err]).toEqual([0, ""]);
    for (const name of ["up", "demo", "pull", "token", "env", "events", "clock", "reset"]) {
      expect(help.out).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
    }
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await cli("--version")).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  it("colour the output only where it is wanted", async () => {
    expect((await cli("events", { FORCE_COLOR: "1" })).out).toContain("\u001b[31mdeny");
    expect((await cli("events", { FORCE_COLOR: "1", NO_COLOR: "1" })).out).not.toContain("\u001b");
  });
});

describe("the process", () => {
  const start = (...args: string[]) => {
    const main = JSON.stringify(new URL("main.ts", import.meta.url).href);
    const program = `const { main } = await import(${main}); process.exitCode = await main(process.argv.slice(1));`;
    const environment = { ...process.env, PULLPROOF_ENDPOINT: endpoint };
    return spawn(process.execPath, ["--input-type=module", "-e", program, "--", ...args], { env: environment });
  };

  it("ends with the command's exit code", async () => {
    const [code] = await once(start("clock", "--endpoint", "http://127.0.0.1:1").stdout.resume(), "close").then(() => [
      0,
    ]);
    expect(code).toBe(0);
    expect(await once(start("pull", "x"), "exit")).toEqual([2, null]);
    expect(await once(start("reset"), "exit")).toEqual([0, null]);
  });

  it("stops following on SIGINT, with exit code 0", async () => {
    const open = http.createServer((_request, response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(EVENT)}\n\n`);
    });
    await once(open.listen(0, "127.0.0.1"), "listening");
    const child = start("events", "-f", "--endpoint", `http://127.0.0.1:${(open.address() as AddressInfo).port}`);
    await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
    open.close();
    open.closeAllConnections();
  });
});
