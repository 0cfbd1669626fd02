// The cases of kubelet.md section 9 against an API server and a registry over HTTP, with real plugin processes and files.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HOST, render, type Stand, startStand } from "./testdata/stand.ts";
import type { Kubelet, KubeletOptions, PodVerdict } from "./types.ts";

const X = `${HOST}/team-a/app:v1`;
const K = `${HOST}/team-a/app`;
const APP = { layers: [Buffer.from("layer of app")], label: "app" };
const I1 = render(APP).config.digest;
const H1 = "84e602bef66066d26999b4f32a2afb963a80f8384d3cdf9145038d3c3da62d2b"; // alice / s3cret
const S1 = { uid: "s1", namespace: "team-a", name: "regcred", credentialHash: H1 };
const A = { uid: "a1", namespace: "team-a", name: "puller" };
const B = { uid: "b1", namespace: "team-b", name: "puller" };

/** Answers by the ServiceAccount's annotation `demo.example/role`: prints `answers/<role>` or fails; notes each request. */
const PLUGIN = `#!/bin/sh
here=$(dirname "$0")
request=$(cat)
printf '%s\\n' "$request" >> "$here/calls.jsonl"
role=$(printf '%s' "$request" | sed -n 's/.*"demo.example\\/role":"\\([^"]*\\)".*/\\1/p')
[ -f "$here/answers/\${role:-none}" ] || { echo "no such role: $role" >&2; exit 1; }
cat "$here/answers/\${role:-none}"
`;

const TOKENS = {
  serviceAccountTokenAudience: "sts.demo.example",
  cacheType: "ServiceAccount",
  requireServiceAccount: true,
  requiredServiceAccountAnnotationKeys: ["demo.example/role"],
};

let stand: Stand;
let root: string;
let plugins: string;
let serial = 0;
const nodes: Kubelet[] = [];

beforeEach(async () => {
  stand = await startStand();
  root = mkdtempSync(join(tmpdir(), "kubelet-"));
  plugins = join(root, "plugins");
  mkdirSync(join(plugins, "answers"), { recursive: true });
  writeFileSync(join(plugins, "demo"), PLUGIN, { mode: 0o755 });
  stand.users.set("alice", "s3cret").set("AWS", "pw").set("bob", "bobs");
  stand.repositories.set("team-a/app", { users: ["alice", "AWS"], tags: { v1: APP, v2: APP } });
  stand.addSecret("team-a", "regcred", { uid: "s1", login: "alice/s3cret" });
  stand.addSecret("team-b", "copy", { uid: "s2", login: "alice/s3cret" });
  stand.addSecret("team-b", "wrong", { uid: "s3", login: "alice/nope" });
  stand.addSecret("team-a", "elsewhere", { uid: "s4", login: "alice/s3cret", host: "other.local" });
  stand.accounts.set("team-a/puller", { uid: "a1", annotations: { "demo.example/role": "grant", other: "x" } });
  stand.accounts.set("team-b/puller", { uid: "b1", annotations: { "demo.example/role": "refuse" } });
  answer("grant", { auth: { [HOST]: { username: "AWS", password: "pw" } } });
});

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
  await stand.close();
  rmSync(root, { recursive: true, force: true });
});

function answer(role: string, facts: Record<string, unknown>): void {
  const body = {
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    kind: "CredentialProviderResponse",
    cacheKeyType: "Registry",
    ...facts,
  };
  writeFileSync(join(plugins, "answers", role), JSON.stringify(body));
}

function providerConfig(
  tokens: Record<string, unknown> | undefined = TOKENS,
  more: Record<string, unknown> = {},
): unknown {
  const provider = {
    name: "demo",
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    matchImages: [HOST],
    defaultCacheDuration: "0s",
    ...(tokens ? { tokenAttributes: tokens } : {}),
    ...more,
  };
  return { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers: [provider] };
}

async function startNode(options: Partial<KubeletOptions> = {}): Promise<Kubelet> {
  const node = stand.kubelet({ rootDirectory: join(root, "kubelet"), pluginDirectory: plugins, ...options });
  nodes.push(node);
  await node.start();
  return node;
}

const startPluginNode = (options: Partial<KubeletOptions> = {}) =>
  startNode({ credentialProviderConfig: providerConfig(), ...options });

interface PodFacts {
  namespace?: string;
  account?: string;
  secrets?: string[];
  image?: string;
  policy?: string;
  annotations?: Record<string, string>;
  name?: string;
}

function podOf(facts: PodFacts = {}): unknown {
  const number = ++serial;
  const {
    namespace = "team-a",
    account,
    secrets = [],
    image = X,
    policy = "IfNotPresent",
    annotations = {},
    name,
  } = facts;
  return {
    metadata: { namespace, name: name ?? `pod-${number}`, uid: `uid-${number}`, annotations },
    spec: {
      ...(account ? { serviceAccountName: account } : {}),
      imagePullSecrets: secrets.map((secret) => ({ name: secret })),
      containers: [{ name: "c", image, imagePullPolicy: policy }],
    },
  };
}

