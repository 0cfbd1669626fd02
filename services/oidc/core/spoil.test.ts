import { generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../shared/clock.ts";
import { createSeededRandom } from "../../shared/random.ts";
import { createIssuer } from "../issuer.ts";
import type { SigningAlg } from "./algorithms.ts";
import { BAD_TOKENS, type BadTokenKind, isBadTokenKind } from "./bad-tokens.ts";

const NOW = new Date("2026-09-21T14:13:20Z");
const URL = "https://oidc.example.test/id/1";
const KINDS = Object.keys(BAD_TOKENS) as BadTokenKind[];

function createTestIssuer(alg: SigningAlg) {
  const clock = new MovableClock();
  clock.set(NOW);
  clock.freeze(true);
  const pair = alg.startsWith("ES")
    ? generateKeyPairSync("ec", { namedCurve: "prime256v1" })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { pem: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  return createIssuer({ name: "eks", url: URL, alg, key, clock, random: createSeededRandom("spoil") });
}

/** A verifier of its own, on another library: the row of spec aws 2.3 at which it refuses, 0 if it accepts. */
async function findRow(token: string, jwks: Parameters<typeof createLocalJWKSet>[0]): Promise<number> {
  if (token.length < 4 || token.length > 20_000) return 1;
  let claims: ReturnType<typeof decodeJwt>;
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    claims = decodeJwt(token);
    header = decodeProtectedHeader(token);
  } catch {
    return 3;
  }
  if (["iss", "aud", "sub", "exp", "iat"].some((name) => claims[name] === undefined)) return 4;
  if (!claims.iss?.startsWith("https://")) return 5;
  if (claims.iss !== URL) return 6;
  if (!(claims.azp ? [claims.azp] : [claims.aud].flat()).includes("sts.amazonaws.com")) return 7;
  if (!jwks.keys.some((key) => key.kid === header.kid)) return 8;
  const now = NOW.getTime() / 1000;
  try {
    const algorithms = ["RS256", "ES256"];
    await jwtVerify(token, createLocalJWKSet(jwks), { algorithms, currentDate: new Date(Number(claims.nbf) * 1000) });
  } catch {
    return 9;
  }
  if ((claims.exp ?? 0) <= now) return 10;
  if (now - (claims.iat ?? 0) > 86_400) return 11;
  return (claims.nbf ?? 0) > now + 300 || (claims.iat ?? 0) > now + 300 ? 12 : 0;
}

describe.each(["RS256", "ES256"] as const)("tokens of an issuer with %s", async (alg) => {
  const issuer = createTestIssuer(alg);
  const jwks = (await issuer.jwks()) as unknown as Parameters<typeof createLocalJWKSet>[0];
  const request = { subject: "system:serviceaccount:team-a:puller", audiences: ["sts.amazonaws.com"] };
  const good = await issuer.mint(request);

  test("the good twin is accepted", async () => {
    expect(await findRow(good.token, jwks)).toBe(0);
    expect(await issuer.verify(good.token)).toMatchObject({ ok: true });
  });

  test.each(KINDS)("the bad twin %s is refused at the row that is documented", async (kind) => {
    expect(await findRow(await issuer.spoil(good.token, kind), jwks)).toBe(BAD_TOKENS[kind].row);
    expect(await findRow((await issuer.mint({ ...request, bad: kind })).token, jwks)).toBe(BAD_TOKENS[kind].row);
  });

  test.each(KINDS.filter((kind) => ![3].includes(BAD_TOKENS[kind].row)))(
    "%s differs in its one fact only",
    async (kind) => {
      const claims = decodeJwt(await issuer.spoil(good.token, kind));
      const changed = new Set([...Object.keys(claims), ...Object.keys(good.claims)]);
      for (const name of changed)
        if (JSON.stringify(claims[name]) === JSON.stringify(good.claims[name])) changed.delete(name);
      expect([...changed].sort()).toEqual(CHANGED[kind] ?? []);
    },
  );
});

const CHANGED: Partial<Record<BadTokenKind, string[]>> = {
  expired: ["exp", "iat", "nbf"],
  "not-yet-valid": ["exp", "iat", "nbf"],
  "too-old": ["iat", "nbf"],
  "wrong-issuer": ["iss"],
  "http-issuer": ["iss"],
  "wrong-audience": ["aud"],
  "wrong-azp": ["azp"],
  "altered-payload": ["sub"],
  "missing-iss": ["iss"],
  "missing-aud": ["aud"],
  "missing-sub": ["sub"],
  "missing-exp": ["exp"],
  "missing-iat": ["iat"],
  huge: ["padding"],
};

test("what is no JWT cannot be spoiled, a token can", async () => {
  const issuer = createTestIssuer("ES256");
  await expect(issuer.spoil("no token", "expired")).rejects.toMatchObject({ code: "invalid_request" });
  const { token } = await issuer.mint({ subject: "s" });
  expect((await issuer.spoil(token, "huge")).length).toBeGreaterThan(100_000);
});

test.each([
  ["expired", true],
  ["constructor", false],
  [7, false],
])("%s is the name of a bad kind: %s", (text, expected) => {
  expect(isBadTokenKind(text)).toBe(expected);
});
