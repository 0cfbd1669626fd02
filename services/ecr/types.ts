// The nouns of ECR: repositories, the calls made on them, and the door that other rooms use.
import type { Policy } from "../iam/index.ts";
import type { Authenticator, Authorizer, RepositoryDirectory } from "../registry/index.ts";
import type { AwsPrincipal } from "../shared/aws/principal.ts";
import type { EcrHost } from "../shared/aws/registry-host.ts";
import type { EventDraft } from "../shared/event.ts";

/** Where a repository is; the triple is its identity. */
export interface RepositoryKey {
  /** Account id: the registry's id. */
  readonly account: string;
  readonly region: string;
  readonly name: string;
}

export type TagMutability = "MUTABLE" | "IMMUTABLE";

/** One repository as it is now; replaced as a whole when anything about it changes. */
export interface Repository extends RepositoryKey {
  readonly createdAt: Date;
  readonly imageTagMutability: TagMutability;
  readonly scanOnPush: boolean;
  readonly encryption: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly policy?: RepositoryPolicy;
}

export interface RepositoryPolicy {
  /** As it was set, for GetRepositoryPolicy. */
  readonly text: string;
  readonly parsed: Policy;
}

/** A repository as the world file declares it; its images are the registry's business. */
export interface RepositorySeed {
  /** The default region unless told. */
  readonly region?: string;
  readonly imageTagMutability?: TagMutability;
  readonly tags?: Readonly<Record<string, string>>;
  /** IAM JSON. */
  readonly policy?: unknown;
}

export interface EcrAccountSeed {
  readonly id: string;
  readonly regions?: readonly string[];
  readonly repositories?: Readonly<Record<string, RepositorySeed>>;
}

// What core works on, under names of this room: core knows no other room.
export type { RegistryOperation } from "../registry/index.ts";
export type ResourcePolicy = Policy;

/** The room's only state. */
export interface RepositoryStore {
  find(key: RepositoryKey): Repository | undefined;
  /** The repositories of one registry, by name. */
  list(account: string, region: string): readonly Repository[];
  put(repository: Repository): void;
  /** False if there was none. */
  remove(key: RepositoryKey): boolean;
  /** Back to the seeds. */
  reset(): void;
}

/** What ECR must know of the images; the stack hands in the registry's answer. */
export interface RepositoryContents {
  hasImages(key: RepositoryKey): boolean;
  /** Drops everything a deleted repository held. */
  clear(key: RepositoryKey): void;
}

/** Facts of the HTTP request that policies may look at. */
export interface CallContext {
  readonly sourceIp: string;
  readonly secure: boolean;
  readonly userAgent: string;
}

/** One signed call of the JSON API. */
export interface EcrCall {
  readonly input: Readonly<Record<string, unknown>>;
  readonly principal: AwsPrincipal;
  readonly lineage: string;
  /** From the signature's scope. */
  readonly region: string;
  readonly context: CallContext;
  /** Filled in as facts become known. */
  readonly event: EventDraft;
}

/** What a registry host needs to judge requests. */
export interface RegistryAuth {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly directory: RepositoryDirectory;
}

/** A registry password and when it stops working. */
export interface MintedPassword {
  readonly password: string;
  readonly expiresAt: Date;
}

/** The Elastic Container Registry without its wire. */
export interface Ecr {
  readonly repositories: RepositoryStore;
  registryAuth(host: EcrHost): RegistryAuth;
  /** A password for every registry of the region that the principal can reach; nobody is asked. */
  mintPassword(principal: AwsPrincipal, region: string, lineage: string): MintedPassword;
  /** The names that `run` knows. */
  readonly operations: readonly string[];
  /** Runs one operation. @throws EcrError */
  run(operation: string, call: EcrCall): unknown;
  /** Back to the repositories as seeded. Passwords given out stay what they are. */
  reset(): void;
}
