// The one list of stories: rows of the demo that a real node can show. It drives the simulated kubelet and the real one.
import { ECR_A, type NodeName, PLAIN } from "./world.ts";

export type Verdict = "pulled" | "present" | "denied" | "leaked";

/** One Pod, run until the kubelet has said yes or no. */
export interface PodStep {
  readonly do: "pod";
  readonly what: string;
  readonly namespace: string;
  readonly image: string;
  readonly serviceAccount?: string;
  readonly secrets?: readonly string[];
  readonly policy?: "Always" | "IfNotPresent" | "Never";
  readonly expected: Verdict;
  /** For denials: what the Pod waits for. A failed pull is looked at a second time, which shows in the events. */
  readonly podReason?: "ErrImagePull" | "ErrImageNeverPull" | "ImagePullBackOff" | "InvalidImageName";
}

/** What happens between Pods. */
export type StoryStep =
  | PodStep
  | { readonly do: "restart-kubelet" }
  | { readonly do: "recreate-service-account"; readonly namespace: string; readonly name: string }
  | { readonly do: "rotate-secret"; readonly namespace: string; readonly name: string; readonly config: string }
  | { readonly do: "permit-audience"; readonly audience: string };

/** A row; `id` is the demo's where it has one. Stories of a node are played in order on the same node. */
export interface Story {
  readonly id: string;
  readonly node: NodeName;
  readonly steps: readonly StoryStep[];
}

type Changes = Partial<Omit<PodStep, "do" | "what" | "expected">>;

function withSecret(what: string, expected: Verdict, changes: Changes = {}): PodStep {
  return {
    do: "pod",
    what,
    namespace: "team-a",
    image: `${PLAIN}/team-a/app:1`,
    secrets: ["regcred"],
    expected,
    ...changes,
  };
}

function withToken(what: string, expected: Verdict, changes: Changes = {}): PodStep {
  const owner = { namespace: "team-a", serviceAccount: "puller", image: `${ECR_A}/team-a/app:1` };
  return { do: "pod", what, ...owner, expected, ...changes };
}

const REFUSED = { podReason: "ErrImagePull" } as const;
/** Told a dozen seconds later, so once is enough. */
const COME_TO_REST = { podReason: "ImagePullBackOff" } as const;
const NEVER = { policy: "Never", podReason: "ErrImageNeverPull" } as const;
const STRANGER = { namespace: "team-b", secrets: [] } as const;
const restart = `${PLAIN}/team-a/app:restart`;
const never = `${PLAIN}/team-a/app:never`;
const rotated = `${PLAIN}/team-a/app:rotated`;
const several = `${PLAIN}/team-a/app:several`;
const recreated = `${ECR_A}/team-a/app:recreated`;
const annotation = `${ECR_A}/team-a/app:annotation`;
const role = `${ECR_A}/team-a/app:role`;
const loose = `${ECR_A}/team-a/app:loose`;
const base = `${ECR_A}/shared/base:1`;
const hello = `${PLAIN}/public/hello:1`;
const lax = `${ECR_A}/team-a/app:lax`;
const audience = `${ECR_A}/team-a/app:audience`;
const verify = `${PLAIN}/team-a/app:preloaded-verify`;

