// A key must fit the algorithm by type, curve and its own declaration, even where the arithmetic would work out.
import { sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createKey, type IssuerKey } from "../testdata/fixture.ts";
import { parseVerificationKey, verifyTokenSignature } from "./signature.ts";

const RSA = createKey("k", "RS256");
const P256 = createKey("k", "ES256");
const P384 = createKey("k", "ES384");

/** A token whose header says `alg` and which is really signed with this key and SHA-256. */
function verify(key: IssuerKey, alg: string, declared: string | undefined): boolean {
  const signature = sign("sha256", Buffer.from("input"), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
  const claims = { iss: "", sub: "", aud: [], exp: 0, iat: 0, tags: {}, transitiveTagKeys: [] };
  const parsed = parseVerificationKey({ ...key.jwk, alg: declared });
  return verifyTokenSignature({ alg, claims, signingInput: "input", signature }, parsed ? [parsed] : []);
}

describe("a signature counts", () => {
  it.each<[string, IssuerKey, string, string | undefined, boolean]>([
    ["where the key declares the algorithm", RSA, "RS256", "RS256", true],
    ["where the key declares none", RSA, "RS256", undefined, true],
    ["not where the key declares another one", RSA, "RS256", "RS512", false],
    ["not under a name that IAM does not know", RSA, "PS256", undefined, false],
    ["on the curve of the algorithm", P256, "ES256", undefined, true],
    ["not on another curve", P384, "ES256", undefined, false],
    ["not by a key of another type", P256, "RS256", undefined, false],
  ])("%s", (_name, key, alg, declared, expected) => {
    expect(verify(key, alg, declared)).toBe(expected);
  });
});
