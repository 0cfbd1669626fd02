// Rows about one node's memory of who may use which image (KEP-2535).
import type { Backstage, PodOutcome, PodSpec } from "./backstage.ts";
import { before } from "./team-a.ts";
import type { Row } from "./types.ts";

const PRIVATE_IMAGE = "registry.pullproof.test/team-a/app:1";
const PUBLIC_IMAGE = "registry.pullproof.test/public/hello:1";
const NEEDS = [
  "node node-1",
  "namespace team-a",
  "namespace team-b",
  "secret team-a/regcred",
  "registry plain/team-a/app",
];
const ABSENT_IMAGE = "registry.pullproof.test/team-a/other:1";

/** A Pod of team-a with its pull secret on the private image, with changes. */
function owner(node: string, changes: Partial<PodSpec> = {}): PodSpec {
  return {
    what: "Pod with the secret",
    node,
    namespace: "team-a",
    image: PRIVATE_IMAGE,
    secrets: ["regcred"],
    ...changes,
  };
}

/** A Pod of another tenant without any secret on the same image. */
function foreigner(node: string, changes: Partial<PodSpec> = {}): PodSpec {
  return { what: "Pod of team-b without a secret", node, namespace: "team-b", image: PRIVATE_IMAGE, ...changes };
}

/** The node that the four Pods of the KEP's discussion share, with the first of them run. */
function fourPods(stage: Backstage): Promise<{ node: string; first: PodOutcome }> {
  return stage.once("four-pods", async () => {
    const node = await stage.node("node-1");
    return { node, first: await stage.pod(owner(node)) };
  });
}

/** True if the registry was asked for anything in this pull. */
function askedRegistry(step: PodOutcome): boolean {
  return step.hops.some((hop) => hop.room === "registry");
}

async function presentThenForeign(stage: Backstage, between: (node: string) => Promise<void>) {
  const node = await stage.node("node-1");
  const first = before(await stage.pod(owner(node)), "pulled");
  await between(node);
  const steps = [await stage.pod(owner(node, { what: "its owner again" })), await stage.pod(foreigner(node))];
  return { before: [first], steps };
}

async function preloaded(stage: Backstage, policy: string) {
  const kubeletConfiguration = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    imagePullCredentialsVerificationPolicy: policy,
  };
  const node = await stage.node("node-1", { preloadedImages: [PRIVATE_IMAGE], kubeletConfiguration });
  return stage.pod(foreigner(node, { what: `Pod without a secret, ${policy}`, namespace: "team-a" }));
}

async function secretRotated(stage: Backstage) {
  const name = stage.unique("rotating");
  const path = "/api/v1/namespaces/team-a/secrets";
  const secret = (password: string, metadata: object) => ({
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/dockerconfigjson",
    metadata: { name, namespace: "team-a", ...metadata },
    stringData: {
      ".dockerconfigjson": JSON.stringify({ auths: { "registry.pullproof.test": { username: "team-a", password } } }),
    },
  });
  await stage.kubernetes("POST", path, secret("team-a-password", {}));
  const node = await stage.node("node-1");
  const first = before(await stage.pod(owner(node, { secrets: [name] })), "pulled");
  await stage.kubernetes("PUT", `${path}/${name}`, secret("rotated-password", {}));
  const step = await stage.pod(owner(node, { what: "same Secret, new password inside", secrets: [name] }));
  await stage.kubernetes("DELETE", `${path}/${name}`);
  return {
    before: [first],
    steps: [step],
    claims: [{ what: "the registry was not asked", holds: !askedRegistry(step) }],
  };
}

async function neverPolicy(stage: Backstage) {
  const node = await stage.node("node-1");
  const first = before(await stage.pod(owner(node)), "pulled");
  const present = await stage.pod(foreigner(node, { what: "Never, present but not allowed", policy: "Never" }));
  const absent = await stage.pod(foreigner(node, { what: "Never, absent", policy: "Never", image: ABSENT_IMAGE }));
  const twin = await stage.pod(owner(node, { what: "Never, its owner", policy: "Never" }));
  const seen = (pod: PodOutcome, image: string) =>
    JSON.stringify([pod.podReason, pod.message, pod.podEvents]).replaceAll(image, "<image>");
  const same = seen(present, PRIVATE_IMAGE) === seen(absent, ABSENT_IMAGE);
  return {
    before: [first],
    steps: [present, absent],
    twin,
    claims: [{ what: "both Pods look the same from outside", holds: same }],
  };
}

async function publicTurnedPrivate(stage: Backstage) {
  const node = await stage.node("node-1");
  const anybody = (what: string, policy: PodSpec["policy"] = "IfNotPresent"): PodSpec => ({
    what,
    node,
    namespace: "team-b",
    image: PUBLIC_IMAGE,
    policy,
  });
  const first = before(await stage.pod(anybody("public image")), "pulled");
  await stage.control("PUT", "registries/plain/repositories/public/hello", { anonymous: [] });
  const steps = [
    await stage.pod(anybody("turned private, on the node")),
    await stage.pod(anybody("turned private, policy Always", "Always")),
  ];
  return { before: [first], steps };
}

