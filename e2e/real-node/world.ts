// The default world, with an image that stays running for each story, and the nodes that the stories play on.
import { generateKeyPairSync } from "node:crypto";
import { DEFAULT_WORLD } from "../../services/stack/default-world.ts";
import type { Fields } from "./kube-client.ts";

export const PLAIN = "registry.pullproof.test";
export const ECR_A = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
/** Anyone may pull it, so containerd needs no credentials for the sandbox of a Pod. */
export const SANDBOX_IMAGE = `${PLAIN}/public/pause:1`;
export const ROLE_ANNOTATION = "eks.amazonaws.com/ecr-role-arn";
const NODE_ROLE = "arn:aws:iam::111122223333:role/node";

/** A node of the stories: two documents that the simulated and the real kubelet read alike. */
export interface StoryNode {
  readonly configuration: Fields;
  readonly credentialProviderConfig: Fields;
  /** On the node before its kubelet first starts. */
  readonly preloadedImages: readonly string[];
  /** The role that a cloud SDK finds on this machine. */
  readonly identity?: string;
}

export type NodeName = "node-1" | "node-lax" | "node-audience" | "node-verify";

/** In the order in which they are played: a real machine has one kubelet at a time. */
export const NODES: Readonly<Record<NodeName, StoryNode>> = {
  "node-1": {
    configuration: kubeletConfiguration("NeverVerifyPreloadedImages"),
    credentialProviderConfig: providerConfig({ requiredServiceAccountAnnotationKeys: [ROLE_ANNOTATION] }),
    preloadedImages: [`${PLAIN}/team-a/app:preloaded`],
  },
  "node-lax": {
    configuration: kubeletConfiguration("NeverVerifyPreloadedImages"),
    credentialProviderConfig: providerConfig({ optionalServiceAccountAnnotationKeys: [ROLE_ANNOTATION] }),
    preloadedImages: [],
    identity: NODE_ROLE,
  },
  "node-audience": {
    configuration: kubeletConfiguration("NeverVerifyPreloadedImages"),
    credentialProviderConfig: providerConfig({
      serviceAccountTokenAudience: "other.pullproof.test",
      requiredServiceAccountAnnotationKeys: [ROLE_ANNOTATION],
    }),
    preloadedImages: [],
  },
  "node-verify": {
    configuration: kubeletConfiguration("AlwaysVerify"),
    credentialProviderConfig: providerConfig({ requiredServiceAccountAnnotationKeys: [ROLE_ANNOTATION] }),
    preloadedImages: [`${PLAIN}/team-a/app:preloaded-verify`],
  },
};

function kubeletConfiguration(imagePullCredentialsVerificationPolicy: string): Fields {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    imagePullCredentialsVerificationPolicy,
  };
}

function providerConfig(tokenAttributes: Fields): Fields {
  const provider = {
    name: "ecr-credential-provider",
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    matchImages: ["*.dkr.ecr.*.amazonaws.com"],
    defaultCacheDuration: "0s",
    tokenAttributes: {
      serviceAccountTokenAudience: "sts.amazonaws.com",
      cacheType: "ServiceAccount",
      requireServiceAccount: true,
      ...tokenAttributes,
    },
  };
  return { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers: [provider] };
}

/** A fresh key for the issuer, shared by the stack and the real API server. */
export function createIssuerKey(): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/**
 * The world of both nodes.
 * @param images every image that a story names, `<host>/<repository>:<tag>`
 */
export function createStoryWorld(from: {
  readonly issuerPem: string;
  readonly pluginDirectory: string;
  readonly images: readonly string[];
}): object {
  const { accounts, registries, cluster, issuers } = DEFAULT_WORLD;
  const account = accounts["111122223333"];
  const pauses = (host: string, repository: string) =>
    from.images
      .filter((image) => image.startsWith(`${host}/${repository}:`))
      .map((image) => ({ tag: image.slice(image.lastIndexOf(":") + 1), seed: "pause" }));
  const shared = account.repositories["shared/base"];
  const plain = registries.plain.repositories;
  return {
    ...DEFAULT_WORLD,
    issuers: { ...issuers, eks: { ...issuers.eks, key: { pem: from.issuerPem } } },
    accounts: {
      ...accounts,
      "111122223333": {
        ...account,
        repositories: {
          "team-a/app": { images: pauses(ECR_A, "team-a/app") },
          "shared/base": { ...shared, images: pauses(ECR_A, "shared/base") },
        },
      },
    },
    cluster: { ...cluster, nodes: renderNodes(from.pluginDirectory) },
    registries: {
      plain: {
        ...registries.plain,
        repositories: {
          "public/pause": { anonymous: ["pull"], images: [{ tag: "1", seed: "pause" }] },
          "public/hello": { ...plain["public/hello"], images: pauses(PLAIN, "public/hello") },
          "team-a/app": { ...plain["team-a/app"], images: pauses(PLAIN, "team-a/app") },
        },
      },
    },
  };
}

function renderNodes(pluginDirectory: string): Fields {
  const entries = Object.entries(NODES).map(([name, node]) => {
    const { configuration, identity, ...rest } = node;
    const own = identity === undefined ? {} : { identity };
    return [name, { version: "1.36", pluginDirectory, kubeletConfiguration: configuration, ...own, ...rest }];
  });
  return Object.fromEntries(entries);
}
