// Rows about what the registry answers once somebody has a password: policies, foreign content, expiry.
import { createHash } from "node:crypto";
import { callEcr, judge, registryLogin } from "./aws.ts";
import type { Backstage, PodOutcome, RawAnswer } from "./backstage.ts";
import type { Row, Step } from "./types.ts";

const REGION = "us-west-2";
const REGISTRY_A = `https://111122223333.dkr.ecr.${REGION}.amazonaws.com`;
const REGISTRY_B = `https://444455556666.dkr.ecr.${REGION}.amazonaws.com`;
const PLAIN = "https://registry.pullproof.test";
const SHARED_IMAGE = `111122223333.dkr.ecr.${REGION}.amazonaws.com/shared/base:1`;
const TEAM_A = { namespace: "team-a", name: "puller", roleArn: "arn:aws:iam::111122223333:role/team-a-pull" };
const TEAM_B = { namespace: "team-b", name: "puller", roleArn: "arn:aws:iam::444455556666:role/team-b-pull" };
/** The world's pushing user; its key is public knowledge (world.yaml). */
const CI = { accessKeyId: "AKIABTX3GSDS2UISEM2E", secretAccessKey: "pullproofExampleSecretKeyOfAccount111122" };
const MANIFEST_TYPES =
  "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
const NEEDS_A = ["issuer eks", "serviceaccount team-a/puller", "role 111122223333/team-a-pull"];
const NEEDS_B = ["issuer eks", "serviceaccount team-b/puller", "role 444455556666/team-b-pull"];
const SHARED_NEEDS = [...NEEDS_B, "node node-1", "repository 111122223333/shared/base", "user 111122223333/ci"];
/** Registry passwords live for twelve hours (spec aws 4.2). */
const PASSWORD_SECONDS = 12 * 3600;

function basic(user: string): string {
  return `Basic ${Buffer.from(`${user}:${user}-password`).toString("base64")}`;
}

function get(stage: Backstage, url: string, authorization: string, headers: Readonly<Record<string, string>> = {}) {
  return stage.request(url, { headers: { authorization, accept: MANIFEST_TYPES, ...headers } });
}

/** Digest and size of an image's first layer. */
async function layerOf(
  stage: Backstage,
  repository: string,
  authorization: string,
): Promise<{ digest: string; size: number }> {
  const answer = await get(stage, `${repository}/manifests/1`, authorization);
  if (answer.status !== 200)
    throw new Error(`${repository}: ${answer.status} ${answer.body.toString("utf8").slice(0, 300)}`);
  const { layers } = JSON.parse(answer.body.toString("utf8")) as {
    layers: readonly { digest: string; size: number }[];
  };
  const [layer] = layers;
  if (!layer) throw new Error(`${repository}: expected an image with a layer, found none`);
  return layer;
}

function sharedPod(stage: Backstage, node: string, what: string): Promise<PodOutcome> {
  const pod = { what, node, namespace: "team-b", serviceAccount: "puller", image: SHARED_IMAGE };
  return stage.pod({ ...pod, policy: "Always" });
}

async function sharedBaseRevoked(stage: Backstage) {
  const node = await stage.node("node-1");
  const first = { ...(await sharedPod(stage, node, "with the repository policy")), expected: "pulled" as const };
  await callEcr(stage, CI, { operation: "DeleteRepositoryPolicy", input: { repositoryName: "shared/base" } });
  const step = await sharedPod(stage, node, "policy deleted, same password");
  const holds = !step.hops.some((hop) => hop.operation === "kubelet:ExecPlugin");
  return { before: [first], steps: [step], claims: [{ what: "the password was the cached one", holds }] };
}

async function foreignBlob(stage: Backstage) {
  const [ownLogin, foreignLogin] = await Promise.all([registryLogin(stage, TEAM_A), registryLogin(stage, TEAM_B)]);
  const own = await layerOf(stage, `${REGISTRY_A}/v2/team-a/app`, ownLogin);
  const foreign = await layerOf(stage, `${REGISTRY_B}/v2/team-b/app`, foreignLogin);
  const blob = (digest: string) => get(stage, `${REGISTRY_A}/v2/team-a/app/blobs/${digest}`, ownLogin);
  return {
    steps: [await judge("layer of team-b through team-a's repository", await blob(foreign.digest), "leaked")],
    twin: await judge("its own layer", await blob(own.digest), "pulled"),
  };
}

/** A mount is agreed to by 201; 202 is an upload like any other (spec registry 1.8). */
async function judgeMount(what: string, answer: RawAnswer, allowed: "pulled" | "leaked"): Promise<Step> {
  const step = await judge(what, answer, allowed);
  if (answer.status === 201) return step;
  return {
    ...step,
    verdict: "denied",
    reason: "mount-refused",
    because: `${answer.status}: upload the layer yourself`,
  };
}

