// The discovery document of an issuer, in Kubernetes' shape and in EKS's, and where it is found.
import type { DiscoveryDocument } from "../types.ts";

/** The document of a Kubernetes API server: these members and no others (spec kubelet 4.4). */
export function createDiscoveryDocument(issuer: string, jwksUri: string, algs: readonly string[]): DiscoveryDocument {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(algs)].sort(),
  };
}

/** The document that EKS publishes on the issuer's own host (spec wiring 2.2): two members more. */
export function createEksDiscoveryDocument(document: DiscoveryDocument): DiscoveryDocument {
  const { issuer, jwks_uri, response_types_supported, subject_types_supported, ...rest } = document;
  const authorization_endpoint = "urn:kubernetes:programmatic_authorization";
  const claims_supported = ["sub", "iss"];
  return {
    issuer,
    jwks_uri,
    authorization_endpoint,
    response_types_supported,
    subject_types_supported,
    claims_supported,
    ...rest,
  };
}

/** What the issuer's URL is put in front of; discovery drops one trailing slash (OpenID Connect Discovery 1.0 §4.1). */
export function issuerBase(issuer: string): string {
  return issuer.endsWith("/") ? issuer.slice(0, -1) : issuer;
}
