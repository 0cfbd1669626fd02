// What goes wrong around a real node ends in one message with the cure, and leaves nothing behind.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Cluster, startCluster } from "./cluster.ts";
import { startContainerd } from "./containerd.ts";
import { clearLeftovers, type Enclosure, openEnclosure } from "./enclosure.ts";
import { type KubeletOptions, startKubelet } from "./kubelet.ts";
import { findPrograms, type Programs } from "./programs.ts";
import { createIssuerKey, NODES, SANDBOX_IMAGE } from "./world.ts";

const FOLDERS = /^pullproof-real-node-/;
let programs: Programs;

beforeAll(() => {
  programs = findPrograms();
  clearLeftovers();
});

let before: readonly string[] = [];

beforeEach(() => {
  before = foldersLeft();
});

/** Of this test; another run may be going on beside it. */
afterEach(() => {
  expect(foldersLeft().filter((folder) => !before.includes(folder))).toEqual([]);
  const lines = processesNaming("pullproof-real-node-");
  expect(lines.filter((line) => !before.some((folder) => line.includes(folder)))).toEqual([]);
});

function foldersLeft(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => FOLDERS.test(name));
}

/** Command lines of living processes that hold a text. */
function processesNaming(text: string): readonly string[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.map(commandLine).filter((line) => line.includes(text));
}

function commandLine(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // it ended meanwhile
  }
}

async function until(holds: () => boolean, seconds = 20): Promise<void> {
  for (let left = seconds * 20; left > 0 && !holds(); left--) await sleep(50);
  expect(holds()).toBe(true);
}

test("programs that are not installed are named together, with their packages", () => {
  const empty = mkdtempSync(join(tmpdir(), "no-programs-"));
  expect(() => findPrograms({ searchPath: empty })).toThrow(
    /lacks programs\n {2}why: not found: .*containerd, ctr, .*runc, etcd\n {2}cure: apt-get install util-linux containerd runc etcd-server$/,
  );
  expect(() => findPrograms({ containerdDirectory: empty })).toThrow(
    /why: not found: containerd, ctr, containerd-shim-runc-v2\n {2}cure: apt-get install containerd$/,
  );
  rmSync(empty, { recursive: true });
});

test("a taken port is told with the cure", async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  await using enclosure = await openEnclosure();
  const issuer = { url: "https://issuer.pullproof.test", pem: createIssuerKey() };
  const starting = startCluster({ enclosure, programs, issuer, nodes: [], port });
  await expect(starting).rejects.toThrow(
    /^kube-apiserver ended with \d+ before .*\n {2}why: .*address already in use.*\n {2}cure: end the program that has the port/,
  );
  server.close();
});

describe("a kubelet that will not start", () => {
  /** Without an API server: it is never asked. */
  const unreachable = (folder: string): Cluster => ({
    client: { request: () => Promise.reject(new Error("no API server here")) },
    kubeconfig: () => {
      const file = join(folder, "nowhere.kubeconfig");
      const cluster = { server: "https://127.0.0.1:1", "insecure-skip-tls-verify": true };
      const contexts = [{ name: "c", context: { cluster: "c", user: "c" } }];
      const parts = { clusters: [{ name: "c", cluster }], users: [{ name: "c", user: { token: "t" } }], contexts };
      writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "c", ...parts }));
      return file;
    },
  });

  async function start(enclosure: Enclosure, changes: Partial<KubeletOptions>): Promise<unknown> {
    const nowhere = { hosts: [], address: "https://127.0.0.1:1", caFile: "", sandboxImage: SANDBOX_IMAGE };
    const { endpoint } = await startContainerd({ enclosure, programs, ...nowhere });
    const cluster = unreachable(enclosure.folder);
    const documents = { ...NODES["node-1"], environment: {} };
    const at = { enclosure, programs, cluster, runtimeEndpoint: endpoint, node: "node-1" };
    return startKubelet({ ...at, ...documents, ...changes });
  }

  test("because the plugin is missing", async () => {
    await using enclosure = await openEnclosure();
    const pluginDirectory = join(enclosure.folder, "no-plugins");
    mkdirSync(pluginDirectory);
    await expect(start(enclosure, { pluginDirectory })).rejects.toThrow(
      /^kubelet-node-1 ended with \d+ before .*\n {2}why: .*did not exist.*\n {2}cure: build the plugin with e2e\/ecr-credential-provider\/build.sh/,
    );
  });

  test("because of a provider configuration it does not accept", async () => {
    await using enclosure = await openEnclosure();
    const [provider] = NODES["node-1"].credentialProviderConfig.providers as readonly object[];
    const providers = [{ ...provider, apiVersion: "credentialprovider.kubelet.k8s.io/v1beta1" }];
    const credentialProviderConfig = { ...NODES["node-1"].credentialProviderConfig, providers };
    await expect(start(enclosure, { credentialProviderConfig })).rejects.toThrow(
      /tokenAttributes is only supported for credentialprovider\.kubelet\.k8s\.io\/v1 API version.*\n {2}cure: correct the credential provider configuration/,
    );
  });

  test("because of a policy that does not exist", async () => {
    await using enclosure = await openEnclosure();
    const configuration = { ...NODES["node-1"].configuration, imagePullCredentialsVerificationPolicy: "Sometimes" };
    await expect(start(enclosure, { configuration })).rejects.toThrow(
      /imagePullCredentialsVerificationPolicy.*\n {2}cure: correct the KubeletConfiguration/,
    );
  });
});

describe("a run that is interrupted", () => {
  /** Another process that opens an enclosure with a daemon in it; its folder. */
  async function openElsewhere(): Promise<{ child: ChildProcess; folder: string }> {
    const script = `
      import { openEnclosure } from ${JSON.stringify(join(import.meta.dirname, "enclosure.ts"))};
      const enclosure = await openEnclosure();
      enclosure.start("sleeper", ["sh", "-c", "trap '' TERM INT; sleep 1000 & sleep 1000 # " + enclosure.folder]);
      console.log(enclosure.folder);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const folder = await new Promise<string>((resolve) =>
      child.stdout?.once("data", (data) => resolve(String(data).trim())),
    );
    await until(() => processesNaming(`sleep 1000 # ${folder}`).length > 0);
    return { child, folder };
  }

  test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)("by %s leaves nothing", async (signal) => {
    const { child, folder } = await openElsewhere();
    child.kill(signal);
    await until(() => !existsSync(folder) && processesNaming(folder).length === 0);
  });

  test("with its guard leaves a folder that the next run clears", async () => {
    const { child, folder } = await openElsewhere();
    const guards = readdirSync("/proc").filter((id) => commandLine(id).includes(`guard.sh ${folder}`));
    for (const guard of guards) process.kill(Number(guard), "SIGKILL");
    child.kill("SIGKILL");
    await until(() => processesNaming(folder).length === 0);
    expect(existsSync(folder)).toBe(true);
    expect(clearLeftovers()).toEqual([folder]);
  });

  test("while another one runs does not disturb it", async () => {
    await using enclosure = await openEnclosure();
    expect(clearLeftovers()).toEqual([]);
    expect(existsSync(enclosure.folder)).toBe(true);
  });
});
