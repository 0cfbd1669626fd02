// Bad plugins as real processes: every failure is told within the deadline and leaves nothing behind.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPlugin } from "./exec.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plugin-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function runScript(
  name: string,
  script: string,
  limits: { timeoutMs?: number; graceMs?: number; signal?: AbortSignal } = {},
) {
  const path = join(directory, name);
  writeFileSync(path, script, { mode: 0o755 });
  return runPlugin({
    path,
    args: ["--mode", "test"],
    environment: { PATH: "/usr/bin:/bin", GREETING: "hello" },
    directory,
    stdin: '{"kind":"CredentialProviderRequest"}\n',
    timeoutMs: 5000,
    graceMs: 200,
    ...limits,
  });
}

describe("a plugin's process", () => {
  test("gets arguments, only its environment, and the request on stdin", async () => {
    const result = await runScript(
      "echo",
      '#!/bin/sh\necho "$@"; env | grep -v -e "^PWD" -e "^_" -e SHLVL -e OLDPWD | sort; cat',
    );
    expect(result).toMatchObject({
      ok: true,
      stdout: '--mode test\nGREETING=hello\nPATH=/usr/bin:/bin\n{"kind":"CredentialProviderRequest"}\n',
    });
  });

  test.each([
    { id: "exits 3", script: "#!/bin/sh\necho why >&2; exit 3", failure: "exit", text: "exit status 3" },
    { id: "is killed", script: "#!/bin/sh\nkill -9 $$", failure: "signal", text: "signal: killed" },
    { id: "no program", script: "echo hello", failure: "spawn", text: "fork/exec PATH: exec format error" },
    { id: "empty", script: "", failure: "spawn", text: "fork/exec PATH: exec format error" },
    {
      id: "without interpreter",
      script: "#!/no/sh",
      failure: "spawn",
      text: "fork/exec PATH: no such file or directory",
    },
    { id: "ends without reading", script: "#!/bin/sh\nexit 1", failure: "exit", text: "exit status 1" },
  ])("$id", async ({ id, script, failure, text }) => {
    const name = id.replaceAll(" ", "-");
    const result = await runScript(name, script);
    expect(result).toMatchObject({ ok: false, failure, text: text.replace("PATH", join(directory, name)) });
  });

  test("keeps what went to stderr", async () => {
    expect((await runScript("stderr", "#!/bin/sh\necho why >&2; exit 3")).stderr).toBe("why\n");
  });

  test("that hangs is killed at the deadline", async () => {
    const result = await runScript("hangs", "#!/bin/sh\nexec sleep 30", { timeoutMs: 150 });
    expect(result).toMatchObject({ ok: false, failure: "timeout", text: "context deadline exceeded" });
    expect(result.durationMs).toBeLessThan(2000);
  });

  test("that hangs through a child holding stdout is given up after the grace", async () => {
    const result = await runScript("held", "#!/bin/sh\nsleep 30 &\nwait", { timeoutMs: 150, graceMs: 150 });
    expect(result).toMatchObject({ ok: false, failure: "stdout-held" });
    expect(result.ok ? "" : result.text).toMatch(
      /^context deadline exceeded \(the plugin was killed at the deadline, but a process/,
    );
    expect(result.durationMs).toBeLessThan(2000);
  });

  test("that answers and leaves a child holding stdout is given up too; its twin with a detached child is fine", async () => {
    const held = await runScript("leaves-child", "#!/bin/sh\nsleep 30 &\necho '{}'", { timeoutMs: 150, graceMs: 100 });
    expect(held).toMatchObject({ ok: false, failure: "stdout-held" });
    expect(held.ok ? "" : held.text).toContain("ended with exit status 0");
    const twin = await runScript("detached-child", "#!/bin/sh\nsleep 1 >/dev/null 2>&1 &\necho '{}'");
    expect(twin).toMatchObject({ ok: true, stdout: "{}\n" });
  });

  test("may print 1 MB, but not without end", async () => {
    const big = await runScript("big", "#!/bin/sh\nhead -c 1048576 /dev/zero | tr '\\0' x");
    expect(big.ok && big.stdout.length).toBe(1 << 20);
    const endless = await runScript("endless", "#!/bin/sh\nyes");
    expect(endless).toMatchObject({ ok: false, failure: "too-much-output" });
  });

  test("that is no program is told like Go tells it", async () => {
    const missing = await runPlugin({
      path: join(directory, "missing"),
      args: [],
      environment: {},
      directory,
      stdin: "",
      timeoutMs: 1000,
      graceMs: 100,
    });
    expect(missing).toMatchObject({
      failure: "spawn",
      text: `fork/exec ${join(directory, "missing")}: no such file or directory`,
    });
  });

  test("ends when the kubelet stops", async () => {
    const life = new AbortController();
    const running = runScript("stopped", "#!/bin/sh\nexec sleep 30", { signal: life.signal });
    life.abort();
    expect(await running).toMatchObject({ ok: false, failure: "stopped" });
  });
});
