// Credential provider plugins that misbehave, on real nodes of a stack: the Pod is denied, the cause is told, nothing
// is given away, and nothing hangs. The twin of all of them is the plugin that answers as it should.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { monotonicMs } from "../shared/clock.ts";
import { type Stack, startStack } from "../testing/index.ts";

const API = "credentialprovider.kubelet.k8s.io/v1";
const PASSWORD = "team-a-password";
const AUTH = `{"registry.pullproof.test":{"username":"team-a","password":"${PASSWORD}"}}`;
const GOOD = `{"kind":"CredentialProviderResponse","apiVersion":"${API}","cacheKeyType":"Image","auth":${AUTH}}`;
const TIMEOUT_MS = 400;
const MEGABYTE = 1 << 20;
/** Prints so many bytes of one character. */
const print = (bytes: number, character: string) => `head -c ${bytes} /dev/zero | tr '\\0' '${character}'`;

let stack: Stack;
let folder = "";
beforeAll(async () => {
  stack = await startStack({ pluginTimeoutMs: TIMEOUT_MS });
  folder = mkdtempSync(join(tmpdir(), "pullproof-plugins-"));
});
afterAll(async () => {
  await stack.close();
  rmSync(folder, { recursive: true });
});

let counter = 0;

/** Runs a Pod of team-a on a node of its own whose only plugin is this script. */
async function runWith(script: string) {
  counter += 1;
  const name = `node-bad-${counter}`;
  const pluginDirectory = join(folder, name);
  mkdirSync(pluginDirectory);
  writeFileSync(join(pluginDirectory, "plugin"), script, { mode: 0o755 });
  const provider = {
    name: "plugin",
    apiVersion: API,
    matchImages: ["registry.pullproof.test"],
    defaultCacheDuration: "0s",
    tokenAttributes: {
      serviceAccountTokenAudience: "sts.amazonaws.com",
      cacheType: "ServiceAccount",
      requireServiceAccount: true,
    },
  };
  const response = await fetch(`${stack.control}nodes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      name,
      like: "node-1",
      pluginDirectory,
      credentialProviderConfig: {
        apiVersion: "kubelet.config.k8s.io/v1",
        kind: "CredentialProviderConfig",
        providers: [provider],
      },
    }),
  });
  expect(response.status).toBe(201);
  const started = monotonicMs();
  const verdict = await stack.runPod(name, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "team-a" },
    spec: {
      serviceAccountName: "puller",
      containers: [{ name: "app", image: "registry.pullproof.test/team-a/app:1" }],
    },
  });
  const trace = stack.events.trace(verdict.trace);
  const exec = trace.events.find(({ operation }) => operation === "kubelet:ExecPlugin");
  const [provided] = verdict.providers;
  return {
    verdict,
    provided,
    exec,
    why: trace.why,
    text: JSON.stringify({ verdict, trace }),
    ms: monotonicMs() - started,
  };
}

describe("a plugin directory", () => {
  it.each([
    ["plugins", 400, /pluginDirectory as `builtin` or an absolute path, found .*plugins/],
    ["/no/such/folder", 400, /plugin binary directory \/no\/such\/folder did not exist/],
    ["builtin", 201, /like-builtin/],
  ])("%s: %i", async (pluginDirectory, status, text) => {
    const response = await fetch(`${stack.control}nodes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: `like-${pluginDirectory.replaceAll("/", "")}`, like: "node-1", pluginDirectory }),
    });
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(text)]);
  });
});

const answer = (text: string) => `#!/bin/sh\ncat > /dev/null\ncat <<'END'\n${text}\nEND\n`;

