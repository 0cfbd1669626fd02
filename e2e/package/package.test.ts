// The packed package in an empty folder: nothing of the repository, no network, no other package.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackage, packPackage, runAsUser, userEnvironment } from "./packed.ts";

let folder = "";
beforeAll(() => {
  folder = installPackage();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pullproof = (...args: string[]) => ["npx", "--no-install", "pullproof", ...args];

/** `up` on a free port, ready; in a process group of its own. */
async function start(program: string, ...args: string[]) {
  const child = spawn(program, [...args, "up", "--port", "0", "--json"], {
    cwd: folder,
    env: userEnvironment(folder),
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const { ready, http, ca } = JSON.parse(line);
  expect(ready).toBe(true);
  return { child, http: String(http), ca: String(ca) };
}

const isAnswering = (http: string) =>
  fetch(`${http}/_pullproof/health`).then(
    () => true,
    () => false,
  );

describe("the packed package", () => {
  it("holds what is published and nothing else", () => {
    const { files } = packPackage();
    const wanted = [
      "LICENSE",
      "README.md",
      "CHANGELOG.md",
      "package.json",
      "dist/cli/bin.cjs",
      "dist/THIRD-PARTY-LICENSES",
    ];
    expect(files).toEqual(expect.arrayContaining(wanted));
    expect(files.filter((file) => !/^(dist\/|LICENSE$|README\.md$|CHANGELOG\.md$|package\.json$)/.test(file))).toEqual(
      [],
    );
    expect(files.filter((file) => /\.test\.|testdata|(?<!\.d)\.ts$|\.map$/.test(file))).toEqual([]);
  });

  it("has every file that its exports name", () => {
    const home = join(folder, "node_modules", "pullproof");
    const { exports, bin, types, dependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    const named = [
      types,
      ...Object.values(bin),
      ...Object.values(exports).flatMap((entry) =>
        Object.values(typeof entry === "string" ? { entry } : (entry as object)),
      ),
    ];
    expect(named.length).toBeGreaterThan(3);
    for (const file of named) expect(() => readFileSync(join(home, String(file)))).not.toThrow();
    expect(dependencies).toBeUndefined();
  });

  it("installs nothing beside itself", () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["pullproof"]);
  });

  it("runs the demo", async () => {
    const { code, out, err } = await runAsUser(folder, pullproof("demo", "--json"));
    const { ok, rows } = JSON.parse(out);
    expect(rows.filter((row: { ok: boolean }) => !row.ok)).toEqual([]);
    expect([ok, code, err]).toEqual([true, 0, ""]);
    expect(rows.length).toBeGreaterThan(30);
  });

  it("says no with the exit code", async () => {
    const { code, out, err } = await runAsUser(folder, pullproof("demo", "--only", "no-such-row"));
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^error: no such row: no-such-row\nhint: /);
  });

  it("starts with `up`, and ends with 0 on SIGTERM", async () => {
    const { child, http, ca } = await start(join("node_modules", ".bin", "pullproof"));
    try {
      const health = await fetch(`${http}/_pullproof/health`);
      expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: "ok" })]);
      expect(readFileSync(ca, "utf8")).toMatch(/^-----BEGIN CERTIFICATE-----/);
      child.kill("SIGTERM");
      expect(await once(child, "exit")).toEqual([0, null]);
      await expect(fetch(`${http}/_pullproof/health`)).rejects.toThrow();
    } finally {
      child.kill("SIGKILL");
    }
  });

  // npx passes the signal to a shell, which passes it to nobody, and reports the shell's end: what counts is that no
  // stack stays behind.
  it("leaves nothing running when npx is stopped", async () => {
    const { child, http } = await start("npx", "--no-install", "pullproof");
    try {
      child.kill("SIGTERM");
      await once(child, "exit");
      for (let tries = 0; tries < 100 && (await isAnswering(http)); tries += 1) await sleep(100);
      expect(await isAnswering(http)).toBe(false);
    } finally {
      if (await isAnswering(http)) process.kill(-(child.pid ?? 0), "SIGKILL");
    }
  });

  it("is a library", async () => {
    writeFileSync(
      join(folder, "library.mjs"),
      `import { startStack } from "pullproof";
       await using stack = await startStack();
       const response = await stack.fetch("https://111122223333.dkr.ecr.us-west-2.amazonaws.com/v2/");
       console.log(response.status, response.headers.get("www-authenticate"));`,
    );
    const { code, out, err } = await runAsUser(folder, ["node", "library.mjs"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^401 Basic realm="https:\/\/111122223333/);
  });
});
