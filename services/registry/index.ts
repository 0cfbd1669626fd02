// The only door of the registry.
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
