import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "./main.ts";

const root = mkdtempSync(join(tmpdir(), "pullproof-init-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

/** A folder of its own with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  folders += 1;
  const folder = join(root, String(folders));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Runs `up` until it is ready, asks `visit`, and stops it. */
async function up(environment: Readonly<Record<string, string>>, visit = async (_http: string) => {}) {
  const result = { code: -1, out: "", err: "" };
  const stop = Promise.withResolvers<void>();
  let visited: Promise<void> | undefined;
  result.code = await run(["up", "--port", "0", "--json"], {
    stdout: {
      write(text: string) {
        result.out += text;
        visited ??= visit(JSON.parse(text).http).finally(() => stop.resolve());
      },
    },
    stderr: { write: (text: string) => (result.err += text) },
    environment: { PATH: process.env.PATH ?? "", ...environment },
    untilStopped: () => stop.promise,
  });
  await visited;
  return result;
}

const NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-c}\n";
const SERVICE_ACCOUNT =
  "apiVersion: v1\nkind: ServiceAccount\nmetadata: {namespace: team-c, name: puller, annotations: {a: b}}\n";

describe("the init folder", () => {
  it("applies manifests and runs scripts in the order of their names, before the stack is ready", async () => {
    const marker = join(root, "marker");
    const init = folderOf({
      "10-namespace.yaml": `${NAMESPACE}---\n${SERVICE_ACCOUNT}---\n`,
      "20-again.json": JSON.stringify({
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { namespace: "team-c", name: "puller", annotations: { a: "c" } },
      }),
      "30-script.sh": `echo "$AWS_ENDPOINT_URL $PULLPROOF_CONTROL_KEY" > ${marker}\necho hello from the script\n`,
      "40-pod.yaml":
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team-a}\n" +
        "spec: {containers: [{name: app, image: registry.pullproof.test/public/hello:1}]}\n",
      "notes.txt": "",
      ".hidden.sh": "exit 1\n",
    });
    let minted = 0;
    const { code, err } = await up({ PULLPROOF_INIT: init }, async (http) => {
      const answer = await fetch(`${http}/_pullproof/issuers/eks/tokens`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ namespace: "team-c", serviceAccount: "puller" }),
      });
      minted = answer.status;
    });
    expect([code, minted]).toEqual([0, 201]);
    expect(err.trim().split("\n").slice(0, -1)).toEqual([
      "init: 10-namespace.yaml: Namespace team-c created, ServiceAccount team-c/puller created",
      "init: 20-again.json: ServiceAccount team-c/puller replaced",
      "hello from the script",
      "init: 30-script.sh: done",
      expect.stringMatching(/^init: 40-pod.yaml: Pod team-a\/p on node-1: pulled/),
      "init: notes.txt: left alone: neither a manifest (yaml, yml, json) nor a script (sh)",
    ]);
  });

  it("is part of the folder that PULLPROOF_CONFIG names, as is the world; both may be missing", async () => {
    const world = "version: 2\n";
    expect(await up({ PULLPROOF_CONFIG: folderOf({ "a/b": "" }) })).toMatchObject({ code: 0 });
    const named = await up({ PULLPROOF_CONFIG: folderOf({ "init/10.yaml": NAMESPACE }) });
    expect(named.err).toContain("init: 10.yaml: Namespace team-c created");
    const wrong = await up({ PULLPROOF_CONFIG: folderOf({ "pullproof.yaml": world }) });
    expect(wrong.err).toMatch(/pullproof\.yaml:1:10: version/);
  });

  it.each([
    ["a script that fails", { "10.sh": "echo no luck >&2; exit 3\n" }, /10\.sh: ended with 3; its last line: no luck/],
    [
      "what is no manifest",
      { "10.yaml": "a: b\n" },
      /10\.yaml: expected a manifest with apiVersion, .* found \{"a":"b"\}/,
    ],
    ["what is no YAML", { "10.yaml": "a: [\n" }, /10\.yaml: .*Flow sequence/],
    ["a kind that is not known", { "10.yaml": "{apiVersion: v1, kind: Car, metadata: {name: x}}" }, /found Car/],
    [
      "what the API server refuses",
      { "10.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: x, namespace: nowhere}}" },
      /10\.yaml: .*namespaces "nowhere" not found/,
    ],
  ])("%s ends the start with 2", async (_what, files, message) => {
    const { code, out, err } = await up({ PULLPROOF_INIT: folderOf(files as Record<string, string>) });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
    expect(err).toMatch(/hint: correct the file/);
  });

  it("must exist if it was named", async () => {
    expect((await up({ PULLPROOF_INIT: join(root, "none") })).err).toMatch(/cannot read the init folder .*none/);
  });
});

describe("health", () => {
  const health = async (environment: Readonly<Record<string, string>>, ...args: string[]) => {
    const result = { code: -1, out: "", err: "" };
    result.code = await run(["health", ...args], {
      stdout: { write: (text: string) => (result.out += text) },
      stderr: { write: (text: string) => (result.err += text) },
      environment,
      untilStopped: () => new Promise(() => {}),
    });
    return result;
  };

  it("is 0 while a stack answers, by its port or its endpoint, and 1 when none does", async () => {
    let port = "";
    await up({}, async (http) => {
      port = new URL(http).port;
      expect(await health({ PULLPROOF_PORT: port })).toMatchObject({ code: 0, out: "ok\n" });
      const json = await health({}, "--endpoint", http, "--json");
      expect(JSON.parse(json.out)).toMatchObject({ status: "ok" });
    });
    expect(await health({ PULLPROOF_PORT: port })).toMatchObject({
      code: 1,
      err: expect.stringContaining("no stack answers at"),
    });
  });

  it("says what is not ready yet", async () => {
    const init = folderOf({ "10.sh": "" });
    const seen = join(root, "seen");
    const bin = join(import.meta.dirname, "bin.cjs");
    writeFileSync(join(init, "10.sh"), `${process.execPath} ${bin} health > ${seen}; echo $? >> ${seen}\n`);
    await up({ PULLPROOF_INIT: init });
    expect(readFileSync(seen, "utf8")).toBe("not ready: init running\n1\n");
  });
});
