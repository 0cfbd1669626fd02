// Start-up refusals, gate changes over restarts, and what happens when files fail (kubelet.md 1.1, 6.1, 6.9, 13.2).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMemoryRecords } from "./records-memory.ts";
import { HOST, type Stand, startStand } from "./testdata/stand.ts";
import type { KubeletOptions } from "./types.ts";

const EXEC = "credentialprovider.kubelet.k8s.io/v1";
const PROVIDER = { name: "demo", apiVersion: EXEC, matchImages: [HOST], defaultCacheDuration: "0s" };
const configOf = (...providers: unknown[]) => ({
  apiVersion: "kubelet.config.k8s.io/v1",
  kind: "CredentialProviderConfig",
  providers,
});
const X = `${HOST}/team-a/app:v1`;

let stand: Stand;
let root: string;

beforeEach(async () => {
  stand = await startStand();
  root = mkdtempSync(join(tmpdir(), "kubelet-"));
  mkdirSync(join(root, "plugins"));
  writeFileSync(join(root, "plugins", "demo"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(root, "plugins", "text"), "no program", { mode: 0o644 });
});

afterEach(async () => {
  await stand.close();
  rmSync(root, { recursive: true, force: true });
});

/** The refusal's text; "" if the kubelet started. */
async function start(options: Partial<KubeletOptions>): Promise<string> {
  const node = stand.kubelet({
    rootDirectory: join(root, "kubelet"),
    pluginDirectory: join(root, "plugins"),
    ...options,
  });
  try {
    await node.start();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  } finally {
    await node.stop();
  }
}

describe("credential providers", () => {
  const prefix = "Failed to register CRI auth plugins: ";
  test.each([
    ["a good configuration", { credentialProviderConfig: configOf(PROVIDER) }, ""],
    ["no configuration", {}, ""],
    [
      "a missing executable",
      { credentialProviderConfig: configOf({ ...PROVIDER, name: "gone" }) },
      "plugin binary executable  did not exist",
    ],
    [
      "no program",
      { credentialProviderConfig: configOf({ ...PROVIDER, name: "text" }) },
      "error inspecting binary executable : exec: ",
    ],
    ["an empty name", { credentialProviderConfig: configOf({ ...PROVIDER, name: "" }) }, "is a directory"],
    [
      "a missing directory",
      { credentialProviderConfig: configOf(PROVIDER), pluginDirectory: "/nowhere" },
      "plugin binary directory /nowhere did not exist",
    ],
    ["a missing file", { credentialProviderConfigPath: "/nowhere.yaml" }, 'unable to access path "/nowhere.yaml": '],
    ["an empty path", { credentialProviderConfigPath: "" }, "credential provider config path is empty"],
  ])("%s", async (_id, options, text) => {
    const refusal = await start(options);
    if (text === "") expect(refusal).toBe("");
    else expect(refusal).toContain(text);
    expect(refusal.startsWith(text === "" ? "" : prefix)).toBe(true);
  });

  test("a directory is read in byte order (≥ 1.34), other files and folders are not", async () => {
    const directory = join(root, "config.d");
    mkdirSync(join(directory, "sub.yaml"), { recursive: true });
    expect(await start({ credentialProviderConfigPath: directory })).toContain(
      "no configuration files found in directory",
    );
    writeFileSync(join(directory, "b.yaml"), "b: 2\n");
    writeFileSync(join(directory, "a.YAML"), "ignored");
    expect(await start({ credentialProviderConfigPath: directory })).toContain(
      `error decoding config "${join(directory, "b.yaml")}"`,
    );
    writeFileSync(join(directory, "b.yaml"), JSON.stringify(configOf(PROVIDER)));
    const node = stand.kubelet({
      rootDirectory: join(root, "kubelet"),
      pluginDirectory: join(root, "plugins"),
      credentialProviderConfigPath: directory,
    });
    await node.start();
    expect(node.configHash()).toMatch(/^sha256:[0-9a-f]{64}$/);
    await node.stop();
    expect(await start({ version: "1.33", credentialProviderConfigPath: directory })).toContain("is a directory");
  });
});

describe("KubeletConfiguration", () => {
  test.each([
    [{}, ""],
    [{ imagePullCredentialsVerificationPolicy: "AlwaysVerify" }, ""],
    [
      { imagePullCredentialVerificationPolicy: "AlwaysVerify" },
      'strict decoding error: unknown field "imagePullCredentialVerificationPolicy"',
    ],
    [
      { imagePullCredentialsVerificationPolicy: "Sometimes" },
      "invalid configuration: unknown imagePullCredentialsVerificationPolicy: Sometimes",
    ],
    [
      {
        featureGates: { KubeletEnsureSecretPulledImages: false },
        imagePullCredentialsVerificationPolicy: "AlwaysVerify",
      },
      "invalid configuration: `imagePullCredentialsVerificationPolicy` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled",
    ],
    [
      { preloadedImagesVerificationAllowlist: ["a/b"] },
      'invalid configuration: can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"',
    ],
    [
      {
        imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages",
        preloadedImagesVerificationAllowlist: ["h:5000"],
      },
      "invalid configuration: invalid image pattern in `preloadedImagesVerificationAllowlist`: neither tag nor digest is accepted in an image reference: h:5000",
    ],
    [
      { maxParallelImagePulls: 2, serializeImagePulls: true },
      "invalid configuration: maxParallelImagePulls cannot be larger than 1",
    ],
    [{ maxParallelImagePulls: 0 }, "invalid configuration: maxParallelImagePulls 0 must be a positive number"],
    [{ kind: "Other" }, 'no kind "Other" is registered'],
  ])("%j", async (configuration, text) => {
    const refusal = await start({ configuration });
    if (text === "") expect(refusal).toBe("");
    else expect(refusal).toContain(text);
  });
});

const podOf = (uid: string, secrets: string[] = []) => ({
  metadata: { namespace: "team-a", name: uid, uid },
  spec: {
    imagePullSecrets: secrets.map((name) => ({ name })),
    containers: [{ name: "c", image: X, imagePullPolicy: "IfNotPresent" }],
  },
});

describe("records that cannot be written", () => {
  beforeEach(() => {
    stand.users.set("alice", "s3cret");
    stand.addSecret("team-a", "regcred", { uid: "s1", login: "alice/s3cret" });
    stand.repositories.set("team-a/app", { users: ["alice"], tags: { v1: { layers: [], label: "x" } } });
  });
  const nodeWith = async (failing: "writeRecord" | "writeIntent" | undefined) => {
    const good = createMemoryRecords({ version: "1.36" });
    const broken = () => {
      throw new Error("read-only file system");
    };
    const node = stand.kubelet({
      rootDirectory: join(root, "kubelet"),
      records: failing ? { ...good, [failing]: broken } : good,
    });
    await node.start();
    return { node, good };
  };

  test("66: the record: the container starts, the intent stays, everybody must authenticate", async () => {
    const { node, good } = await nodeWith("writeRecord");
    expect((await node.runPod(podOf("p1", ["regcred"]))).verdict).toBe("pulled");
    expect(good.listIntents().intents).toEqual([X]);
    expect((await node.runPod(podOf("p2"))).verdict).toBe("denied");
    const twin = await nodeWith(undefined);
    expect((await twin.node.runPod(podOf("p1", ["regcred"]))).verdict).toBe("pulled");
    expect(twin.good.listIntents().intents).toEqual([]);
  });

  test("the intent: the start fails with the kubelet's text", async () => {
    const { node } = await nodeWith("writeIntent");
    const verdict = await node.runPod(podOf("p1", ["regcred"]));
    expect(verdict).toMatchObject({
      verdict: "denied",
      reason: "intent-not-written",
      message: `Failed to record image pull intent for container image "${X}": failed to record image pull intent: read-only file system`,
    });
    expect(stand.takeRegistryRequests()).toEqual([]);
  });

  test("a pull rate is kept where it is configured", async () => {
    const node = stand.kubelet({
      rootDirectory: join(root, "kubelet"),
      configuration: { registryPullQPS: 1, registryBurst: 1 },
    });
    await node.start();
    const verdicts = await Promise.all([node.runPod(podOf("p1", ["regcred"])), node.runPod(podOf("p2", ["regcred"]))]);
    expect(verdicts.map(({ reason }) => reason)).toEqual(["pulled-with-secret", "qps-exceeded"]);
    expect(verdicts[1]?.message).toBe("pull QPS exceeded");
  });
});

test.each([
  [
    "no uid",
    { metadata: { namespace: "a", name: "b" }, spec: { containers: [] } },
    "metadata.uid: expected a non-empty string",
  ],
  ["no object", "pod", 'Pod: expected an object, found "pod"'],
  [
    "no image",
    { metadata: { namespace: "a", name: "b", uid: "c" }, spec: { containers: [{ name: "x" }] } },
    "spec.containers[0].image: expected",
  ],
])("a Pod with %s is refused", async (_id, pod, text) => {
  const node = stand.kubelet({ rootDirectory: join(root, "kubelet") });
  await node.start();
  await expect(node.runPod(pod)).rejects.toThrow(text);
});