async function crash(stage: Backstage) {
  const node = await stage.node("node-1");
  const annotations = { "pullproof.dev/crash-kubelet": "between-pull-and-record" };
  const crashed = before(await stage.pod(owner(node, { what: "kubelet dies after the pull", annotations })), "denied");
  await stage.restart(node);
  const step = await stage.pod(foreigner(node));
  return {
    before: [crashed],
    steps: [step],
    twin: await stage.pod(owner(node, { what: "Pod with the secret after it" })),
  };
}

/** In the order of the table. */
export const NODE_ROWS: readonly Row[] = [
  {
    id: "with-secret",
    title: "four Pods on one node: with the pull secret",
    needs: NEEDS,
    expected: ["pulled"],
    run: async (stage) => ({ steps: [(await fourPods(stage)).first] }),
  },
  {
    id: "with-secret-again",
    title: "four Pods on one node: the same secret again",
    needs: NEEDS,
    expected: ["present"],
    run: async (stage) => {
      const { node, first } = await fourPods(stage);
      return {
        before: [before(first, "pulled")],
        steps: [await stage.pod(owner(node, { what: "another Pod with the secret" }))],
      };
    },
  },
  {
    id: "wrong-secret",
    title: "four Pods on one node: a secret with a wrong password",
    needs: [...NEEDS, "secret team-a/regcred-wrong"],
    expected: ["denied"],
    twin: "present",
    run: async (stage) => {
      const { node, first } = await fourPods(stage);
      const step = await stage.pod(owner(node, { what: "Pod with the wrong secret", secrets: ["regcred-wrong"] }));
      return {
        before: [before(first, "pulled")],
        steps: [step],
        twin: await stage.pod(owner(node, { what: "with the right one" })),
      };
    },
  },
  {
    id: "no-secret",
    title: "four Pods on one node: no secret at all",
    needs: NEEDS,
    expected: ["denied"],
    twin: "present",
    run: async (stage) => {
      const { node, first } = await fourPods(stage);
      const step = await stage.pod(owner(node, { what: "Pod without a secret", secrets: [] }));
      return {
        before: [before(first, "pulled")],
        steps: [step],
        twin: await stage.pod(owner(node, { what: "with the secret" })),
      };
    },
  },
  {
    id: "public-image",
    title: "a public image is pulled once and then free for every Pod",
    needs: ["node node-1", "namespace team-a", "namespace team-b", "registry plain/public/hello"],
    expected: ["pulled", "present"],
    run: async (stage) => {
      const node = await stage.node("node-1");
      const pod = (what: string, namespace: string) => stage.pod({ what, node, namespace, image: PUBLIC_IMAGE });
      return { steps: [await pod("first Pod", "team-a"), await pod("Pod of another tenant", "team-b")] };
    },
  },
  {
    id: "secret-rotated",
    title: "the same Secret with a new password still counts; the registry is not asked",
    needs: NEEDS,
    expected: ["present"],
    run: secretRotated,
  },
  {
    id: "kubelet-restart",
    title: "records survive a kubelet restart",
    needs: NEEDS,
    expected: ["present", "denied"],
    run: (stage) => presentThenForeign(stage, (node) => stage.restart(node)),
  },
  {
    id: "pull-policy-never-private",
    title: "policy Never: present but not allowed looks exactly like absent",
    needs: NEEDS,
    expected: ["denied", "denied"],
    twin: "present",
    run: neverPolicy,
  },
  {
    id: "public-turned-private",
    title: "a repository turns private: nodes that have the image keep using it, policy Always notices",
    needs: ["node node-1", "namespace team-b", "registry plain/public/hello"],
    expected: ["present", "denied"],
    disruptive: true,
    run: publicTurnedPrivate,
  },
  {
    id: "crash-between-pull-and-record",
    title: "the kubelet dies between pull and record: afterwards everybody must show a credential",
    needs: NEEDS,
    expected: ["denied"],
    twin: "pulled",
    run: crash,
  },
  {
    id: "preloaded-image",
    title: "a preloaded image is open to every Pod by default",
    needs: NEEDS,
    expected: ["present"],
    run: async (stage) => ({ steps: [await preloaded(stage, "NeverVerifyPreloadedImages")] }),
  },
  {
    id: "preloaded-always-verify",
    title: "with AlwaysVerify a preloaded image needs a credential too",
    needs: NEEDS,
    expected: ["denied"],
    twin: "present",
    run: async (stage) => ({
      steps: [await preloaded(stage, "AlwaysVerify")],
      twin: await preloaded(stage, "NeverVerifyPreloadedImages"),
    }),
  },
];