const run = (node: Kubelet, facts: PodFacts = {}): Promise<PodVerdict> => node.runPod(podOf(facts));
const withS1: PodFacts = { secrets: ["regcred"] };
const withS3: PodFacts = { namespace: "team-b", secrets: ["wrong"] };
const withA: PodFacts = { account: "puller" };
const withB: PodFacts = { namespace: "team-b", account: "puller" };
const entryOf = (node: Kubelet) =>
  node.records().records.find((record) => record.imageRef === I1)?.credentialMapping[K];
const calls = () =>
  existsSync(join(plugins, "calls.jsonl")) ? readFileSync(join(plugins, "calls.jsonl"), "utf8").trim().split("\n") : [];
const texts = (verdict: PodVerdict) => verdict.events.map((event) => `${event.reason}: ${event.message}`);
const summary = ({ verdict, reason, podReason }: PodVerdict) => ({ verdict, reason, podReason });

describe("imagePullSecrets and records", () => {
  test("1, 2, 3, 5: the four Pods: with secret, again, wrong secret, no secret", async () => {
    const node = await startNode();
    const first = await run(node, withS1);
    expect(summary(first)).toEqual({ verdict: "pulled", reason: "pulled-with-secret", podReason: undefined });
    expect(first.imageRef).toBe(I1);
    expect(texts(first)[0]).toBe(`Pulling: Pulling image "${X}"`);
    expect(texts(first)[1]).toMatch(
      /^Pulled: Successfully pulled image ".*" in \d+m?s \(\d+m?s including waiting\)\. Image size: \d+ bytes\.$/,
    );
    expect(first.credentials).toEqual([
      { source: "secret", name: "team-a/regcred", username: "alice", outcome: "accepted" },
    ]);
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1] });
    expect(node.records().intents).toEqual([]);
    stand.takeRegistryRequests();

    const again = await run(node, withS1);
    expect(summary(again)).toEqual({ verdict: "present", reason: "record-secret-hash", podReason: undefined });
    expect(texts(again)).toEqual([
      `Pulled: Container image "${X}" already present on machine and can be accessed by the pod`,
    ]);
    expect(stand.takeRegistryRequests()).toEqual([]);

    const wrong = await run(node, withS3);
    expect(summary(wrong)).toEqual({ verdict: "denied", reason: "registry-refused", podReason: "ErrImagePull" });
    expect(wrong.message).toBe(
      `failed to pull and unpack image "${X}": failed to resolve image: unexpected status from HEAD request to https://${HOST}/v2/team-a/app/manifests/v1: 401 Unauthorized`,
    );
    // With credentials there is no anonymous try after they failed: the first, unauthenticated HEAD is the runtime's.
    expect(stand.takeRegistryRequests().map((line) => line.split(" ").at(-1))).toEqual(["-", "alice"]);

    const none = await run(node, {});
    expect(summary(none)).toEqual({ verdict: "denied", reason: "no-credentials", podReason: "ErrImagePull" });
    expect(none.message).toBe(
      `failed to pull and unpack image "${X}": failed to resolve image: pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`,
    );
    expect(texts(none).slice(-1)).toEqual(["Failed: Error: ErrImagePull"]);
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1] });
    const decisions = stand.sink.events.filter((event) => event.operation === "kubelet:DecidePull");
    expect(decisions.map((event) => event.notes?.result)).toEqual([
      "credentialRecordFound",
      "mustAuthenticate",
      "mustAuthenticate",
    ]);
  });

  test("3: the next sync is in back-off and repeats the previous error; 65: the gaps double", async () => {
    const node = await startNode();
    stand.clock.freeze(true);
    const pod = podOf({});
    const outcomes: string[] = [];
    for (const wait of [0, 9, 1, 19, 1, 39, 1, 79, 1]) {
      stand.clock.advance(wait);
      outcomes.push((await node.runPod(pod)).podReason ?? "");
    }
    const [failed, backedOff] = ["ErrImagePull", "ImagePullBackOff"];
    expect(outcomes).toEqual([failed, backedOff, failed, backedOff, failed, backedOff, failed, backedOff, failed]);
    const last = await node.runPod(pod);
    expect(last.message).toMatch(new RegExp(`^Back-off pulling image "${X}": ErrImagePull: failed to pull and unpack`));
    expect(last.events.at(-2)).toEqual({ type: "Normal", reason: "BackOff", message: `Back-off pulling image "${X}"` });
    expect(node.records().intents).toEqual([]);
  });

  test.each([
    { id: "4: a secret for another host", pod: { secrets: ["elsewhere"] }, want: "denied no-credentials" },
    { id: "6: wrong secret, policy Never", pod: { ...withS3, policy: "Never" }, want: "denied never-not-permitted" },
    { id: "8: right secret, policy Never", pod: { ...withS1, policy: "Never" }, want: "present record-secret-hash" },
    {
      id: "9: same content elsewhere",
      pod: { namespace: "team-b", secrets: ["copy"] },
      want: "present record-secret-hash",
    },
    { id: "58: tag v2 with the same id, S1", pod: { ...withS1, image: `${K}:v2` }, want: "pulled pulled-with-secret" },
    { id: "60: policy Always, S1", pod: { ...withS1, policy: "Always" }, want: "pulled pulled-with-secret" },
    { id: "60: policy Always, S3", pod: { ...withS3, policy: "Always" }, want: "denied registry-refused" },
    { id: "7: other image absent, Never", pod: { image: `${K}:none`, policy: "Never" }, want: "denied never-absent" },
  ])("R(S1), then $id", async ({ pod, want }) => {
    const node = await startNode();
    await run(node, withS1);
    const { verdict, reason } = await run(node, pod);
    expect(`${verdict} ${reason}`).toBe(want);
  });

  test("6, 7: present but not permitted looks exactly like absent", async () => {
    const node = await startNode();
    await run(node, withS1);
    const hidden = await run(node, { ...withS3, policy: "Never" });
    const absent = await run(node, { ...withS3, policy: "Never", image: `${K}:none` });
    const shown = (verdict: PodVerdict) =>
      JSON.stringify([verdict.podReason, verdict.message, verdict.events]).replaceAll(":none", ":v1");
    expect(shown(hidden)).toBe(shown(absent));
    expect(hidden.podReason).toBe("ErrImageNeverPull");
  });

  test("9: the second secret is added, sorted", async () => {
    const node = await startNode();
    await run(node, { namespace: "team-b", secrets: ["copy"] });
    await run(node, withS1);
    const S2 = { uid: "s2", namespace: "team-b", name: "copy", credentialHash: H1 };
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1, S2] });
  });

  test("10, 11, 12, 13: a rotated secret is present without asking; its old content no longer counts", async () => {
    const node = await startNode();
    await run(node, withS1);
    stand.takeRegistryRequests();
    stand.addSecret("team-a", "regcred", { uid: "s1", login: "alice/even-wrong" });
    const rotated = await run(node, withS1);
    expect(summary(rotated)).toEqual({ verdict: "present", reason: "record-secret-coordinates", podReason: undefined });
    expect(stand.takeRegistryRequests()).toEqual([]);
    expect(entryOf(node)?.kubernetesSecrets?.[0]?.credentialHash).not.toBe(H1);
    expect((await run(node, { namespace: "team-b", secrets: ["copy"] })).verdict).toBe("pulled"); // 11: must pull
    stand.addSecret("team-a", "regcred", { uid: "s9", login: "alice/other" });
    expect((await run(node, withS1)).verdict).toBe("denied"); // 12: recreated with new content
    stand.addSecret("team-a", "regcred", { uid: "s9", login: "alice/s3cret" });
    expect((await run(node, withS1)).reason).toBe("record-secret-hash"); // 13: recreated with recorded content
  });

  test("43, 44: credentials are tried in order, all errors are told", async () => {
    const node = await startNode();
    stand.addSecret("team-a", "first", { uid: "s5", login: "mallory/x", host: `${HOST}/team-a` });
    const verdict = await run(node, { secrets: ["regcred", "first"] });
    expect(verdict.credentials.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "team-a/first refused",
      "team-a/regcred accepted",
    ]);
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1] });
    stand.repositories.set("team-a/other", { users: [], tags: {} });
    stand.deny = 403;
    const refused = await run(node, { secrets: ["regcred", "first"], image: `${HOST}/team-a/other:v1` });
    expect(refused.credentials.map((credential) => credential.because)).toEqual([
      "DENIED: mallory may not pull",
      "DENIED: alice may not pull",
    ]);
  });

  test("a missing secret is told and not fatal; a broken one is fatal", async () => {
    const node = await startNode();
    const missing = await run(node, { secrets: ["gone", "regcred"] });
    expect(missing.verdict).toBe("pulled");
    expect(texts(missing)[0]).toBe(
      "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.",
    );
    const data = { ".dockerconfigjson": Buffer.from("{oops").toString("base64") };
    stand.secrets.set("team-a/broken", { uid: "s7", type: "kubernetes.io/dockerconfigjson", data });
    const broken = await run(node, { secrets: ["broken"] });
    expect(summary(broken)).toEqual({
      verdict: "denied",
      reason: "credential-lookup-failed",
      podReason: "invalid character 'o' looking for beginning of object key string",
    });
  });

  test("13.1: 1.37 tells of a missing secret only after a failed pull", async () => {
    const node = await startNode({ version: "1.37" });
    expect(texts(await run(node, { secrets: ["gone", "regcred"] })).join()).not.toContain("FailedToRetrieve");
    expect(texts(await run(node, { secrets: ["gone"] })).at(-1)).toContain("FailedToRetrieveImagePullSecret");
  });

  test("56: another name of the same id needs a pull of its own", async () => {
    stand.repositories.set("team-b/copy", { users: ["alice"], tags: { v1: APP } });
    const node = await startNode();
    await run(node, withS1);
    const Y = `${HOST}/team-b/copy:v1`;
    await run(node, { ...withS1, image: Y, policy: "Always" });
    const [record, ...others] = node.records().records;
    expect(others).toEqual([]);
    expect(Object.keys(record?.credentialMapping ?? {})).toEqual([K, `${HOST}/team-b/copy`]);
  });

  test("64: two Pods at once, one may", async () => {
    const node = await startNode({ configuration: { serializeImagePulls: false } });
    const verdicts = await Promise.all([run(node, withS1), run(node, withS3)]);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["pulled", "denied"]);
    expect(node.records().intents).toEqual([]);
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1] });
  });
});

