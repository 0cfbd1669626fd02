// Every way in which a token can be bad, and what a verifier that does its work says to it (spec aws 2.3: `row` is the
// row of that table, first failure wins; `code` is what STS answers).

interface BadToken {
  /** The one fact that differs from the good twin. */
  readonly what: string;
  readonly row: number;
  readonly code: "ValidationError" | "InvalidIdentityToken" | "ExpiredTokenException";
}

export const BAD_TOKENS = {
  expired: { what: "its whole life lies in the past and ended an hour ago", row: 10, code: "ExpiredTokenException" },
  "not-yet-valid": { what: "its whole life begins in an hour", row: 12, code: "InvalidIdentityToken" },
  "too-old": { what: "issued two days ago, not expired", row: 11, code: "ExpiredTokenException" },
  "wrong-key": { what: "signed by a foreign key, under the id of the true one", row: 9, code: "InvalidIdentityToken" },
  "unknown-kid": { what: "names a key that is not in the key set", row: 8, code: "InvalidIdentityToken" },
  "wrong-issuer": { what: "claims an issuer that is registered nowhere", row: 6, code: "InvalidIdentityToken" },
  "http-issuer": { what: "claims an issuer without https", row: 5, code: "InvalidIdentityToken" },
  "wrong-audience": { what: "made out to somebody else", row: 7, code: "InvalidIdentityToken" },
  "wrong-azp": {
    what: "its authorized party (azp) is not registered, its aud is",
    row: 7,
    code: "InvalidIdentityToken",
  },
  "none-alg": { what: "algorithm none, empty signature", row: 9, code: "InvalidIdentityToken" },
  "hs256-public-key": {
    what: "HMAC keyed with the public key, which everybody has",
    row: 9,
    code: "InvalidIdentityToken",
  },
  "wrong-alg": { what: "header names an algorithm of another key type", row: 9, code: "InvalidIdentityToken" },
  "missing-iss": { what: "no claim iss", row: 4, code: "InvalidIdentityToken" },
  "missing-aud": { what: "no claim aud", row: 4, code: "InvalidIdentityToken" },
  "missing-sub": { what: "no claim sub", row: 4, code: "InvalidIdentityToken" },
  "missing-exp": { what: "no claim exp", row: 4, code: "InvalidIdentityToken" },
  "missing-iat": { what: "no claim iat", row: 4, code: "InvalidIdentityToken" },
  "altered-payload": { what: "another subject under the old signature", row: 9, code: "InvalidIdentityToken" },
  "altered-signature": { what: "one bit of the signature flipped", row: 9, code: "InvalidIdentityToken" },
  "embedded-jwk": {
    what: "signed by a foreign key that the header brings along (jwk)",
    row: 9,
    code: "InvalidIdentityToken",
  },
  "foreign-jku": {
    what: "signed by a foreign key that the header points to (jku)",
    row: 9,
    code: "InvalidIdentityToken",
  },
  truncated: { what: "cut off inside the payload", row: 3, code: "InvalidIdentityToken" },
  garbage: { what: "no token at all", row: 3, code: "InvalidIdentityToken" },
  "payload-not-json": { what: "properly signed, but the payload is not JSON", row: 3, code: "InvalidIdentityToken" },
  huge: { what: "100 KB, properly signed", row: 1, code: "ValidationError" },
} as const satisfies Record<string, BadToken>;

export type BadTokenKind = keyof typeof BAD_TOKENS;

/** True for the name of a bad kind. */
export function isBadTokenKind(text: unknown): text is BadTokenKind {
  return typeof text === "string" && Object.hasOwn(BAD_TOKENS, text);
}
