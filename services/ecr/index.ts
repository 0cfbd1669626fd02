// ECR: registry passwords, repositories and their policies, and who may do what on a registry host. The only door of this room.
export { createEcr, type EcrOptions } from "./ecr.ts";
export { createEcrRouter, type EcrRouterOptions } from "./http.ts";
export type {
  Ecr,
  EcrAccountSeed,
  MintedPassword,
  RegistryAuth,
  Repository,
  RepositoryContents,
  RepositoryKey,
  RepositorySeed,
  RepositoryStore,
} from "./types.ts";
