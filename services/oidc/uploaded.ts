// A foreign issuer whose key set was handed to us: it publishes, and signs nothing.
import type { SigningAlg } from "./core/algorithms.ts";
import { createDiscoveryDocument } from "./core/discovery.ts";
import type { PublishedIssuer } from "./types.ts";

/** Publishes an uploaded key set under the issuer's own URL, unchanged; whether it is usable is for the verifier to say. */
export function createUploadedIssuer(options: {
  readonly url: string;
  readonly alg: SigningAlg;
  readonly jwks: { readonly keys: readonly unknown[] };
}): PublishedIssuer {
  const { url, alg, jwks } = options;
  return { url, jwks: async () => jwks, discovery: (jwksUri) => createDiscoveryDocument(url, jwksUri, [alg]) };
}