async function foreignMount(stage: Backstage) {
  const authorization = basic("team-a");
  const mount = async (from: string, digest: string) =>
    stage.request(`${PLAIN}/v2/team-a/app/blobs/uploads/?mount=${digest}&from=${encodeURIComponent(from)}`, {
      method: "POST",
      headers: { authorization, "content-length": "0" },
    });
  const foreign = await layerOf(stage, `${PLAIN}/v2/team-b/app`, basic("team-b"));
  const open = await layerOf(stage, `${PLAIN}/v2/public/hello`, authorization);
  return {
    steps: [
      await judgeMount("layer of team-b/app into team-a/app", await mount("team-b/app", foreign.digest), "leaked"),
    ],
    twin: await judgeMount("layer of public/hello into team-a/app", await mount("public/hello", open.digest), "pulled"),
  };
}

async function expiredPassword(stage: Backstage) {
  const authorization = await registryLogin(stage, TEAM_A);
  const url = `${REGISTRY_A}/v2/team-a/app/manifests/1`;
  const twin = await judge(
    "a minute before it expires",
    await at(stage, PASSWORD_SECONDS - 60, () => get(stage, url, authorization)),
    "pulled",
  );
  const step = await judge("a minute after", await at(stage, 120, () => get(stage, url, authorization)), "leaked");
  return { steps: [step], twin };
}

/** Moves the stack's clock on, then asks. */
async function at<T>(stage: Backstage, advanceSeconds: number, ask: () => Promise<T>): Promise<T> {
  await stage.control("PUT", "clock", { advanceSeconds });
  return ask();
}

async function lazyPull(stage: Backstage) {
  const login = await registryLogin(stage, TEAM_A);
  const repository = `${REGISTRY_A}/v2/team-a/big`;
  const layer = await layerOf(stage, repository, login);
  const middle = Math.floor(layer.size / 2);
  const range = (authorization: string, from: number, to: number) =>
    get(stage, `${repository}/blobs/${layer.digest}`, authorization, { range: `bytes=${from}-${to}` });
  const head = await range(login, 0, middle - 1);
  const late = await at(stage, PASSWORD_SECONDS + 60, () => range(login, middle, layer.size - 1));
  const tail = await range(await registryLogin(stage, TEAM_A), middle, layer.size - 1);
  const digest = createHash("sha256").update(head.body).update(tail.body).digest("hex");
  return {
    steps: [
      await judge("first half of the layer", head, "pulled"),
      await judge("second half, password expired", late, "leaked"),
      await judge("second half, fresh password", tail, "pulled"),
    ],
    claims: [{ what: "the two halves have the layer's digest", holds: `sha256:${digest}` === layer.digest }],
  };
}

/** In the order of the table. */
export const REGISTRY_ROWS: readonly Row[] = [
  {
    id: "shared-base-image",
    title: "a repository policy opens team-a's base image to team-b's account",
    needs: SHARED_NEEDS,
    expected: ["pulled"],
    run: async (stage) => ({ steps: [await sharedPod(stage, await stage.node("node-1"), "team-b/puller")] }),
  },
  {
    id: "shared-base-revoked",
    title: "the policy is deleted: the same password is refused on the next request",
    needs: SHARED_NEEDS,
    expected: ["denied"],
    disruptive: true,
    run: sharedBaseRevoked,
  },
  {
    id: "foreign-blob-by-digest",
    title: "knowing a foreign layer's digest opens nothing",
    needs: [...NEEDS_A, ...NEEDS_B, "repository 111122223333/team-a/app", "repository 444455556666/team-b/app"],
    expected: ["denied"],
    twin: "pulled",
    run: foreignBlob,
  },
  {
    id: "foreign-blob-mount",
    title: "a foreign layer cannot be mounted into one's own repository",
    needs: [
      "registry-user plain/team-a",
      "registry-user plain/team-b",
      "registry plain/team-a/app",
      "registry plain/team-b/app",
      "registry plain/public/hello",
    ],
    expected: ["denied"],
    twin: "pulled",
    run: foreignMount,
  },
  {
    id: "expired-password",
    title: "the registry password has expired",
    needs: [...NEEDS_A, "repository 111122223333/team-a/app"],
    expected: ["denied"],
    twin: "pulled",
    disruptive: true,
    run: expiredPassword,
  },
  {
    id: "lazy-pull-expiry",
    title: "the password expires between two ranges of one layer",
    needs: [...NEEDS_A, "repository 111122223333/team-a/big"],
    expected: ["pulled", "denied", "pulled"],
    disruptive: true,
    run: lazyPull,
  },
];
