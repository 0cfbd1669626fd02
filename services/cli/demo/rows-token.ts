// Rows about ServiceAccount tokens for image pulls (KEP-4412): who gets one, and what it opens.
import type { Backstage, PodOutcome } from "./backstage.ts";
import { before, IMAGE_A, pullAsTeamA, ROLE_A, TOKEN_NEEDS } from "./team-a.ts";
import type { Row } from "./types.ts";

const ROLE_ANNOTATION = "eks.amazonaws.com/ecr-role-arn";
const LAX_NEEDS = [...TOKEN_NEEDS, "node node-lax", "namespace team-b", "role 111122223333/node"];

/** The provider of the world's nodes with other token attributes. */
function providerConfig(tokenAttributes: object, env: readonly { name: string; value: string }[] = []) {
  const provider = {
    name: "ecr-credential-provider",
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    matchImages: ["*.dkr.ecr.*.amazonaws.com"],
    defaultCacheDuration: "0s",
    env,
    tokenAttributes: {
      serviceAccountTokenAudience: "sts.amazonaws.com",
      cacheType: "ServiceAccount",
      requireServiceAccount: true,
      ...tokenAttributes,
    },
  };
  return { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers: [provider] };
}

function wasExecuted(pod: PodOutcome): boolean {
  return pod.hops.some((hop) => hop.operation === "kubelet:ExecPlugin");
}