describe("public images", () => {
  beforeEach(() => stand.repositories.set("team-a/app", { users: undefined, tags: { v1: APP } }));

  test("17, 18, 19, 20: anonymous first: open to all, also after the repository turned private", async () => {
    const node = await startPluginNode();
    expect(summary(await run(node))).toEqual({ verdict: "pulled", reason: "pulled-anonymously", podReason: undefined });
    expect(entryOf(node)).toEqual({ nodePodsAccessible: true });
    stand.requests.length = 0;
    expect((await run(node, withA)).reason).toBe("record-node-accessible");
    expect(stand.requests).toEqual([]); // neither credentials nor plugins are consulted
    stand.repositories.set("team-a/app", { users: ["alice"], tags: { v1: APP } });
    expect((await run(node)).verdict).toBe("present");
    expect((await run(node, { policy: "Always" })).verdict).toBe("denied");
    expect((await run(node, { ...withS1, policy: "Always" })).verdict).toBe("pulled");
    expect(entryOf(node)).toEqual({ nodePodsAccessible: true });
  });

  test("21: with a secret first, then without: pulled again and opened", async () => {
    const node = await startNode();
    expect((await run(node, withS1)).reason).toBe("pulled-with-secret");
    expect((await run(node)).reason).toBe("pulled-anonymously");
    expect(entryOf(node)).toEqual({ nodePodsAccessible: true });
  });

  test("22: credentials of the node's config.json open the image to all", async () => {
    stand.repositories.set("team-a/app", { users: ["alice"], tags: { v1: APP } });
    const node = await startNode();
    expect((await run(node)).verdict).toBe("denied");
    const auth = Buffer.from("alice:s3cret").toString("base64");
    writeFileSync(join(root, "kubelet", "config.json"), JSON.stringify({ auths: { [HOST]: { auth } } }));
    stand.clock.advance(301); // the earlier answer, though empty, is kept five minutes
    expect((await run(node)).reason).toBe("pulled-with-node-credential");
    expect(entryOf(node)).toEqual({ nodePodsAccessible: true });
  });
});

