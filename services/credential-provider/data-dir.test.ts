import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createBuiltinPluginDirectory, findPluginFile, renderLauncher } from "./data-dir.ts";

const folder = mkdtempSync(join(tmpdir(), "pullproof plugin "));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

describe("the launcher", () => {
  const target = write("target's file.cjs", "console.log(JSON.stringify(process.argv.slice(2)));");

  it("names Node in its first line and hands arguments on", () => {
    const path = write("plain", renderLauncher(process.execPath, target, join(folder, "cache")));
    expect(execFileSync(path, ["get-credentials"], { encoding: "utf8" })).toBe('["get-credentials"]\n');
  });

  it("works below a package of ES modules", () => {
    write("package.json", '{"type":"module"}');
    const path = write("module", renderLauncher(process.execPath, target, join(folder, "cache")));
    expect(execFileSync(path, ["a b"], { encoding: "utf8" })).toBe('["a b"]\n');
  });

  it("goes over a shell when the path of Node cannot stand in a first line", () => {
    const text = renderLauncher("/a folder/node", "/it's/main.cjs", "/c");
    expect(text).toBe(`#!/bin/sh\nNODE_COMPILE_CACHE='/c' exec '/a folder/node' '/it'\\''s/main.cjs' "$@"\n`);
    expect(renderLauncher(`/${"x".repeat(260)}`, "/m", "/c")).toMatch(/^#!\/bin\/sh\n/);
  });
});

describe("the builtin plugin directory", () => {
  it("holds an executable that speaks the protocol, and is safe to make twice", async () => {
    const options = { cacheHome: join(folder, "cache home") };
    const directory = await createBuiltinPluginDirectory(join(folder, "plugins"), options);
    await createBuiltinPluginDirectory(directory, options);
    const path = join(directory, "ecr-credential-provider");
    expect(execFileSync(path, ["--help"], { encoding: "utf8" })).toMatch(/^ECR credential provider for kubelet\n/);
    expect(() => execFileSync(path, { input: "{}", stdio: "pipe" })).toThrow("group version  is not supported");
  });

  it("falls back to the source where the cache cannot be written", async () => {
    const file = await findPluginFile({ cacheHome: write("no-folder", "") });
    expect(file).toBe(join(import.meta.dirname, "main.ts"));
  });
});
