import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { MovableClock } from "../shared/clock.ts";
import { createSeededRandom } from "../shared/random.ts";
import { createIssuer, type IssuerOptions } from "./issuer.ts";

const URL = "https://oidc.example.test";

function create(options: Partial<IssuerOptions> = {}) {
  const clock = new MovableClock();
  clock.set(new Date("2026-09-21T14:13:20Z"));
  clock.freeze(true);
  const issuer = createIssuer({
    name: "eks",
    url: URL,
    alg: "ES256",
    clock,
    random: createSeededRandom("issuer"),
    ...options,
  });
  return { issuer, clock };
}

test("a minted token carries the issuer's claims, whole seconds and an hour of life", async () => {
  const { issuer } = create();
  const { claims } = await issuer.mint({ subject: "s", audiences: ["a"] });
  const { jti, ...rest } = claims;
  expect(rest).toEqual({ aud: ["a"], exp: 1790003600, iat: 1790000000, iss: URL, nbf: 1790000000, sub: "s" });
  expect(jti).toMatch(/^[0-9a-f-]{36}$/);
});

test("claims given by the caller win; the lifetime is his", async () => {
  const { issuer } = create();
  const { claims } = await issuer.mint({
    subject: "s",
    expirationSeconds: 60,
    claims: { iss: "https://other.test", x: 1 },
  });
  expect(claims).toMatchObject({ iss: "https://other.test", exp: 1790000060, x: 1 });
});

test("the key is made once, however many ask for it at the same time", async () => {
  const { issuer } = create();
  const found = await Promise.all([issuer.keys(), issuer.jwks(), issuer.keys(), issuer.prepare()]);
  expect(found[0]).toEqual(found[2]);
  expect(found[1].keys.map((key) => key.kid)).toEqual([found[0][0]?.kid]);
});

test("after a rotation the new key signs, and the old one verifies as long as it is kept", async () => {
  const { issuer, clock } = create();
  const old = await issuer.mint({ subject: "s" });
  clock.advance(60);
  const kept = await issuer.rotate({ keepOld: true });
  expect(await issuer.verify(old.token)).toMatchObject({ ok: true });
  expect(await issuer.verify((await issuer.mint({ subject: "s" })).token)).toMatchObject({ ok: true, kid: kept.kid });
  expect((await issuer.keys()).map((key) => [key.active, key.createdAt.getTime()])).toEqual([
    [true, 1790000060_000],
    [false, 1790000000_000],
  ]);
  await issuer.rotate({ keepOld: false });
  expect(await issuer.verify(old.token)).toEqual({ ok: false, refusal: "unknown-kid" });
  expect(await issuer.keys()).toHaveLength(1);
});

test("a rotation may change the algorithm; discovery lists those of all published keys, sorted", async () => {
  const { issuer } = create({ alg: "ES384" });
  expect(await issuer.rotate({ alg: "ES256", keepOld: true })).toMatchObject({ alg: "ES256", active: true });
  expect(issuer.alg).toBe("ES256");
  expect(issuer.discovery(`${URL}/keys`)).toEqual({
    issuer: URL,
    jwks_uri: `${URL}/keys`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256", "ES384"],
  });
  await expect(issuer.rotate({ alg: "HS256" as "ES256", keepOld: true })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("a withdrawn key verifies no more; the others do", async () => {
  const { issuer } = create();
  const old = await issuer.mint({ subject: "s" });
  const [first] = await issuer.keys();
  await issuer.rotate({ keepOld: true });
  const young = await issuer.mint({ subject: "s" });
  expect(await issuer.withdraw("nope")).toBe(false);
  expect(await issuer.withdraw(first?.kid ?? "")).toBe(true);
  expect(await issuer.verify(old.token)).toEqual({ ok: false, refusal: "unknown-kid" });
  expect(await issuer.verify(young.token)).toMatchObject({ ok: true });
});

test("withdrawing the active key leaves the issuer able to sign, with a new one", async () => {
  const { issuer } = create();
  const old = await issuer.mint({ subject: "s" });
  expect(await issuer.withdraw((await issuer.keys())[0]?.kid ?? "")).toBe(true);
  expect(await issuer.verify(old.token)).toMatchObject({ ok: false });
  expect(await issuer.verify((await issuer.mint({ subject: "s" })).token)).toMatchObject({ ok: true });
});

test("reset brings the first key back", async () => {
  const { issuer } = create();
  const old = await issuer.mint({ subject: "s" });
  await issuer.rotate({ alg: "ES384", keepOld: false });
  issuer.reset();
  expect(issuer.alg).toBe("ES256");
  expect(await issuer.verify(old.token)).toMatchObject({ ok: true });
});

const EC_JWK = { ...generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey.export({ format: "jwk" }) };

test("a given key signs", async () => {
  const { issuer } = create({ key: { jwk: EC_JWK } });
  expect((await issuer.jwks()).keys[0]).toMatchObject({ x: EC_JWK.x, y: EC_JWK.y });
});

test.each([
  [
    "a relative URL",
    { url: "oidc.test" },
    "issuer eks: expected an http(s) URL without query and fragment, found oidc.test",
  ],
  ["a query", { url: `${URL}?a=b` }, /without query/],
  ["a fragment", { url: `${URL}#a` }, /without query and fragment/],
  ["another scheme", { url: "ftp://oidc.test" }, /http\(s\) URL/],
  ["an unknown algorithm", { alg: "HS256" as "ES256" }, /expected alg to be one of RS256, .*, found HS256/],
  ["a key that does not fit", { alg: "ES384", key: { jwk: EC_JWK } }, /ES384 needs an EC key on P-384/],
  ["a key that is none", { key: { pem: "not a key" } }, /expected a private key as PEM or JWK/],
] as const)("%s is refused at once", (_what, options, message) => {
  expect(() => create(options)).toThrow(message);
});
