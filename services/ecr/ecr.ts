// Puts the room together: repositories, the operations on them, and the judges of the registry hosts.
import type { Iam } from "../iam/index.ts";
import type { Clock } from "../shared/clock.ts";
import { ConfigurationError } from "../shared/errors.ts";
import type { Random } from "../shared/random.ts";
import type { Sealer } from "../shared/seal.ts";
import { UNVERIFIED_TEXTS } from "./core/unverified.ts";
import { EcrError } from "./errors.ts";
import { deleteRepositoryPolicy, getRepositoryPolicy, parseRepositoryPolicy, setRepositoryPolicy } from "./policies.ts";
import { createRegistryAuth } from "./registry-auth.ts";
import { createRepository, deleteRepository, describeRepositories, type RepositoryDeps } from "./repositories.ts";
import { createRepositoryStore } from "./store.ts";
import { listTagsForResource, tagResource, untagResource } from "./tags.ts";
import { createPasswordMint, getAuthorizationToken } from "./token.ts";
import type {
  Ecr,
  EcrAccountSeed,
  EcrCall,
  Repository,
  RepositoryContents,
  RepositoryKey,
  RepositorySeed,
} from "./types.ts";

export interface EcrOptions {
  readonly iam: Iam;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly random: Random;
  readonly accounts: readonly EcrAccountSeed[];
  /** Where repositories are that do not say. */
  readonly defaultRegion: string;
  /** How long a password works; 12 as on the real service. */
  readonly passwordHours?: number;
  /** Switch, off: a password ends no later than the session that asked for it. */
  readonly endPasswordsWithSessions?: boolean;
  /** Switch, off: a push makes the repository it names. */
  readonly autoCreateRepositories?: boolean;
  /** What the registries hold; without it every repository counts as empty. */
  readonly contents?: RepositoryContents;
}

type OperationDeps = RepositoryDeps & { readonly mintPassword: Ecr["mintPassword"] };

const OPERATIONS: Readonly<Record<string, (call: EcrCall, deps: OperationDeps) => unknown>> = {
  GetAuthorizationToken: getAuthorizationToken,
  CreateRepository: createRepository,
  DescribeRepositories: describeRepositories,
  DeleteRepository: deleteRepository,
  SetRepositoryPolicy: setRepositoryPolicy,
  GetRepositoryPolicy: getRepositoryPolicy,
  DeleteRepositoryPolicy: deleteRepositoryPolicy,
  ListTagsForResource: listTagsForResource,
  TagResource: tagResource,
  UntagResource: untagResource,
};

/** @throws ConfigurationError for a seed with a policy that ECR would refuse */
export function createEcr(options: EcrOptions): Ecr {
  const { iam, sealer, clock } = options;
  const repositories = createRepositoryStore(createSeeds(options));
  const mintPassword = createPasswordMint({
    ...options,
    passwordHours: options.passwordHours ?? 12,
    endPasswordsWithSessions: options.endPasswordsWithSessions ?? false,
  });
  const deps: OperationDeps = { iam, repositories, clock, contents: options.contents, mintPassword };
  const create = (host: { account: string; region: string }, name: string) =>
    repositories.put(createEmptyRepository({ ...host, name }, clock));
  return {
    repositories,
    mintPassword,
    operations: Object.keys(OPERATIONS),
    registryAuth: (host) =>
      createRegistryAuth(host, {
        ...{ iam, repositories, sealer, clock },
        createRepository: options.autoCreateRepositories ? create : undefined,
      }),
    run(operation, call) {
      const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
      if (!run) throw new EcrError("UnknownOperationException", UNVERIFIED_TEXTS.notOffered(operation));
      return run(call, deps);
    },
    reset: () => repositories.reset(),
  };
}

function createEmptyRepository(key: RepositoryKey, clock: Clock): Repository {
  return {
    ...key,
    createdAt: clock.now(),
    imageTagMutability: "MUTABLE",
    scanOnPush: false,
    encryption: { encryptionType: "AES256" },
    tags: {},
  };
}

function createSeeds(options: EcrOptions): Repository[] {
  return options.accounts.flatMap((account) =>
    Object.entries(account.repositories ?? {}).map(([name, seed]) => {
      const region = seed.region ?? account.regions?.[0] ?? options.defaultRegion;
      return createSeed({ account: account.id, region, name }, seed, options);
    }),
  );
}

function createSeed(key: RepositoryKey, seed: RepositorySeed, options: EcrOptions): Repository {
  return {
    ...createEmptyRepository(key, options.clock),
    imageTagMutability: seed.imageTagMutability ?? "MUTABLE",
    tags: seed.tags ?? {},
    ...(seed.policy === undefined ? {} : { policy: parseSeedPolicy(key, seed.policy, options.iam) }),
  };
}

function parseSeedPolicy(key: RepositoryKey, policy: unknown, iam: Iam): Repository["policy"] & object {
  try {
    return parseRepositoryPolicy(policy, key, iam);
  } catch (cause) {
    if (!(cause instanceof EcrError)) throw cause;
    const detail = cause.cause instanceof Error ? `: ${cause.cause.message}` : "";
    throw new ConfigurationError(`repository ${key.account}/${key.name}: ${cause.message}${detail}`, { cause });
  }
}
