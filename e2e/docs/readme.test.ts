// README.md: its code is real. The TypeScript sample type-checks against the packed package and runs; every command in
// a shell block exists, with every option that is shown.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackage, linkPackages, ROOT, runAsUser } from "../package/packed.ts";
import { listBlocks } from "./markdown.ts";

const README = readFileSync(join(ROOT, "README.md"), "utf8");
const BLOCKS = listBlocks(README);
const SAMPLES = BLOCKS.filter(({ language }) => language === "ts");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const TSCONFIG = {
  module: "nodenext",
  target: "es2024",
  lib: ["es2024", "esnext.disposable"],
  types: ["node"],
  strict: true,
  noEmit: true,
};

let folder = "";
beforeAll(() => {
  folder = installPackage();
  linkPackages(folder, ["typescript", "@types/node", "undici-types", "vitest", "testcontainers"]);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: TSCONFIG, include: ["*.ts"] }));
  for (const [index, { text }] of SAMPLES.entries()) writeFileSync(join(folder, `sample-${index}.ts`), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("README.md: TypeScript", () => {
  it("type-checks against the packed types, without skipLibCheck where no other package is needed", async () => {
    expect(SAMPLES.length).toBeGreaterThan(0);
    const needsOthers = SAMPLES.some(({ text }) => /pullproof\/(testcontainers|vitest)/.test(text));
    const args = needsOthers ? ["--skipLibCheck"] : [];
    expect(await runAsUser(folder, ["npx", "tsc", "-p", ".", ...args])).toEqual({ code: 0, out: "", err: "" });
  });

  it("runs", async () => {
    for (const [index, { text }] of SAMPLES.entries()) {
      if (/pullproof\/(testcontainers|vitest)/.test(text)) continue; // run by the tests of those
      expect(await runAsUser(folder, ["node", `sample-${index}.ts`])).toMatchObject({ code: 0, err: "" });
    }
  });
});

/** Lines of shell blocks, split where commands are joined; comments taken away. */
const COMMANDS = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ text }) =>
  text
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter(Boolean)
    .flatMap((line) => line.split(/\s*(?:&&|\|\|?|;)\s*/)),
);

/** Help texts, one process for each command. */
const helps = new Map<string, string>();
function helpOf(command: readonly string[]): string {
  const key = command.join(" ");
  const help =
    helps.get(key) ??
    execFileSync(process.execPath, [join(ROOT, "services/cli/bin.cjs"), ...command, "--help"], { encoding: "utf8" });
  helps.set(key, help);
  return help;
}

/** What is wrong with a command of pullproof; empty if nothing is. */
function problemOfPullproof(words: readonly string[]): string {
  const names = words.slice(0, words.findIndex((word) => !/^[a-z]+$/.test(word)) >>> 0);
  const path = names.slice(0, names[0] === "token" || names[0] === "clock" || names[0] === "kind" ? 2 : 1);
  try {
    const help = helpOf(path);
    if (path.length > 0 && !help.startsWith(`Usage: pullproof ${path.join(" ")}`))
      return `no command ${path.join(" ")}`;
    const options = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0] ?? "");
    const unknown = options.filter((option) => !new RegExp(`${option}[ ,\n]`).test(help));
    return unknown.length === 0 ? "" : `no option ${unknown.join(", ")}`;
  } catch (error) {
    return String(error);
  }
}

/** What is wrong with a line; empty if nothing is. */
function problemOf(line: string): string {
  const words = line
    .replace(/^(\w+=\S*\s+)+/, "")
    .replace(/^eval "\$\((.*)\)"$/, "$1")
    .split(/\s+/);
  const [program = "", ...rest] = words;
  if (program === "npm") {
    const plain = rest.filter((word) => word !== "-s" && word !== "--silent");
    const [verb = "", name = ""] = plain;
    if (["ci", "install", "i"].includes(verb)) return "";
    const script = verb === "run" ? name : verb;
    if (!Object.hasOwn(scripts, script)) return `no script ${script}`;
    const after = plain.slice(plain.indexOf("--") + 1);
    if (!plain.includes("--") || !/cli\/bin\.cjs/.test(scripts[script])) return "";
    const prefix = String(scripts[script]).split("bin.cjs")[1]?.trim().split(" ").filter(Boolean) ?? [];
    return problemOfPullproof([...prefix, ...after]);
  }
  if (program === "npx") return rest[0] === "pullproof" ? problemOfPullproof(rest.slice(1)) : `npx ${rest[0]}`;
  if (program === "pullproof") return problemOfPullproof(rest);
  if (program === "docker") return existsSync(join(ROOT, "docker-compose.yml")) ? "" : "no docker-compose.yml";
  if (["curl", "aws", "kubectl", "kind", "export", "git", "cd", "skopeo", "crane"].includes(program)) return "";
  return `unknown program ${program}`;
}

describe("README.md: shell", () => {
  it.each(COMMANDS)("%s", (line) => {
    expect(problemOf(line)).toBe("");
  });

  it("would notice a command that is not there", () => {
    expect(problemOf("npm run nothing")).toBe("no script nothing");
    expect(problemOf("npm run demo -- --nothing")).toBe("no option --nothing");
    expect(problemOf("npm run pullproof -- nothing")).not.toBe("");
    expect(problemOf("frobnicate")).toBe("unknown program frobnicate");
  });
});

describe("README.md: links", () => {
  it("lead to files that exist", () => {
    const links = [...README.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !existsSync(join(ROOT, link)))).toEqual([]);
  });
});