describe("a plugin", () => {
  it.each<[string, string]>([
    ["that answers as it should", answer(GOOD)],
    ["that also talks on stderr", `${answer(GOOD)}echo noise >&2\n`],
    ["that does not read its request", `#!/bin/sh\necho '${GOOD}'\n`],
    [
      "that surrounds its answer with a megabyte of blanks",
      `#!/bin/sh\ncat > /dev/null\n${print(MEGABYTE, " ")}\necho '${GOOD}'\n`,
    ],
    [
      "that answers a megabyte of credentials",
      answer(
        GOOD.replace(AUTH, AUTH.replace("{", `{"other.test":{"username":"u","password":"${"p".repeat(MEGABYTE)}"},`)),
      ),
    ],
  ])("%s: pulled", async (_what, script) => {
    const { verdict, provided, text } = await runWith(script);
    expect(verdict).toMatchObject({ verdict: "pulled", reason: "pulled-with-service-account" });
    expect(provided?.outcome).toBe("executed");
    expect(text).not.toContain(PASSWORD);
  });

  it.each<[string, string, string, RegExp]>([
    ["prints noise", answer("Hello! I am a plugin."), "plugin-answer-refused", /json parse error/],
    ["prints noise before its answer", answer(`starting …\n${GOOD}`), "plugin-answer-refused", /json parse error/],
    ["prints noise behind its answer", answer(`${GOOD}\ndone`), "plugin-answer-refused", /json parse error/],
    ["prints nothing", "#!/bin/sh\ncat > /dev/null\n", "plugin-answer-refused", /json parse error/],
    ["prints a list", answer("[]"), "plugin-answer-refused", /cannot unmarshal array/],
    ["exits 3", "#!/bin/sh\necho 'no such role' >&2\nexit 3\n", "plugin-exit", /exit status 3: no such role/],
    ["answers and exits 3", `${answer(GOOD)}exit 3\n`, "plugin-exit", /exit status 3/],
    ["is killed", "#!/bin/sh\nkill -9 $$\n", "plugin-signal", /signal: killed/],
    ["is no program", "no shebang, no ELF\n", "plugin-spawn", /exec format error|permission denied/],
    ["needs an interpreter that is not there", "#!/no/such/shell\n", "plugin-spawn", /no such file or directory/],
    [
      "answers another apiVersion",
      answer(GOOD.replace("/v1", "/v1beta1")),
      "plugin-answer-refused",
      /did not match expected apiVersion:credentialprovider.kubelet.k8s.io\/v1, actual apiVersion:credentialprovider.kubelet.k8s.io\/v1beta1/,
    ],
    ["answers another kind", answer(GOOD.replace("Response", "Request")), "plugin-answer-refused", /error decoding/],
    ["answers with an unknown field", answer(GOOD.replace("{", '{"x":1,')), "plugin-answer-refused", /error decoding/],
    [
      "answers another cacheKeyType",
      answer(GOOD.replace("Image", "Node")),
      "plugin-answer-refused",
      /valid cacheKeyType: Node/,
    ],
    ["prints a megabyte of noise", `#!/bin/sh\n${print(MEGABYTE, "x")}\n`, "plugin-answer-refused", /json parse error/],
    ["prints a megabyte on stderr", `#!/bin/sh\n${print(MEGABYTE, "é")} >&2\nexit 1\n`, "plugin-exit", /exit status 1/],
    [
      "prints more than anybody needs",
      `#!/bin/sh\n${print(17 * MEGABYTE, " ")}\n`,
      "plugin-too-much-output",
      /more than 16777216 bytes/,
    ],
    [
      "gives the token back as the password",
      `#!/bin/sh\ntoken=$(sed 's/.*"serviceAccountToken":"\\([^"]*\\)".*/\\1/')\ncat <<END\n${GOOD.replace(PASSWORD, "$token")}\nEND\n`,
      "plugin-answer-refused",
      /returned the service account token as the password/,
    ],
  ])("that %s: denied, and why", async (_what, script, reason, because) => {
    const { verdict, provided, exec, why, text } = await runWith(script);
    expect(verdict).toMatchObject({ verdict: "denied", reason: "no-credentials", podReason: "ErrImagePull" });
    expect(provided).toMatchObject({ outcome: "failed", reason });
    expect(provided?.because).toMatch(because);
    expect(exec).toMatchObject({ decision: "deny", reason });
    expect(why).toEqual(exec);
    expect(text).not.toContain(PASSWORD);
    expect(text.length).toBeLessThan(60_000);
  });

  it("that shows its request on stderr gives no token away", async () => {
    const copy = join(folder, "request.json");
    const { exec, text } = await runWith(`#!/bin/sh\ntee ${copy} >&2\nexit 1\n`);
    const { serviceAccountToken } = JSON.parse(readFileSync(copy, "utf8"));
    expect(serviceAccountToken).toMatch(/^eyJ.*\..*\../);
    expect(exec?.notes?.stderr).toMatch(/"serviceAccountToken":"<token sha256:[0-9a-f]{8}>"/);
    for (const part of String(serviceAccountToken).split(".")) expect(text).not.toContain(part);
  });

  it("that hangs is killed at the deadline", async () => {
    const { verdict, provided, ms } = await runWith("#!/bin/sh\nexec sleep 60\n");
    expect(verdict.verdict).toBe("denied");
    expect(provided).toMatchObject({ outcome: "failed", reason: "plugin-timeout" });
    expect(provided?.because).toContain("context deadline exceeded");
    expect(ms).toBeGreaterThan(TIMEOUT_MS);
    expect(ms).toBeLessThan(TIMEOUT_MS + 1800);
  });

  it("that hangs through a child holding its output is given up, and the child is ended", async () => {
    const pidFile = join(folder, "child.pid");
    const { verdict, provided } = await runWith(`#!/bin/sh\nsleep 60 &\necho $! > ${pidFile}\nexit 0\n`);
    expect(verdict.verdict).toBe("denied");
    expect(provided).toMatchObject({ outcome: "failed", reason: "plugin-stdout-held" });
    expect(provided?.because).toContain("a process that it started still holds its output open");
    const pid = readFileSync(pidFile, "utf8").trim();
    for (let waited = 0; existsSync(`/proc/${pid}`) && isAlive(pid) && waited < 100; waited += 1) await sleep(10);
    expect(isAlive(pid)).toBe(false);
  });
});

/** A zombie that nobody has waited for yet counts as ended. */
function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
