// docs/coverage.md against the code: every operation that can appear in an event is listed, and what is listed as
// done is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nameOperation, RESOURCES } from "./apiserver/core/resources.ts";
import type { Attributes } from "./apiserver/types.ts";
import { run } from "./cli/main.ts";
import { createEcr } from "./ecr/index.ts";
import { createIam } from "./iam/index.ts";
import { REGISTRY_OPERATIONS } from "./registry/core/operation.ts";
import { systemClock } from "./shared/clock.ts";
import { systemRandom } from "./shared/random.ts";
import { createSealer } from "./shared/seal.ts";
import { STS_ACTIONS } from "./sts/http.ts";

const ROOT = import.meta.dirname;
const DOCUMENT = readFileSync(join(ROOT, "..", "docs", "coverage.md"), "utf8");
const STATES = ["done", "differs", "left out"];

/** First cell without its backquotes, and second cell, of every table row. */
const LISTED = [...DOCUMENT.matchAll(/^\| `([^`]+)` \| ([^|]*) \|/gm)].map(([, name = "", state = ""]) => ({
  name,
  state,
}));
const listed = (kind: RegExp, states = STATES) =>
  LISTED.filter(({ name, state }) => kind.test(name) && states.includes(state))
    .map(({ name }) => name)
    .sort();

/** `<room>:<Operation>` in the sources of a room, tests left out. */
function findNames(room: string): string[] {
  const files = readdirSync(join(ROOT, room), { recursive: true, encoding: "utf8" });
  const sources = files.filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.includes("testdata"),
  );
  const pattern = new RegExp(`"(${room}:[A-Z]\\w+)"`, "g");
  return sources.flatMap((file) => [
    ...[...readFileSync(join(ROOT, room, file), "utf8").matchAll(pattern)].map(([, name = ""]) => name),
  ]);
}

/** What an `event.operation` can be beside the operations of a room's table. */
function findFallback(file: string): string[] {
  const found = [...readFileSync(join(ROOT, file), "utf8").matchAll(/event\.operation = "(\w+:\w+)"/g)];
  return found.map(([, name = ""]) => name);
}

function nameApiOperations(): string[] {
  const base = { group: "", version: "v1", namespace: "", name: "", subresource: "", fields: {} };
  const name = (resource: string, verb: string, subresource = "") =>
    nameOperation({ ...base, kind: "resource", resource, verb, subresource } as Attributes);
  const path = (text: string) => nameOperation({ kind: "path", path: text, verb: "get" } as Attributes);
  return [
    ...Object.entries(RESOURCES).flatMap(([resource, { verbs }]) => verbs.map((verb) => name(resource, verb))),
    name("serviceaccounts", "create", "token"),
    name("nothing", "get"),
    ...["/.well-known/openid-configuration", "/openid/v1/jwks", "/healthz"].map(path),
  ];
}

function nameEcrOperations(): readonly string[] {
  const deps = { clock: systemClock, random: systemRandom };
  const sealer = createSealer(Buffer.alloc(32), systemRandom);
  const iam = createIam({ accounts: [], random: systemRandom });
  return createEcr({ ...deps, iam, sealer, accounts: [], defaultRegion: "us-west-2" }).operations;
}

const IN_CODE: readonly string[] = [
  ...["oidc", "kubelet", "control", "apiserver"].flatMap(findNames),
  ...nameApiOperations(),
  ...STS_ACTIONS.map((action) => `sts:${action}`),
  ...findFallback("sts/http.ts"),
  ...nameEcrOperations().map((operation) => `ecr:${operation}`),
  ...findFallback("ecr/http.ts"),
  ...Object.keys(REGISTRY_OPERATIONS).map((operation) => `registry:${operation}`),
];
const OPERATION = /^[\w-]+:[A-Z]\w+$/;

describe("docs/coverage.md", () => {
  it("lists each operation and command once, with a state", () => {
    expect(LISTED.length).toBeGreaterThan(150);
    expect(LISTED.filter(({ state }) => !STATES.includes(state))).toEqual([]);
    expect(LISTED.filter(({ name }) => !OPERATION.test(name) && !/^pullproof \w+$/.test(name))).toEqual([]);
    const names = LISTED.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("lists as there what the code can report, and nothing else", () => {
    const there = [...new Set(IN_CODE)].sort();
    expect(there.length).toBeGreaterThan(90);
    expect(listed(OPERATION, ["done", "differs"])).toEqual(there);
  });

  it("does not call left out what is there", () => {
    expect(listed(OPERATION, ["left out"]).filter((name) => IN_CODE.includes(name))).toEqual([]);
  });

  it("lists the commands that there are", async () => {
    let help = "";
    const streams = { stdout: { write: (text: string) => (help += text) }, stderr: { write: () => true } };
    await run(["--help"], { ...streams, environment: {}, untilStopped: () => new Promise(() => {}) });
    const commands = [...help.matchAll(/^ {2}(\w+)(?: \[| <|\|| {2})/gm)].map(([, name = ""]) => name);
    const known = [...new Set(commands)].filter((name) => name !== "help").map((name) => `pullproof ${name}`);
    expect(known.length).toBeGreaterThan(5);
    expect(listed(/^pullproof /, ["done", "differs"])).toEqual(known.sort());
  });

  it("points to files that exist", () => {
    const links = [...DOCUMENT.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((link) => !existsSync(join(ROOT, "..", "docs", link)))).toEqual([]);
  });
});