describe("service account tokens", () => {
  test("24, 25: pulled, then present: the plugin is asked, the registry is not", async () => {
    const node = await startPluginNode();
    const first = await run(node, withA);
    expect(summary(first)).toEqual({ verdict: "pulled", reason: "pulled-with-service-account", podReason: undefined });
    expect(entryOf(node)).toEqual({ kubernetesServiceAccounts: [A] });
    const request = JSON.parse(calls()[0] ?? "");
    expect(Object.keys(request)).toEqual([
      "kind",
      "apiVersion",
      "image",
      "serviceAccountToken",
      "serviceAccountAnnotations",
    ]);
    expect(request.image).toBe(K);
    expect(request.serviceAccountAnnotations).toEqual({ "demo.example/role": "grant" });
    stand.takeRegistryRequests();
    const again = await run(node, withA);
    expect(summary(again)).toEqual({ verdict: "present", reason: "record-service-account", podReason: undefined });
    expect(again.credentials[0]?.outcome).toBe("in-record");
    expect(stand.takeRegistryRequests()).toEqual([]);
    expect(calls()).toHaveLength(2);
  });

  test("26, 27: a foreign cached image: refused while the plugin gives nothing, own pull when it does", async () => {
    const node = await startPluginNode();
    await run(node, withA);
    const foreign = await run(node, withB);
    expect(summary(foreign)).toEqual({ verdict: "denied", reason: "no-credentials", podReason: "ErrImagePull" });
    expect(foreign.providers).toEqual([
      {
        name: "demo",
        outcome: "failed",
        reason: "plugin-exit",
        because: `failed to get credential from external registry credential provider: error execing credential provider plugin demo for image ${K}: exit status 1: no such role: refuse\n`,
      },
    ]);
    answer("refuse", { auth: { [HOST]: { username: "AWS", password: "pw" } } });
    expect((await run(node, withB)).verdict).toBe("pulled");
    expect(entryOf(node)).toEqual({ kubernetesServiceAccounts: [A, B] });
  });

  test("28: a recreated ServiceAccount must pull again", async () => {
    const node = await startPluginNode();
    await run(node, withA);
    stand.accounts.set("team-a/puller", { uid: "a9", annotations: { "demo.example/role": "grant" } });
    stand.takeRegistryRequests();
    expect((await run(node, withA)).verdict).toBe("pulled");
    expect(stand.takeRegistryRequests().length).toBeGreaterThan(0);
  });

  test("29: an account counts only if its provider gave a credential just now", async () => {
    const node = await startPluginNode();
    await run(node, withA);
    rmSync(join(plugins, "answers", "grant"));
    expect(summary(await run(node, withA))).toEqual({
      verdict: "denied",
      reason: "no-credentials",
      podReason: "ErrImagePull",
    });
  });

  test("30: a record of a secret does not help an account; afterwards both are listed", async () => {
    const node = await startPluginNode();
    await run(node, withS1);
    expect((await run(node, withA)).verdict).toBe("pulled");
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1], kubernetesServiceAccounts: [A] });
  });

  test("31: 1.33 records a ServiceAccount's pull as open to the node", async () => {
    const { cacheType: _, ...tokens } = TOKENS;
    const featureGates = {
      KubeletServiceAccountTokenForCredentialProviders: true,
      KubeletEnsureSecretPulledImages: true,
    };
    const node = await startNode({
      version: "1.33",
      configuration: { featureGates },
      credentialProviderConfig: providerConfig(tokens),
    });
    await run(node, withA);
    expect(entryOf(node)).toEqual({ nodePodsAccessible: true });
    expect((await run(node, withB)).verdict).toBe("present");
  });

  test.each([
    {
      id: "34: required annotation missing",
      annotations: {},
      outcome: "skipped",
      reason: "annotation-missing",
      runs: 0,
    },
    {
      id: "empty annotation is an annotation",
      annotations: { "demo.example/role": "" },
      outcome: "failed",
      reason: "plugin-exit",
      runs: 1,
    },
    {
      id: "twin: annotation there",
      annotations: { "demo.example/role": "grant" },
      outcome: "executed",
      reason: undefined,
      runs: 1,
    },
  ])("$id", async ({ annotations, outcome, reason, runs }) => {
    stand.accounts.set("team-a/puller", { uid: "a1", annotations });
    const verdict = await run(await startPluginNode(), withA);
    expect(verdict.providers[0]).toMatchObject({ outcome, ...(reason ? { reason } : {}) });
    expect(verdict.verdict).toBe(outcome === "executed" ? "pulled" : "denied");
    expect(calls()).toHaveLength(runs);
  });

  test("35: an optional annotation that is missing is left out", async () => {
    const { requiredServiceAccountAnnotationKeys, ...tokens } = TOKENS;
    const optional = {
      ...tokens,
      optionalServiceAccountAnnotationKeys: [...requiredServiceAccountAnnotationKeys, "absent"],
    };
    await run(await startNode({ credentialProviderConfig: providerConfig(optional) }), withA);
    expect(JSON.parse(calls()[0] ?? "").serviceAccountAnnotations).toEqual({ "demo.example/role": "grant" });
  });

  test("36: the audience is not allowed to the node: the log line says so, the pull goes on without", async () => {
    const why =
      'serviceaccounts "puller" is forbidden: audience "sts.demo.example" not found in pod spec volume, system:node:node-1 is not authorized to request tokens for this audience';
    stand.tokenRefusal = why;
    const node = await startPluginNode();
    const verdict = await run(node, withA);
    expect(verdict.providers).toEqual([
      {
        name: "demo",
        outcome: "skipped",
        reason: "audience-forbidden",
        because: `failed to get service account token: failed to fetch token: ${why}`,
      },
    ]);
    expect(verdict.decidedBy).toContain(why);
    expect(calls()).toEqual([]);
    stand.tokenRefusal = undefined;
    expect((await run(node, withA)).verdict).toBe("pulled");
  });

  test.each([
    { id: "32: static Pod, ServiceAccount required", required: true, outcome: "skipped", verdict: "denied" },
    { id: "33: static Pod, not required", required: false, outcome: "executed", verdict: "pulled" },
  ])("$id", async ({ required, outcome, verdict }) => {
    answer("none", { auth: { [HOST]: { username: "AWS", password: "pw" } } });
    const { requiredServiceAccountAnnotationKeys: _, ...tokens } = TOKENS;
    const node = await startNode({
      credentialProviderConfig: providerConfig({ ...tokens, requireServiceAccount: required }),
    });
    const result = await run(node, { account: "puller", annotations: { "kubernetes.io/config.source": "file" } });
    expect({ verdict: result.verdict, outcome: result.providers[0]?.outcome }).toEqual({ verdict, outcome });
    if (!required) {
      expect(Object.keys(JSON.parse(calls()[0] ?? ""))).toEqual(["kind", "apiVersion", "image"]);
      expect(entryOf(node)).toEqual({ nodePodsAccessible: true });
    }
  });

  test("23: a provider without tokenAttributes opens the image to the node", async () => {
    answer("none", { auth: { [HOST]: { username: "AWS", password: "pw" } } });
    const node = await startNode({
      credentialProviderConfig: {
        ...(providerConfig() as object),
        providers: [
          {
            name: "demo",
            apiVersion: "credentialprovider.kubelet.k8s.io/v1",
            matchImages: [HOST],
            defaultCacheDuration: "0s",
          },
        ],
      },
    });
    expect((await run(node, withA)).reason).toBe("pulled-with-node-credential");
    expect((await run(node, withB)).reason).toBe("record-node-accessible");
  });

  test.each([
    { id: "37: cacheType ServiceAccount: one run for two Pods and two images", cacheType: "ServiceAccount", runs: 1 },
    { id: "38: cacheType Token: one run for each Pod", cacheType: "Token", runs: 2 },
  ])("$id", async ({ cacheType, runs }) => {
    answer("grant", { cacheDuration: "5m0s", auth: { [HOST]: { username: "AWS", password: "pw" } } });
    const node = await startNode({ credentialProviderConfig: providerConfig({ ...TOKENS, cacheType }) });
    await run(node, withA);
    const second = await run(node, { ...withA, image: `${K}:v2` });
    expect(calls()).toHaveLength(runs);
    expect(second.providers[0]?.outcome).toBe(runs === 1 ? "cached" : "executed");
  });

  test.each([
    { id: "41: duration 0", cacheDuration: "0s", fallback: "5m", waits: [0, 0], runs: 2 },
    { id: "41: no duration, default 0", cacheDuration: undefined, fallback: "0s", waits: [0, 0], runs: 2 },
    { id: "41: no duration, default 5m", cacheDuration: undefined, fallback: "5m", waits: [0, 299, 2], runs: 2 },
    { id: "negative duration", cacheDuration: "-1s", fallback: "5m", waits: [0, 1], runs: 2 },
  ])("$id", async ({ cacheDuration, fallback, waits, runs }) => {
    answer("grant", {
      ...(cacheDuration ? { cacheDuration } : {}),
      auth: { [HOST]: { username: "AWS", password: "pw" } },
    });
    const node = await startNode({
      credentialProviderConfig: providerConfig(TOKENS, { defaultCacheDuration: fallback }),
    });
    stand.clock.freeze(true);
    for (const wait of waits) {
      stand.clock.advance(wait);
      await run(node, withA);
    }
    expect(calls()).toHaveLength(runs);
  });

  test("42: a path glob never matches, and the trace says why", async () => {
    const node = await startNode({ credentialProviderConfig: providerConfig(TOKENS, { matchImages: [`${HOST}/*`] }) });
    const { providers } = await run(node, withA);
    expect(providers[0]).toEqual({
      name: "demo",
      outcome: "not-matched",
      because: `${HOST}/*: path /* is no prefix of /team-a/app (globs do not work in paths)`,
    });
  });

  test("2.5: concurrent Pods of one token share a run", async () => {
    const node = await startPluginNode();
    const pod = podOf(withA);
    const two = await Promise.all([node.runPod({ ...(pod as object) }), node.runPod(podOf(withB))]);
    expect(two.map(({ verdict }) => verdict)).toEqual(["pulled", "denied"]);
    expect(calls()).toHaveLength(2);
  });

  test("3.3: one token per Pod, refreshed in the last fifth of its life", async () => {
    const node = await startPluginNode();
    const pod = podOf(withA);
    const asked = () => stand.requests.filter((line) => line.endsWith("/token")).length;
    await node.runPod(pod);
    stand.clock.advance(2700);
    await node.runPod(pod);
    expect(asked()).toBe(1);
    stand.clock.advance(200);
    await node.runPod(pod);
    expect(asked()).toBe(2);
    node.deletePod("team-a", node.pods()[0]?.name ?? "");
    await node.runPod(pod);
    expect(asked()).toBe(3);
  });

  test("a bad token reaches the plugin in place of the fresh one", async () => {
    const node = await startPluginNode({ spoilToken: async (token, kind) => `${kind}.${token}` });
    await run(node, { ...withA, annotations: { "pullproof.dev/bad-token": "expired" } });
    await run(node, withA);
    const tokens = calls().map((line) => String(JSON.parse(line).serviceAccountToken).slice(0, 8));
    expect(tokens).toEqual(["expired.", "eyJhbGci"]);
  });

  test("the node's identity reaches the plugin; events name variables and never hold values", async () => {
    writeFileSync(join(plugins, "demo"), '#!/bin/sh\necho "$AWS_ACCESS_KEY_ID $STS $HOME" >&2; exit 3\n', {
      mode: 0o755,
    });
    const environment = { AWS_ACCESS_KEY_ID: "ASIANODE", AWS_SECRET_ACCESS_KEY: "never-shown" };
    const node = await startNode({
      credentialProviderConfig: providerConfig(TOKENS, { env: [{ name: "STS", value: "configured" }] }),
      environment: { STS: "node" },
      identity: async () => ({ environment, lineage: "ASIANODE" }),
    });
    const verdict = await run(node, withA);
    expect(verdict.providers[0]?.because).toContain(
      `exit status 3: ASIANODE configured ${join(root, "kubelet", "home")}`,
    );
    const exec = stand.sink.events.find((event) => event.operation === "kubelet:ExecPlugin");
    expect(exec).toMatchObject({ decision: "deny", reason: "plugin-exit", lineage: "jti-1", trace: verdict.trace });
    expect(exec?.notes?.environment).toEqual(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "HOME", "PATH", "STS"]);
    expect(JSON.stringify([stand.sink.events, verdict])).not.toMatch(/never-shown|eyJ/);
  });

  test.each([
    { id: "39: the token as password", cacheType: "ServiceAccount", outcome: "failed" },
    { id: "39: the same with cacheType Token", cacheType: "Token", outcome: "executed" },
  ])("$id", async ({ cacheType, outcome }) => {
    const script = `#!/bin/sh
token=$(sed -n 's/.*"serviceAccountToken":"\\([^"]*\\)".*/\\1/p')
echo '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","kind":"CredentialProviderResponse","cacheKeyType":"Registry","auth":{"${HOST}":{"username":"AWS","password":"'$token'"}}}'
`;
    writeFileSync(join(plugins, "demo"), script, { mode: 0o755 });
    const node = await startNode({ credentialProviderConfig: providerConfig({ ...TOKENS, cacheType }) });
    const verdict = await run(node, withA);
    expect(verdict.providers[0]?.outcome).toBe(outcome);
    expect(verdict.reason).toBe(outcome === "failed" ? "no-credentials" : "registry-refused");
  });

  test("what is pulled against the intent is a leak", async () => {
    const node = await startPluginNode({ isIntended: (namespace) => namespace === "team-a" });
    answer("refuse", { auth: { [HOST]: { username: "AWS", password: "pw" } } });
    expect((await run(node, withA)).verdict).toBe("pulled");
    const leaked = await run(node, withB);
    expect({ verdict: leaked.verdict, reason: leaked.reason }).toEqual({
      verdict: "leaked",
      reason: "pulled-with-service-account",
    });
  });
});

