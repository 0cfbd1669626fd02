// A world of many tenants that have nothing in common: one for every test. Pure.

const REGION = "us-west-2";
const ISSUER_HOST = "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9";
const SERVICE_ACCOUNT = "puller";
const ROLE = "pull";
const REPOSITORY = "app";

/** Who a tenant is, everywhere. */
export interface TenantNames {
  /** Also its namespace. */
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly account: string;
  readonly region: string;
  readonly roleArn: string;
  readonly registryHost: string;
  readonly repository: string;
  /** Its own image: `<registryHost>/<repository>:1`. */
  readonly image: string;
  /** A node of its own: what other tests pulled is not on it. */
  readonly node: string;
}

/** The names of tenant number `index`, from 1. */
export function nameTenant(index: number): TenantNames {
  const account = String(500_000_000_000 + index);
  const registryHost = `${account}.dkr.ecr.${REGION}.amazonaws.com`;
  const name = `tenant-${index}`;
  return {
    name,
    namespace: name,
    serviceAccount: SERVICE_ACCOUNT,
    account,
    region: REGION,
    roleArn: `arn:aws:iam::${account}:role/${ROLE}`,
    registryHost,
    repository: REPOSITORY,
    image: `${registryHost}/${REPOSITORY}:1`,
    node: `node-${index}`,
  };
}

/** A world (as `startStack({world})` takes it) with this many tenants. */
export function createTenantWorld(count: number): object {
  const tenants = Array.from({ length: count }, (_, index) => nameTenant(index + 1));
  return {
    version: 1,
    region: REGION,
    issuers: { eks: { url: `https://${ISSUER_HOST}`, alg: "RS256" } },
    accounts: Object.fromEntries(tenants.map((tenant) => [tenant.account, createAccount(tenant)])),
    cluster: {
      issuer: "eks",
      objects: [...AUDIENCE, ...tenants.flatMap(createObjects)],
      nodes: Object.fromEntries(tenants.map(({ node }) => [node, NODE])),
    },
    registries: {},
    tenants: Object.fromEntries(
      tenants.map(({ name, namespace, registryHost }) => [
        name,
        { namespaces: [namespace], images: [`${registryHost}/*`] },
      ]),
    ),
  };
}

const PULL = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"];

function createAccount({ account, namespace }: TenantNames): object {
  const trust = {
    Effect: "Allow",
    Principal: { Federated: `arn:aws:iam::${account}:oidc-provider/${ISSUER_HOST}` },
    Action: "sts:AssumeRoleWithWebIdentity",
    Condition: {
      StringEquals: {
        [`${ISSUER_HOST}:sub`]: `system:serviceaccount:${namespace}:${SERVICE_ACCOUNT}`,
        [`${ISSUER_HOST}:aud`]: "sts.amazonaws.com",
      },
    },
  };
  const own = `arn:aws:ecr:${REGION}:${account}:repository/*`;
  const statements = [
    { Effect: "Allow", Action: "ecr:GetAuthorizationToken", Resource: "*" },
    { Effect: "Allow", Action: PULL, Resource: own },
  ];
  return {
    oidcProviders: [{ issuer: "eks", clientIds: ["sts.amazonaws.com"] }],
    roles: {
      [ROLE]: {
        trustPolicy: { Version: "2012-10-17", Statement: [trust] },
        policies: { pull: { Version: "2012-10-17", Statement: statements } },
      },
    },
    repositories: { [REPOSITORY]: { images: [{ tag: "1", seed: "tiny" }] } },
  };
}

function createObjects({ namespace, roleArn }: TenantNames): object[] {
  const annotations = { "eks.amazonaws.com/ecr-role-arn": roleArn };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: SERVICE_ACCOUNT, annotations } },
  ];
}

const RBAC = "rbac.authorization.k8s.io";
const AUDIENCE = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: "image-pull-audience" },
    rules: [{ apiGroups: [""], verbs: ["request-serviceaccounts-token-audience"], resources: ["sts.amazonaws.com"] }],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "image-pull-audience" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "image-pull-audience" },
    subjects: [{ apiGroup: RBAC, kind: "Group", name: "system:nodes" }],
  },
];

const NODE = {
  version: "1.36",
  pluginDirectory: "builtin",
  kubeletConfiguration: {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    imagePullCredentialsVerificationPolicy: "NeverVerifyPreloadedImages",
  },
  preloadedImages: [],
  credentialProviderConfig: {
    apiVersion: "kubelet.config.k8s.io/v1",
    kind: "CredentialProviderConfig",
    providers: [
      {
        name: "ecr-credential-provider",
        apiVersion: "credentialprovider.kubelet.k8s.io/v1",
        matchImages: ["*.dkr.ecr.*.amazonaws.com"],
        defaultCacheDuration: "0s",
        tokenAttributes: {
          serviceAccountTokenAudience: "sts.amazonaws.com",
          cacheType: "ServiceAccount",
          requireServiceAccount: true,
          requiredServiceAccountAnnotationKeys: ["eks.amazonaws.com/ecr-role-arn"],
        },
      },
    ],
  },
};
