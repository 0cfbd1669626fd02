// The only door of the registry.
export type { RegistryDirectory } from "./address.ts";
export type { GrantAction, RepositoryGrants } from "./core/grants.ts";
export type { ProfileName } from "./core/profile.ts";
export type { BuiltImage } from "./core/seeds.ts";
export { createRegistryRouter, type RegistryRouterOptions } from "./http.ts";
export { createPlainAuth, type PlainAuth, type PlainAuthOptions } from "./plain-auth.ts";
export { createRegistry, type Registry, type RegistryDefinition, type RegistryOptions } from "./registry.ts";
export { createSeedImage, SEED_NAMES, type SeedImage, type SeedName, type SeedOptions } from "./seed-image.ts";
export type { BlobContent, RegistryStore, RepositoryContent, Upload } from "./store.ts";
export { createMemoryStore } from "./store-memory.ts";
export type {
  AccessDecision,
  Authentication,
  AuthenticationRefusal,
  Authenticator,
  AuthorizationRequest,
  Authorizer,
  RegistryOperation,
  RegistryPrincipal,
  RepositoryDirectory,
  RepositoryRecord,
  RequestContext,
} from "./types.ts";