/** Nodes in the order of `NODES`, each story after those above it. */
export const STORIES: readonly Story[] = [
  { id: "with-secret", node: "node-1", steps: [withSecret("with the pull secret", "pulled")] },
  { id: "with-secret-again", node: "node-1", steps: [withSecret("the same secret again", "present")] },
  {
    id: "wrong-secret",
    node: "node-1",
    steps: [
      withSecret("a wrong password", "denied", { secrets: ["regcred-wrong"], ...COME_TO_REST }),
      withSecret("twin: the right one", "present"),
    ],
  },
  {
    id: "no-secret",
    node: "node-1",
    steps: [
      withSecret("no secret", "denied", { secrets: [], ...REFUSED }),
      withSecret("twin: with the secret", "present"),
    ],
  },
  {
    id: "public-image",
    node: "node-1",
    steps: [
      withSecret("anonymous", "pulled", { image: hello, secrets: [] }),
      withSecret("another tenant, anonymous", "present", { ...STRANGER, image: hello }),
    ],
  },
  {
    id: "secret-rotated",
    node: "node-1",
    steps: [
      withSecret("before", "pulled", { image: rotated }),
      {
        do: "rotate-secret",
        namespace: "team-a",
        name: "regcred",
        config: '{"auths":{"registry.pullproof.test":{"username":"team-a","password":"rotated-password"}}}',
      },
      withSecret("same Secret, new password inside", "present", { image: rotated }),
      {
        do: "rotate-secret",
        namespace: "team-a",
        name: "regcred",
        config: '{"auths":{"registry.pullproof.test":{"username":"team-a","password":"team-a-password"}}}',
      },
    ],
  },
  {
    id: "kubelet-restart",
    node: "node-1",
    steps: [
      withSecret("before", "pulled", { image: restart }),
      { do: "restart-kubelet" },
      withSecret("its owner, after", "present", { image: restart }),
      withSecret("a stranger, after", "denied", { ...STRANGER, image: restart, ...REFUSED }),
    ],
  },
  {
    id: "pull-policy-never-private",
    node: "node-1",
    steps: [
      withSecret("before", "pulled", { image: never }),
      withSecret("Never, present and not allowed", "denied", { ...STRANGER, image: never, ...NEVER }),
      withSecret("Never, absent", "denied", { ...STRANGER, image: `${PLAIN}/team-a/app:never-seen`, ...NEVER }),
      withSecret("twin: Never, its owner", "present", { image: never, policy: "Never" }),
    ],
  },
  {
    id: "preloaded-image",
    node: "node-1",
    steps: [withSecret("preloaded, no secret", "present", { image: `${PLAIN}/team-a/app:preloaded`, secrets: [] })],
  },
  {
    id: "missing-secret",
    node: "node-1",
    steps: [withSecret("a secret that does not exist", "denied", { secrets: ["absent"], ...REFUSED })],
  },
  {
    id: "several-secrets",
    node: "node-1",
    steps: [
      withSecret("a wrong one and none that exists", "denied", {
        ...{ secrets: ["regcred-wrong", "absent"], image: several, ...REFUSED },
      }),
      withSecret("twin: a wrong one and the right one", "pulled", {
        ...{ secrets: ["regcred-wrong", "regcred"], image: several },
      }),
    ],
  },
  {
    id: "image-not-found",
    node: "node-1",
    steps: [
      withSecret("no such tag", "denied", { image: `${PLAIN}/team-a/app:absent`, ...REFUSED }),
      withSecret("no such name, with case", "denied", {
        ...{ image: `${PLAIN}/Team-A/app:1`, podReason: "InvalidImageName" },
      }),
    ],
  },
  {
    id: "policy-always",
    node: "node-1",
    steps: [
      withSecret("Always, its owner: asked again", "pulled", { policy: "Always" }),
      withSecret("Always, a stranger", "denied", { ...STRANGER, policy: "Always", ...REFUSED }),
    ],
  },
  { id: "token-pull", node: "node-1", steps: [withToken("a token becomes a pull", "pulled")] },
  { id: "token-again", node: "node-1", steps: [withToken("the same ServiceAccount again", "present")] },
  {
    id: "foreign-cached-image",
    node: "node-1",
    steps: [
      withToken("team-b names it too", "denied", { namespace: "team-b", ...REFUSED }),
      withToken("twin: team-a", "present"),
    ],
  },
  {
    id: "foreign-role",
    node: "node-1",
    steps: [
      withToken("team-b names team-a's role", "denied", {
        ...{ namespace: "team-b", serviceAccount: "impostor", image: role, ...REFUSED },
      }),
      withToken("twin: team-a", "pulled", { image: role }),
    ],
  },
  {
    id: "loose-trust-policy",
    node: "node-1",
    steps: [
      withToken("a role that trusts any subject", "leaked", {
        ...{ namespace: "team-b", serviceAccount: "borrower", image: loose },
      }),
      withToken("twin: a role that does not", "denied", { namespace: "team-b", image: loose, ...REFUSED }),
    ],
  },
  {
    id: "shared-base-image",
    node: "node-1",
    steps: [withToken("a repository policy lets team-b in", "pulled", { namespace: "team-b", image: base })],
  },
  {
    id: "service-account-recreated",
    node: "node-1",
    steps: [
      withToken("before", "pulled", { image: recreated }),
      { do: "recreate-service-account", namespace: "team-a", name: "puller" },
      withToken("same name, another ServiceAccount", "pulled", { image: recreated }),
    ],
  },
  {
    id: "annotation-missing",
    node: "node-1",
    steps: [
      withToken("no annotation", "denied", { serviceAccount: "default", image: annotation, ...REFUSED }),
      withToken("twin: with it", "pulled", { image: annotation }),
    ],
  },
  {
    id: "node-identity-fallback",
    node: "node-lax",
    steps: [
      withToken("no role of its own", "leaked", { namespace: "team-b", serviceAccount: "default", image: lax }),
      withToken("twin: a role of its own", "denied", { namespace: "team-b", image: lax, ...REFUSED }),
    ],
  },
  {
    id: "audience-not-allowed",
    node: "node-audience",
    steps: [withToken("the node may not ask for it", "denied", { image: audience, ...REFUSED })],
  },
  {
    id: "wrong-audience",
    node: "node-audience",
    steps: [
      { do: "permit-audience", audience: "other.pullproof.test" },
      withToken("STS does not know it", "denied", { image: audience, ...REFUSED }),
    ],
  },
  {
    id: "audience-allowed",
    node: "node-verify",
    steps: [withToken("twin of both: the audience sts.amazonaws.com", "pulled", { image: audience })],
  },
  {
    id: "preloaded-always-verify",
    node: "node-verify",
    steps: [
      withSecret("preloaded, no secret", "denied", { image: verify, secrets: [], ...REFUSED }),
      withSecret("twin: with the secret", "pulled", { image: verify }),
    ],
  },
];

/** Every image that is named, and may be pulled by somebody. */
export const IMAGES: readonly string[] = [
  ...new Set([
    ...STORIES.flatMap(({ steps }) => steps.flatMap((step) => (step.do === "pod" ? [step.image] : []))),
    `${PLAIN}/team-a/app:preloaded`,
  ]),
].filter((image) => !/:never-seen$|:absent$|Team-A/.test(image));

/** The Pod of a step, the same for both nodes. */
export function renderPod(step: PodStep, name: string): Readonly<Record<string, unknown>> {
  const { namespace, serviceAccount, secrets = [], image, policy = "IfNotPresent" } = step;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: {
      ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
      ...(secrets.length === 0 ? {} : { imagePullSecrets: secrets.map((secret) => ({ name: secret })) }),
      // What the real node's machine asks for: no network plugin, no controller that makes kube-root-ca.crt.
      hostNetwork: true,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "app", image, imagePullPolicy: policy }],
    },
  };
}