describe("restart, crash and preloaded images", () => {
  test("51: after a restart the owner is present and foreigners are denied; 59: time does not matter", async () => {
    const node = await startNode();
    await run(node, withS1);
    await node.restart();
    stand.clock.advance(365 * 86400);
    expect((await run(node, withS1)).verdict).toBe("present");
    expect((await run(node)).verdict).toBe("denied");
    expect((await run(node, withS3)).verdict).toBe("denied");
  });

  test("52, 53: killed between pull and record: everybody must authenticate", async () => {
    const node = await startNode();
    const crashed = await run(node, {
      ...withS1,
      annotations: { "pullproof.dev/crash-kubelet": "between-pull-and-record" },
    });
    expect(summary(crashed)).toEqual({ verdict: "denied", reason: "kubelet-crashed", podReason: undefined });
    expect((await run(node, withS1)).reason).toBe("kubelet-not-running");
    expect(node.records()).toEqual({ intents: [X], records: [] });
    await node.restart();
    expect(node.records()).toMatchObject({ intents: [], records: [{ imageRef: I1, credentialMapping: {} }] });
    expect((await run(node)).verdict).toBe("denied");
    expect((await run(node, withS1)).verdict).toBe("pulled");
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1] });
  });

  test("54: an intent that no image is named by verbatim stays, and counts for that spelling only", async () => {
    stand.repositories.set("library/app", { users: ["alice"], tags: { latest: APP } });
    stand.addSecret("team-a", "hub", { uid: "s8", login: "alice/s3cret", host: "docker.io" });
    const node = await startNode();
    const crash = { "pullproof.dev/crash-kubelet": "between-pull-and-record" };
    await run(node, { secrets: ["hub"], image: "app", annotations: crash });
    await node.restart();
    expect(node.records()).toEqual({ intents: ["app"], records: [] });
    expect((await run(node, { image: "app" })).verdict).toBe("denied");
    expect((await run(node, { image: "docker.io/library/app:latest" })).reason).toBe("preloaded");
  });

  const preloaded = () => ({
    preloadedImages: [{ image: X }],
    fetchPreloaded: async () => ({ imageRef: I1, size: 1, repoTags: [X], repoDigests: [] }),
  });

  test.each([
    { id: "45: NeverVerifyPreloadedImages", configuration: {}, policy: "IfNotPresent", want: "present preloaded" },
    { id: "45: with Never", configuration: {}, policy: "Never", want: "present preloaded" },
    { id: "46: AlwaysVerify", policyName: "AlwaysVerify", policy: "IfNotPresent", want: "denied no-credentials" },
    {
      id: "46: AlwaysVerify with Never",
      policyName: "AlwaysVerify",
      policy: "Never",
      want: "denied never-not-permitted",
    },
    {
      id: "48: allowlisted prefix",
      policyName: "NeverVerifyAllowlistedImages",
      list: [`${HOST}/team-a/*`],
      policy: "Never",
      want: "present allowlisted",
    },
    {
      id: "48: not allowlisted",
      policyName: "NeverVerifyAllowlistedImages",
      list: [`${HOST}/team-b/*`],
      policy: "Never",
      want: "denied never-not-permitted",
    },
  ])("preloaded: $id", async ({ policyName, list, policy, want }) => {
    const configuration = {
      ...(policyName ? { imagePullCredentialsVerificationPolicy: policyName } : {}),
      ...(list ? { preloadedImagesVerificationAllowlist: list } : {}),
    };
    const { verdict, reason } = await run(await startNode({ ...preloaded(), configuration }), { policy });
    expect(`${verdict} ${reason}`).toBe(want);
  });

  test("57: the id of a preloaded image pulled under another name is no longer preloaded", async () => {
    stand.repositories.set("team-b/copy", { users: ["alice"], tags: { v1: APP } });
    const node = await startNode(preloaded());
    await run(node, { ...withS1, image: `${HOST}/team-b/copy:v1` });
    expect((await run(node, { policy: "Never" })).podReason).toBe("ErrImageNeverPull");
  });

  test.each([
    {
      id: "47: allowlisted although pulled by the kubelet",
      policyName: "NeverVerifyAllowlistedImages",
      list: [K],
      want: "present",
    },
    { id: "49: NeverVerify", policyName: "NeverVerify", list: undefined, want: "present" },
    { id: "twin: default policy", policyName: "NeverVerifyPreloadedImages", list: undefined, want: "denied" },
  ])("R(S1), Pod without secret, $id", async ({ policyName, list, want }) => {
    const configuration = {
      imagePullCredentialsVerificationPolicy: policyName,
      ...(list ? { preloadedImagesVerificationAllowlist: list } : {}),
    };
    const node = await startNode({ configuration });
    await run(node, withS1);
    expect((await run(node)).verdict).toBe(want);
  });

  test("50: a broken record means pulling, whatever the policy; unnoticed until the restart", async () => {
    const node = await startNode({ configuration: { imagePullCredentialsVerificationPolicy: "NeverVerify" } });
    await run(node, withS1);
    const folder = join(root, "kubelet", "image_manager", "pulled");
    const [file = ""] = readdirSync(folder);
    appendFileSync(join(folder, file), "junk");
    expect((await run(node)).verdict).toBe("present"); // 6.3: memory is written through, files are not re-read
    await node.restart();
    expect((await run(node)).verdict).toBe("denied");
    expect((await run(node, withS1)).verdict).toBe("pulled");
    expect(entryOf(node)).toEqual({ kubernetesSecrets: [S1] });
  });

  test("61: gate off: nothing is read or written, everybody may use what is here", async () => {
    const off = { featureGates: { KubeletEnsureSecretPulledImages: false } };
    const options: { configuration: unknown } = { configuration: off };
    const node = await startNode(options);
    await run(node, withS1);
    expect(node.records()).toEqual({ intents: [], records: [] });
    const anyone = await run(node);
    expect(texts(anyone)).toEqual([`Pulled: Container image "${X}" already present on machine`]);
    expect(anyone.reason).toBe("verification-off");
  });

  test("63: garbage collection takes records of removed images", async () => {
    const node = await startNode();
    stand.clock.freeze(true);
    await run(node, withS1);
    const later = new Date(stand.clock.now().getTime() + 1000);
    expect(node.pruneRecords(later)).toEqual([]);
    node.removeImage(X);
    expect(node.pruneRecords(stand.clock.now())).toEqual([]); // updated when the collection began
    expect(node.pruneRecords(later)).toEqual([I1]);
  });
});

