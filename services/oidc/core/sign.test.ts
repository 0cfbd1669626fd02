import { generateKeyPairSync } from "node:crypto";
import { importJWK, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { SIGNING_ALGS, type SigningAlg } from "./algorithms.ts";
import { encodeJson } from "./encode.ts";
import { createSigningKey, type SigningKey } from "./jwks.ts";
import { appendSignature, parseToken, signToken, verifyToken } from "./sign.ts";

const NOW = new Date("2026-09-21T14:13:20Z");
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

function createKey(alg: SigningAlg): SigningKey {
  const { curve } = SIGNING_ALGS[alg];
  return createSigningKey(curve ? generateKeyPairSync("ec", { namedCurve: curve }).privateKey : RSA, alg, NOW);
}

test.each(Object.keys(SIGNING_ALGS) as SigningAlg[])(
  "an independent library verifies a token signed with %s",
  async (alg) => {
    const key = createKey(alg);
    const token = signToken({ sub: "s", exp: 1790003600 }, key);
    const verified = await jwtVerify(token, await importJWK({ ...key.jwk }, alg), { currentDate: NOW });
    expect(verified.payload).toEqual({ exp: 1790003600, sub: "s" });
    expect(verifyToken(token, [key])).toMatchObject({ ok: true, kid: key.kid });
  },
);

test("the header has alg and kid, sorted, and no typ; claims are sorted at every depth", () => {
  const key = createKey("ES256");
  const [header = "", payload = ""] = signToken(
    { sub: "s", "kubernetes.io": { pod: { uid: "u", name: "n" }, namespace: "ns" }, aud: ["b", "a"] },
    key,
  ).split(".");
  expect(Buffer.from(header, "base64url").toString()).toBe(`{"alg":"ES256","kid":"${key.kid}"}`);
  expect(Buffer.from(payload, "base64url").toString()).toBe(
    '{"aud":["b","a"],"kubernetes.io":{"namespace":"ns","pod":{"name":"n","uid":"u"}},"sub":"s"}',
  );
});

const KEY = createKey("ES256");
const OTHER = createKey("ES256");
const GOOD = signToken({ sub: "s" }, KEY);
const [HEAD = "", PAYLOAD = "", SIGNATURE = ""] = GOOD.split(".");
const relabelled = (header: Record<string, unknown>, by = KEY) =>
  appendSignature(`${encodeJson(header)}.${PAYLOAD}`, by);

test.each([
  ["the good token", GOOD, "ok"],
  ["two parts", `${HEAD}.${PAYLOAD}`, "malformed"],
  ["four parts", `${GOOD}.x`, "malformed"],
  ["a header that is no JSON", `bm8.${PAYLOAD}.${SIGNATURE}`, "malformed"],
  ["a payload that is a JSON list", `${HEAD}.${Buffer.from("[1]").toString("base64url")}.${SIGNATURE}`, "malformed"],
  ["padding in the payload", `${HEAD}.${PAYLOAD}=.${SIGNATURE}`, "malformed"],
  ["a key that is not published", signToken({ sub: "s" }, OTHER), "unknown-kid"],
  ["no kid", relabelled({ alg: "ES256" }), "unknown-kid"],
  ["another algorithm in the header", relabelled({ alg: "RS256", kid: KEY.kid }), "wrong-algorithm"],
  ["algorithm none", `${encodeJson({ alg: "none", kid: KEY.kid })}.${PAYLOAD}.`, "wrong-algorithm"],
  ["the kid of another key", relabelled({ alg: "ES256", kid: KEY.kid }, OTHER), "wrong-signature"],
  ["another payload", `${HEAD}.${encodeJson({ sub: "t" })}.${SIGNATURE}`, "wrong-signature"],
  ["no signature", `${HEAD}.${PAYLOAD}.`, "wrong-signature"],
  ["a signature with blanks in it", `${HEAD}.${PAYLOAD}. ${SIGNATURE}`, "wrong-signature"],
])("verifyToken finds in %s: %s", (_what, token, expected) => {
  const found = verifyToken(token, [KEY]);
  expect(found.ok ? "ok" : found.refusal).toBe(expected);
});

test("a token taken apart shows header and claims", () => {
  expect(parseToken(GOOD)).toMatchObject({ header: { alg: "ES256", kid: KEY.kid }, claims: { sub: "s" } });
});
