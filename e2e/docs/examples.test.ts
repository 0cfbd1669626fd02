// The example projects under docs/examples, as a user would copy them: installed, type-checked, run.
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackage, linkPackages, ROOT, runAsUser } from "../package/packed.ts";

const EXAMPLES = join(ROOT, "docs", "examples");

describe.each(readdirSync(EXAMPLES))("docs/examples/%s", (name) => {
  const { scripts, devDependencies } = JSON.parse(readFileSync(join(EXAMPLES, name, "package.json"), "utf8"));
  let folder = "";
  beforeAll(() => {
    folder = installPackage();
    cpSync(join(EXAMPLES, name), folder, { recursive: true });
    const others = Object.keys(devDependencies).filter((dependency) => dependency !== "pullproof");
    linkPackages(folder, [...others, "undici-types"]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("type-checks against the packed types", async () => {
    expect(await runAsUser(folder, ["npx", "tsc", "-p", "."])).toEqual({ code: 0, out: "", err: "" });
  });

  it("passes, and runs what it holds", async () => {
    const { code, out, err } = await runAsUser(folder, ["npm", "test"], { NO_COLOR: "1", CI: "true" });
    expect([code, out + err]).toEqual([0, expect.stringMatching(/(pass|Tests) +\d+/)]);
    const tests = readdirSync(folder)
      .filter((file) => file.endsWith(".test.ts"))
      .flatMap((file) => readFileSync(join(folder, file), "utf8").match(/^ *(it|test)\(/gm) ?? []);
    expect(tests.length).toBeGreaterThan(2);
    expect(Number(/(?:pass|Tests) +(\d+)/.exec(out)?.[1])).toBe(tests.length);
    expect(scripts.test).toBeDefined();
  });
});
