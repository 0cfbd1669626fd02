// The world: everything that a stack starts with, as one typed value. The world file is parsed into it once;
// rooms get their parts of it and trust them.

import type { KubernetesVersion } from "../apiserver/index.ts";
import type { AccountSeed } from "../iam/index.ts";
import type { SeedName } from "../registry/index.ts";

/** Signing algorithms of an issuer (spec aws 2.3: what STS accepts). */
export type SigningAlgorithm = "RS256" | "RS384" | "RS512" | "ES256" | "ES384" | "ES512";

/** A whole world, normalised: every optional part is there with its default, every name it uses exists. */
export interface World {
  /** Where it came from: a file name, or `default world`. */
  readonly source: string;
  /** The default region; every account has it unless it lists its own. */
  readonly region: string;
  /** At least one. */
  readonly issuers: readonly WorldIssuer[];
  readonly accounts: readonly WorldAccount[];
  readonly cluster: WorldCluster;
  readonly registries: readonly WorldRegistry[];
  /** Intent: judges `leaked`, grants nothing. */
  readonly tenants: readonly WorldTenant[];
  readonly switches: WorldSwitches;
}

/** An issuer of ours, or (with `foreign`) one that only publishes its keys to us. */
export interface WorldIssuer {
  readonly name: string;
  readonly url: string;
  readonly alg: SigningAlgorithm;
  /** Given, instead of generated. A key file was read by then and is `pem`. */
  readonly key?: { readonly pem: string } | { readonly jwk: Readonly<Record<string, unknown>> };
  /** Not served by this stack: its documents are fetched, or its uploaded key set is used. */
  readonly foreign?: { readonly trust: "fetch" } | { readonly jwks: { readonly keys: readonly unknown[] } };
}

/** One AWS account: its identities (for iam) and its repositories (for ecr and registry). */
export interface WorldAccount {
  readonly id: string;
  /** At least one; the first is where repositories without a region are. */
  readonly regions: readonly string[];
  /** Issuer names are already URLs here. */
  readonly iam: AccountSeed;
  readonly repositories: Readonly<Record<string, WorldRepository>>;
}

export interface WorldRepository {
  readonly region: string;
  readonly imageTagMutability: "MUTABLE" | "IMMUTABLE";
  readonly tags: Readonly<Record<string, string>>;
  /** IAM JSON. */
  readonly policy?: unknown;
  readonly lifecyclePolicy?: unknown;
  readonly images: readonly WorldImage[];
}

/** What can be seeded (spec registry 6). */
export type SeedKind = SeedName;

export interface WorldImage {
  readonly tag: string;
  readonly seed: SeedKind;
  /** For `big` only. */
  readonly sizeMiB?: number;
}

export interface WorldCluster {
  /** Name of the issuer that signs the cluster's tokens. */
  readonly issuer: string;
  /** Manifests as kubectl takes them. */
  readonly objects: readonly Manifest[];
  readonly nodes: readonly WorldNode[];
}

/** The part of a manifest that is checked here; the rest belongs to the API server. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

export interface WorldNode {
  readonly name: string;
  readonly version: KubernetesVersion;
  /** `builtin`, or an absolute path of a directory of executables. */
  readonly pluginDirectory: string;
  /** A `KubeletConfiguration` manifest. */
  readonly kubeletConfiguration: Readonly<Record<string, unknown>>;
  /** A `CredentialProviderConfig` manifest; a node without one runs no plugins. */
  readonly credentialProviderConfig?: Readonly<Record<string, unknown>>;
  /** Images that are on the node before its kubelet starts. */
  readonly preloadedImages: readonly string[];
  /** ARN of the role that the SDK's default chain finds on this node. */
  readonly identity?: string;
  /** Added to the plugins' allow-listed environment. */
  readonly environment: Readonly<Record<string, string>>;
}

export type { KubernetesVersion };

/** A plain OCI registry that knows nothing of AWS. */
export interface WorldRegistry {
  readonly name: string;
  readonly host: string;
  readonly auth: "none" | "basic" | "bearer";
  readonly users: Readonly<Record<string, { readonly password: string }>>;
  readonly repositories: Readonly<Record<string, WorldPlainRepository>>;
}

export interface WorldPlainRepository {
  readonly anonymous: readonly ("pull" | "push")[];
  readonly grants: Readonly<Record<string, readonly ("pull" | "push" | "delete" | "*")[]>>;
  readonly images: readonly WorldImage[];
}

/** Who is meant to pull what. */
export interface WorldTenant {
  readonly name: string;
  readonly namespaces: readonly string[];
  /** Image names without tag or digest; a trailing `*` stands for any rest. */
  readonly images: readonly string[];
}

/** Conveniences and deviations, each off unless said otherwise. */
export interface WorldSwitches {
  readonly httpIssuers: boolean;
  readonly autoCreateRepositories: boolean;
  readonly verifyThumbprints: boolean;
  readonly blobRedirect: boolean;
  /** On by default. */
  readonly ecrQuirks: boolean;
  readonly shortTokens: boolean;
  readonly outsideNetwork: boolean;
}

/** One mistake in a world; `line` and `column` count from 1 and are missing for worlds given as objects. */
export interface WorldMistake {
  readonly path: readonly (string | number)[];
  readonly expected: string;
  readonly found: string;
  readonly line?: number;
  readonly column?: number;
}
