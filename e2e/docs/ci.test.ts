// docs/ci: the shell parts of the files for GitHub Actions and GitLab, run in a project that has the package installed
// and a suite of its own (the example for vitest). What the services would do around them is imitated.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { installPackage, linkPackages, ROOT } from "../package/packed.ts";
import { findFreePort, type Piece, runPieces } from "./shell.ts";

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
}

const PORT = "4566";
const read = (file: string) => parse(readFileSync(join(ROOT, "docs", "ci", file), "utf8"));
const LINKED = ["vitest", "typescript", "@types/node", "@aws-sdk/client-sts", "@aws-sdk/client-ecr"];

let folder = "";
let port = "";
beforeEach(async () => {
  folder = installPackage();
  const example = join(ROOT, "docs", "examples", "vitest");
  for (const file of ["isolation.test.ts", "log-in.ts", "pod.ts"]) cpSync(join(example, file), join(folder, file));
  linkPackages(folder, LINKED);
  port = String(await findFreePort());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** `npm ci` takes away what was only linked. */
function relink(pieces: readonly Piece[]): Piece[] {
  cpSync(join(folder, "node_modules"), join(folder, "saved_modules"), { recursive: true, verbatimSymlinks: true });
  return pieces.map((piece) =>
    piece.text.includes("npm ci") ? { ...piece, text: `${piece.text}\ncp -an saved_modules/. node_modules/` } : piece,
  );
}

const withPort = (value: unknown) => String(value).replaceAll(PORT, port);
const withPorts = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, withPort(value)]));

describe("docs/ci/github-actions.yml", () => {
  it("passes, step by step, with the environment that steps hand on", async () => {
    const { jobs } = read("github-actions.yml");
    const { steps, env } = jobs["image-isolation"];
    const pieces = (steps as Step[])
      .filter((step) => step.run !== undefined)
      .map((step) => ({ name: step.name ?? "", text: withPort(step.run) }));
    expect(pieces.length).toBeGreaterThan(4);
    // Each step is a shell of its own (`bash -e`); GITHUB_ENV is read between them.
    const handOn = 'set -a; . "$GITHUB_ENV"; set +a';
    const asSteps = relink(pieces).map(({ name, text }, index) => {
      writeFileSync(join(folder, `step-${index}.sh`), text);
      return { name, text: `${handOn}\nbash -e step-${index}.sh` };
    });
    const temporary = join(folder, "runner-temp");
    mkdirSync(temporary);
    writeFileSync(join(folder, "github-env"), "");
    const environment = {
      ...withPorts(env),
      CI: "true",
      NO_COLOR: "1",
      RUNNER_TEMP: temporary,
      GITHUB_ENV: join(folder, "github-env"),
    };
    const results = await runPieces(asSteps, { folder, environment });
    const outputOf = (name: string) => results.find((result) => result.name === name)?.output ?? "";
    expect(results).toHaveLength(pieces.length);
    expect(outputOf("Attacks that must fail")).toMatch(/3 rows/);
    expect(outputOf("Own suite")).toMatch(/Tests +5 passed/);
    expect(outputOf("Any client")).toMatch(/pulled .* as team-a\/puller[\s\S]*denied .* as team-b\/impostor/);
    expect(readFileSync(join(folder, "github-env"), "utf8")).toMatch(/^AWS_CA_BUNDLE=\/[^'"]+$/m);
    expect(JSON.parse(readFileSync(join(folder, "health.json"), "utf8"))).toMatchObject({ status: "ok" });
    expect(JSON.parse(readFileSync(join(folder, "events.json"), "utf8")).events.length).toBeGreaterThan(10);
  });

  it("uploads files that the steps write", () => {
    const { steps } = read("github-actions.yml").jobs["image-isolation"];
    const upload = steps.find(({ uses }: Step) => uses?.startsWith("actions/upload-artifact"));
    const scripts = steps.map(({ run }: Step) => run ?? "").join("\n");
    for (const path of upload.with.path.trim().split("\n")) expect(scripts).toContain(`> ${path}`);
  });
});

describe("docs/ci/gitlab-ci.yml", () => {
  it.each(["suite", "stack"])("job %s passes", async (job) => {
    const file = read("gitlab-ci.yml");
    const { extends: base, script, variables = {}, artifacts } = file[job];
    const lines: string[] = [...file[base].before_script, ...script];
    const pieces = lines.map((text, index) => ({ name: `line ${index}: ${text}`, text: withPort(text) }));
    const environment = { ...withPorts(variables), CI: "true", NO_COLOR: "1" };
    const results = await runPieces(relink(pieces), { folder, environment, shell: ["bash", "-eo", "pipefail"] });
    expect(results).toHaveLength(lines.length);
    const output = results.map((result) => result.output).join("");
    expect(output).toMatch(
      job === "suite" ? /Tests +5 passed/ : /pulled .* as team-a\/puller[\s\S]*denied .* as team-b\/impostor/,
    );
    const wanted: string[] = artifacts.paths ?? [artifacts.reports.junit];
    expect(wanted.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  });
});