describe("what the registry can do wrong", () => {
  test.each([
    {
      id: "no such image",
      image: `${HOST}/team-a/app:none`,
      reason: "image-not-found",
      message: /^rpc error: code = NotFound desc = .*: not found$/,
    },
    {
      id: "unknown host",
      image: "unreachable.local/x:1",
      reason: "registry-unreachable",
      message:
        /failed to do request: Head "https:\/\/unreachable.local\/v2\/x\/manifests\/1": dial unreachable.local: no such host/,
    },
    {
      id: "bad name",
      image: "UPPER",
      reason: "invalid-image-name",
      message:
        /^Failed to apply default image tag "UPPER": couldn't parse image name "UPPER": invalid reference format: repository name \(library\/UPPER\) must be lowercase$/,
    },
  ])("$id", async ({ image, reason, message }) => {
    const verdict = await run(await startNode(), { ...withS1, image });
    expect(verdict.reason).toBe(reason);
    expect(verdict.message).toMatch(message);
  });

  test("a layer that is not what its digest says is refused, and nothing is recorded", async () => {
    const node = await startNode();
    const repository = stand.repositories.get("team-a/app");
    if (repository) repository.corrupt = true;
    const verdict = await run(node, withS1);
    expect(verdict.message).toMatch(/failed to copy: failed commit on ref "layer-sha256:.*": unexpected commit digest/);
    expect(node.images()).toEqual([]);
    expect(node.records()).toEqual({ intents: [], records: [] });
    if (repository) repository.corrupt = false;
    stand.clock.advance(11);
    expect((await run(node, withS1)).verdict).toBe("pulled");
  });

  test("a second tenant's pull of content that is here needs only the HEAD", async () => {
    const node = await startPluginNode();
    await run(node, withS1);
    stand.takeRegistryRequests();
    expect((await run(node, withA)).verdict).toBe("pulled");
    expect(stand.takeRegistryRequests()).toEqual([
      "HEAD /v2/team-a/app/manifests/v1 -",
      "HEAD /v2/team-a/app/manifests/v1 AWS",
    ]);
  });

  test("image volumes: a failure hits only the containers that mount it", async () => {
    const node = await startNode();
    const verdict = await node.runPod({
      metadata: { namespace: "team-a", name: "volumes", uid: "v1" },
      spec: {
        imagePullSecrets: [{ name: "regcred" }],
        volumes: [{ name: "data", image: { reference: `${K}:none` } }],
        containers: [
          { name: "with", image: X, volumeMounts: [{ name: "data" }] },
          { name: "without", image: X },
        ],
      },
    });
    expect(verdict.containers.map(({ name, verdict: what, reason }) => `${name} ${what} ${reason}`)).toEqual([
      "data denied image-not-found",
      "with denied volume-failed",
      "without pulled pulled-with-secret",
    ]);
    expect({ reason: verdict.reason, image: verdict.image }).toEqual({ reason: "image-not-found", image: `${K}:none` });
  });
});
