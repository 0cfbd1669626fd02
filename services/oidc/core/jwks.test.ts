import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { SIGNING_ALGS, type SigningAlg } from "./algorithms.ts";
import { createKeyId, createSigningKey, findKeyMismatch } from "./jwks.ts";

const NOW = new Date("2026-09-21T14:13:20Z");
const EC = generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

test("a key id is the unpadded base64url SHA-256 of the SubjectPublicKeyInfo (vector of spec kubelet 4.1)", () => {
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
  };
  expect(createKeyId(createPublicKey({ key: jwk, format: "jwk" }))).toBe("UblEzfpUTUwyc6pr81BiWn3VO7tqcXIydPU4sZogd2A");
});

test.each([
  ["RSA", RSA, "RS256", ["use", "kty", "kid", "alg", "n", "e"]],
  ["EC", EC, "ES256", ["use", "kty", "kid", "crv", "alg", "x", "y"]],
] as const)("a published %s key has its public members only, in Kubernetes' order", (kty, key, alg, members) => {
  const { jwk } = createSigningKey(key, alg, NOW);
  expect(Object.keys(jwk)).toEqual(members);
  expect(jwk).toMatchObject({ use: "sig", kty, alg });
  expect(createKeyId(createPublicKey({ key: { ...jwk }, format: "jwk" }))).toBe(jwk.kid);
});

const SHORT_RSA = createPrivateKey(
  generateKeyPairSync("rsa", {
    modulusLength: 1024,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey,
);

test.each([
  ["an RSA key signs RS512", RSA, "RS512", undefined],
  ["an RSA key does not sign ES256", RSA, "ES256", "ES256 needs an EC key on P-256, found rsa"],
  ["a P-256 key signs ES256", EC, "ES256", undefined],
  ["a P-256 key does not sign ES384", EC, "ES384", "ES384 needs an EC key on P-384, found ec prime256v1"],
  ["an EC key does not sign RS256", EC, "RS256", "RS256 needs an RSA key, found ec"],
  ["a short RSA key does not sign", SHORT_RSA, "RS256", "RS256 needs an RSA key of 2048 bits, found 1024"],
] as const)("%s", (_what, key, alg, expected) => {
  expect(findKeyMismatch(key, alg)).toBe(expected);
});

test("algorithms are those of Kubernetes and EKS", () => {
  expect(Object.keys(SIGNING_ALGS) satisfies string[] as SigningAlg[]).toEqual([
    "RS256",
    "RS384",
    "RS512",
    "ES256",
    "ES384",
    "ES512",
  ]);
});
