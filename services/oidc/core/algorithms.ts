// The signing algorithms of Kubernetes and EKS issuers (spec kubelet 4.1, RFC 7518 §3.1): a table and nothing else.

/** `curve` is OpenSSL's name, `crv` the one of RFC 7518 §6.2.1.1. */
export const SIGNING_ALGS = {
  RS256: { kty: "RSA", hash: "sha256", crv: undefined, curve: undefined },
  RS384: { kty: "RSA", hash: "sha384", crv: undefined, curve: undefined },
  RS512: { kty: "RSA", hash: "sha512", crv: undefined, curve: undefined },
  ES256: { kty: "EC", hash: "sha256", crv: "P-256", curve: "prime256v1" },
  ES384: { kty: "EC", hash: "sha384", crv: "P-384", curve: "secp384r1" },
  ES512: { kty: "EC", hash: "sha512", crv: "P-521", curve: "secp521r1" },
} as const;

export type SigningAlg = keyof typeof SIGNING_ALGS;

/** True for the name of an algorithm that an issuer may sign with. */
export function isSigningAlg(text: unknown): text is SigningAlg {
  return typeof text === "string" && Object.hasOwn(SIGNING_ALGS, text);
}