async function createServiceAccount(stage: Backstage, at: { namespace: string; name: string; role?: string }) {
  const annotations = at.role === undefined ? {} : { annotations: { [ROLE_ANNOTATION]: at.role } };
  await stage.kubernetes("POST", `/api/v1/namespaces/${at.namespace}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: at.name, namespace: at.namespace, ...annotations },
  });
}

async function recreated(stage: Backstage) {
  const node = await stage.node("node-1");
  const first = before(await pullAsTeamA(stage, { node }), "pulled");
  await stage.kubernetes("DELETE", "/api/v1/namespaces/team-a/serviceaccounts/puller");
  await createServiceAccount(stage, { namespace: "team-a", name: "puller", role: ROLE_A });
  const step = await pullAsTeamA(stage, { node, what: "same name, new ServiceAccount" });
  const asked = step.hops.some(
    (hop) => hop.operation === "registry:GetManifest" || hop.operation === "registry:HeadManifest",
  );
  return { before: [first], steps: [step], claims: [{ what: "the registry was asked again", holds: asked }] };
}

async function annotationMissing(stage: Backstage) {
  const node = await stage.node("node-1");
  const step = await pullAsTeamA(stage, {
    node,
    what: "team-a/default, without the annotation",
    serviceAccount: "default",
  });
  return {
    steps: [step],
    twin: await pullAsTeamA(stage, { node, what: "team-a/puller, with it" }),
    claims: [{ what: "the plugin was not even run", holds: !wasExecuted(step) }],
  };
}

/** A node whose plugin hears no annotation and has a default role in its environment. */
function environmentNode(stage: Backstage): Promise<string> {
  const env = [{ name: "AWS_ECR_ROLE_ARN", value: ROLE_A }];
  return stage.node("node-lax", { credentialProviderConfig: providerConfig({}, env) });
}

async function emptyAnnotation(stage: Backstage) {
  const name = stage.unique("empty");
  await createServiceAccount(stage, { namespace: "team-b", name, role: "" });
  const env = [{ name: "AWS_ECR_ROLE_ARN", value: ROLE_A }];
  const credentialProviderConfig = providerConfig({ optionalServiceAccountAnnotationKeys: [ROLE_ANNOTATION] }, env);
  const node = await stage.node("node-lax", { credentialProviderConfig });
  const step = await stage.pod({
    what: 'annotation "", role in the environment',
    node,
    namespace: "team-b",
    serviceAccount: name,
    image: IMAGE_A,
  });
  const asked = step.hops.find((hop) => hop.operation === "ecr:GetAuthorizationToken");
  return {
    steps: [step],
    claims: [
      { what: "the node's own role asked ECR", holds: String(asked?.principal).includes(":assumed-role/node/") },
    ],
  };
}

async function identityFallback(stage: Backstage) {
  const node = await stage.node("node-lax");
  const step = await pullAsTeamA(stage, {
    node,
    what: "team-b/default on node-lax",
    namespace: "team-b",
    serviceAccount: "default",
  });
  const asked = step.hops.find((hop) => hop.operation === "ecr:GetAuthorizationToken");
  return {
    steps: [step],
    claims: [
      { what: "the node's own role asked ECR", holds: String(asked?.principal).includes(":assumed-role/node/") },
    ],
  };
}

/** A node that asks for a token of another audience; `permitted` grants it by RBAC first. */
async function otherAudience(stage: Backstage, permitted: boolean) {
  const audience = stage.unique("audience");
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const meta = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: audience } };
  const group = { apiGroup: "rbac.authorization.k8s.io" };
  if (permitted) {
    const rules = [{ apiGroups: [""], verbs: ["request-serviceaccounts-token-audience"], resources: [audience] }];
    await stage.kubernetes("POST", `${rbac}/clusterroles`, { ...meta, kind: "ClusterRole", rules });
    const roleRef = { ...group, kind: "ClusterRole", name: audience };
    const subjects = [{ ...group, kind: "Group", name: "system:nodes" }];
    await stage.kubernetes("POST", `${rbac}/clusterrolebindings`, {
      ...meta,
      kind: "ClusterRoleBinding",
      roleRef,
      subjects,
    });
  }
  const attributes = { serviceAccountTokenAudience: audience, requiredServiceAccountAnnotationKeys: [ROLE_ANNOTATION] };
  const node = await stage.node("node-1", { credentialProviderConfig: providerConfig(attributes) });
  const step = await pullAsTeamA(stage, {
    node,
    what: permitted ? "audience permitted, STS does not know it" : "audience not permitted",
  });
  const minted = step.hops.some((hop) => hop.operation === "apiserver:CreateToken" && hop.status === 201);
  const twin = await pullAsTeamA(stage, { what: "audience sts.amazonaws.com" });
  return {
    steps: [step],
    twin,
    claims: [{ what: `the API server ${permitted ? "issued" : "refused"} the token`, holds: minted === permitted }],
  };
}

/** In the order of the table. */
export const TOKEN_ROWS: readonly Row[] = [
  {
    id: "token-pull",
    title: "a ServiceAccount token becomes a role session, a registry password and a pull",
    needs: TOKEN_NEEDS,
    expected: ["pulled"],
    run: async (stage) => ({ steps: [await pullAsTeamA(stage)] }),
  },
  {
    id: "token-again",
    title: "another Pod of the same ServiceAccount uses the image on the node",
    needs: TOKEN_NEEDS,
    expected: ["present"],
    run: async (stage) => {
      const node = await stage.node("node-1");
      const first = before(await pullAsTeamA(stage, { node }), "pulled");
      return { before: [first], steps: [await pullAsTeamA(stage, { node, what: "second Pod of team-a/puller" })] };
    },
  },
  {
    id: "foreign-cached-image",
    title: "team-b names an image of team-a that is already on the node",
    needs: [...TOKEN_NEEDS, "serviceaccount team-b/puller", "role 444455556666/team-b-pull"],
    expected: ["denied"],
    twin: "present",
    run: async (stage) => {
      const node = await stage.node("node-1");
      const first = before(await pullAsTeamA(stage, { node }), "pulled");
      const step = await pullAsTeamA(stage, { node, what: "team-b/puller", namespace: "team-b" });
      return { before: [first], steps: [step], twin: await pullAsTeamA(stage, { node, what: "team-a/puller again" }) };
    },
  },
  {
    id: "service-account-recreated",
    title: "a ServiceAccount deleted and recreated is another one: the registry is asked again",
    needs: TOKEN_NEEDS,
    expected: ["pulled"],
    disruptive: true,
    run: recreated,
  },
  {
    id: "annotation-missing",
    title: "a required annotation is missing: the plugin is not even run",
    needs: TOKEN_NEEDS,
    expected: ["denied"],
    twin: "pulled",
    run: annotationMissing,
  },
  {
    id: "empty-annotation",
    title: "an empty role annotation switches the default role off: the plugin falls back to the node's identity",
    needs: LAX_NEEDS,
    expected: ["leaked"],
    run: emptyAnnotation,
  },
  {
    id: "role-from-env",
    title: "no annotation reaches the plugin: the role comes from AWS_ECR_ROLE_ARN",
    needs: LAX_NEEDS,
    expected: ["pulled"],
    run: async (stage) => {
      const step = await pullAsTeamA(stage, { node: await environmentNode(stage) });
      const asked = step.hops.find((hop) => hop.operation === "ecr:GetAuthorizationToken");
      const holds = String(asked?.principal).includes(":assumed-role/team-a-pull/");
      return { steps: [step], claims: [{ what: "the role of the environment asked ECR", holds }] };
    },
  },
  {
    id: "node-identity-fallback",
    title: "annotation optional, node has a role of its own: a Pod without role gets the node's rights",
    needs: LAX_NEEDS,
    expected: ["leaked"],
    run: identityFallback,
  },
  {
    id: "audience-not-allowed",
    title: "the node lacks the permission for the token's audience",
    needs: TOKEN_NEEDS,
    expected: ["denied"],
    twin: "pulled",
    run: (stage) => otherAudience(stage, false),
  },
  {
    id: "wrong-audience",
    title: "the node may ask for that audience, but STS does not accept it",
    needs: TOKEN_NEEDS,
    expected: ["denied"],
    twin: "pulled",
    run: (stage) => otherAudience(stage, true),
  },
];
