// The door of the oidc room.
export { isSigningAlg, SIGNING_ALGS, type SigningAlg } from "./core/algorithms.ts";
export { BAD_TOKENS, type BadTokenKind, isBadTokenKind } from "./core/bad-tokens.ts";
export { OidcError, type OidcErrorCode } from "./errors.ts";
export { createOidcRouter, type OidcRouterOptions } from "./http.ts";
export { createIssuer, type IssuerOptions } from "./issuer.ts";
export type {
  Claims,
  DiscoveryDocument,
  Issuer,
  KeyInfo,
  MintRequest,
  PublicJwk,
  PublishedIssuer,
  Verification,
} from "./types.ts";
export { createUploadedIssuer } from "./uploaded.ts";
