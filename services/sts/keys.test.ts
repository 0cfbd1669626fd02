// Key retrieval: cache, rotation, bounded refetches, and documents that cannot be used (cases 17 to 19 of aws.md 7).
import { afterEach, describe, expect, it } from "vitest";
import type { StsOptions } from "./index.ts";
import { claims, createKey, ISSUER, K1, NOW, signToken, startSts } from "./testdata/fixture.ts";

const NO_KEY = /^400 InvalidIdentityToken: Couldn't retrieve verification key from your identity provider, {2}please/;

let sts: Awaited<ReturnType<typeof startSts>>;
afterEach(() => sts.close());

async function start(options: StsOptions = {}) {
  sts = await startSts(options);
  return {
    fetches: () => sts.issuer.asked.filter((path) => path === "/c1/keys").length,
    unknown: () => sts.assume({ WebIdentityToken: signToken(claims(), K1, { kid: "nobody" }) }),
  };
}

describe("the key set", () => {
  it("is fetched once and used until it is a minute old", async () => {
    const { fetches } = await start();
    await Promise.all([sts.assume(), sts.assume(), sts.assume()]);
    sts.clock.advance(59);
    await sts.assume();
    expect(fetches()).toBe(1);
    sts.clock.advance(1);
    await sts.assume();
    expect(fetches()).toBe(2);
    sts.clock.set(new Date((NOW - 100) * 1000));
    await sts.assume();
    expect(fetches()).toBe(3);
  });

  it("17: is fetched once more for an unknown key, and no more than so often", async () => {
    const { fetches, unknown } = await start();
    await sts.assume();
    expect((await unknown()).verdict).toMatch(NO_KEY);
    expect(fetches()).toBe(2);
    expect(sts.events.events.at(-1)?.reason).toBe("unknown-key");
    for (let call = 0; call < 100; call++) expect((await unknown()).verdict).toMatch(NO_KEY);
    expect(fetches()).toBe(11);
    expect(sts.events.events.at(-1)?.notes?.keys).toBe("not fetched again: too many unknown keys");
    sts.elapsed.ms += 1000;
    await unknown();
    await unknown();
    expect(fetches()).toBe(12);
  });

  it("18: a rotated key is found at once, and the withdrawn one is gone", async () => {
    await start();
    await sts.assume();
    const next = createKey("k2", "ES256");
    sts.issuer.keys.splice(0, 1, next.jwk);
    expect((await sts.assume({ WebIdentityToken: signToken(claims(), next) })).status).toBe(200);
    expect((await sts.assume()).verdict).toMatch(NO_KEY);
  });

  it("18: a withdrawn key is used as long as the key set is kept, and not longer", async () => {
    await start();
    await sts.assume();
    sts.issuer.keys.splice(0, 1, createKey("k2", "ES256").jwk);
    expect((await sts.assume()).status).toBe(200);
    sts.clock.advance(60);
    expect((await sts.assume()).verdict).toMatch(NO_KEY);
  });

  it("reset forgets it", async () => {
    const { fetches } = await start();
    await sts.assume();
    sts.sts.reset();
    await sts.assume();
    expect(fetches()).toBe(2);
  });

  it("serves a token without key id only while there is one key", async () => {
    await start();
    const bare = signToken(claims(), K1, { kid: undefined });
    expect((await sts.assume({ WebIdentityToken: bare })).status).toBe(200);
    sts.issuer.keys.push(createKey("k2", "ES256").jwk);
    sts.sts.reset();
    expect((await sts.assume({ WebIdentityToken: bare })).verdict).toMatch(NO_KEY);
  });

  it.each<[string, Record<string, unknown>]>([
    ["for encryption", { ...K1.jwk, use: "enc" }],
    ["without modulus", { ...K1.jwk, n: undefined }],
    ["of an unknown type", { ...K1.jwk, kty: "OKP" }],
  ])("leaves out a key %s", async (_name, jwk) => {
    await start();
    sts.issuer.keys.splice(0, 1, jwk);
    expect((await sts.assume()).verdict).toMatch(NO_KEY);
    sts.issuer.keys.splice(0, 1, K1.jwk);
    sts.sts.reset();
    expect((await sts.assume()).status).toBe(200);
  });
});

describe("discovery", () => {
  it.each<[string, Record<string, unknown>]>([
    ["another issuer", { issuer: `${ISSUER}/` }],
    ["no key set", { jwks_uri: undefined }],
    ["a key set on plain http", { jwks_uri: "http://oidc.test/c1/keys" }],
    ["no response types", { response_types_supported: undefined }],
    ["no subject types", { subject_types_supported: undefined }],
    ["no algorithms", { id_token_signing_alg_values_supported: [] }],
  ])("with %s is not usable", async (_name, changes) => {
    await start();
    const good = sts.issuer.discovery;
    sts.issuer.discovery = { ...good, ...changes };
    expect((await sts.assume()).verdict).toMatch(NO_KEY);
    expect(sts.events.events.at(-1)?.reason).toBe("no-verification-key");
    sts.issuer.discovery = good;
    expect((await sts.assume()).status).toBe(200);
  });

  it("must be a plain 200", async () => {
    await start();
    sts.issuer.status = 503;
    expect((await sts.assume()).verdict).toMatch(NO_KEY);
    sts.issuer.status = 200;
    expect((await sts.assume()).status).toBe(200);
  });

  it("19: an issuer that is down is the key's trouble, or its own by switch", async () => {
    await start();
    sts.issuer.down = true;
    expect((await sts.assume()).verdict).toMatch(NO_KEY);
    await sts.close();
    await start({ idpCommunicationErrors: true });
    sts.issuer.down = true;
    expect((await sts.assume()).verdict).toMatch(/^400 IDPCommunicationError: /);
    expect(sts.events.events.at(-1)?.notes?.cause).toContain("dial oidc.test");
    sts.issuer.down = false;
    expect((await sts.assume()).status).toBe(200);
  });

  it("8b: thumbprints are compared only when the switch is on", async () => {
    await start({ verifyThumbprints: true });
    expect((await sts.assume()).verdict).toBe(
      "400 InvalidIdentityToken: OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint",
    );
    await sts.close();
    await start();
    expect((await sts.assume()).status).toBe(200);
  });
});
