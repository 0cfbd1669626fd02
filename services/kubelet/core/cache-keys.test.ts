// Byte vectors of kubelet.md 1.7, 2.6 and 3.4, and the cache that uses the keys.
import { describe, expect, test } from "vitest";
import { hashToken, renderCacheKey, renderFlightKey, renderServiceAccountKey } from "./cache-keys.ts";
import { hashConfigFiles } from "./config-hash.ts";
import { CredentialCache, decideExpiry } from "./credential-cache.ts";
import { hashCredential, Keyring, reduceKey } from "./keyring.ts";
import { sha256 } from "./sha256.ts";

const ACCOUNT = { namespace: "team-a", name: "puller", uid: "uid-1", annotations: { "demo.example/role": "r1" } };
const ACCOUNT_HEX =
  "00067465616d2d61000670756c6c657200057569642d3100000001001164656d6f2e6578616d706c652f726f6c6500027231";

describe("keys", () => {
  test("the ServiceAccount part", () => {
    expect(renderServiceAccountKey(ACCOUNT).toString("hex")).toBe(ACCOUNT_HEX);
    const perToken = renderServiceAccountKey({ ...ACCOUNT, tokenHash: hashToken("tok") });
    expect([perToken.length, sha256(perToken)]).toEqual([
      130,
      "8fff5bce9037a94eb28cee70cb1aed2421b3cdc867ad12483239e9a610c1e46e",
    ]);
  });

  test("the cache key", () => {
    const base = "registry.local:5000";
    expect(renderCacheKey(base, ACCOUNT)).toBe(`0013${Buffer.from(base).toString("hex")}0032${ACCOUNT_HEX}`);
    expect(renderCacheKey("a", undefined)).toBe("0001610000");
  });

  test("annotations are sorted; parts longer than 65535 bytes are refused", () => {
    const one = renderServiceAccountKey({ ...ACCOUNT, annotations: { b: "2", a: "1" } });
    expect(one).toEqual(renderServiceAccountKey({ ...ACCOUNT, annotations: { a: "1", b: "2" } }));
    expect(() => renderCacheKey("x".repeat(65_536), undefined)).toThrow("longer than 65535");
  });

  test("the flight key is the image, or image, token and annotations", () => {
    expect(renderFlightKey("img")).toBe("img");
    expect(renderFlightKey("img", { tokenHash: "", annotations: {} })).toBe("0003696d67000000000000");
    expect(hashToken("")).toBe("");
  });

  test("the configuration hash", () => {
    expect(hashConfigFiles([Buffer.from("a: 1\n"), Buffer.from("b: 2\n")])).toBe(
      "sha256:05de0786e534681a21f557cbdf354750ea64e94c3b70032092ab5f3bed5492e2",
    );
  });

  test.each([
    [
      { username: "alice", password: "s3cret", email: "" },
      "84e602bef66066d26999b4f32a2afb963a80f8384d3cdf9145038d3c3da62d2b",
    ],
    [
      { username: "AWS", password: "p<a>&b", email: "" },
      "593202286f2c4129ba1e9078d24f5d18b5d06e75c29fc34e0679a0de00fb065d",
    ],
    [
      { username: "alice", password: "s3cret", email: "a@example.test" },
      "2c795b6327a4f25e8e910a51e8380670e659f49a538b35184f1dfb2bf358e45a",
    ],
    [{ username: "", password: "", email: "" }, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"],
  ])("the hash of %j", (credential, hash) => {
    expect(hashCredential(credential)).toBe(hash);
  });
});

describe("the credential cache", () => {
  const NOW = new Date("2026-01-01T00:00:00Z");
  const later = (ms: number) => new Date(NOW.getTime() + ms);
  const AUTH = { "reg.example": { username: "u", password: "p" } };
  const open = (keyType: "Image" | "Registry" | "Global") => {
    const cache = new CredentialCache("<global>", NOW);
    cache.store({ keyType, image: "reg.example/a", account: ACCOUNT, expiresAt: later(1000) }, AUTH);
    return (image: string, ms = 0, account: typeof ACCOUNT | undefined = ACCOUNT) =>
      cache.find(image, account, later(ms))?.keyType;
  };

  test("an entry is good for its image, registry or everything", () => {
    expect([open("Image")("reg.example/a"), open("Image")("reg.example/b")]).toEqual(["Image", undefined]);
    expect([open("Registry")("reg.example/b"), open("Registry")("other.example/a")]).toEqual(["Registry", undefined]);
    expect(open("Global")("other.example/a")).toBe("Global");
    expect(open("Global")("other.example/a", 0, { ...ACCOUNT, uid: "uid-2" })).toBeUndefined();
  });

  test("it serves up to and at the instant of expiry", () => {
    expect([open("Image")("reg.example/a", 1000), open("Image")("reg.example/a", 1001)]).toEqual(["Image", undefined]);
  });

  test.each([
    [undefined, 0, undefined],
    [undefined, 5000, 5000],
    [0, 5000, undefined],
    [7000, 5000, 7000],
    [-1000, 5000, -1000],
  ])("duration %s with default %s: kept for %s", (duration, fallback, kept) => {
    expect(decideExpiry(duration, fallback, NOW)).toEqual(kept === undefined ? undefined : later(kept));
  });
});

describe("the keyring", () => {
  test.each([
    ["https://index.docker.io/v1/", "index.docker.io/"],
    ["http://reg.example/v2/team", "reg.example/team"],
    ["reg.example/", "reg.example"],
    ["reg.example:5000/a/b", "reg.example:5000/a/b"],
    ["%zz", undefined],
  ])("key %s reduces to %s", (key, reduced) => {
    expect(reduceKey(key)).toBe(reduced === "index.docker.io/" ? "index.docker.io" : reduced);
  });

  test("longer paths before prefixes, literal hosts before globs, insertion order within a key", () => {
    const keyring = new Keyring();
    const source = { kind: "none" as const, name: "test" };
    const add = (key: string, username: string) => keyring.add(source, { [key]: { username, password: "" } });
    add("*.example", "glob");
    add("reg.example", "host");
    add("reg.example/a", "path");
    add("https://reg.example", "host-again");
    expect(keyring.find("reg.example/a/b").map(({ username }) => username)).toEqual([
      "path",
      "host",
      "host-again",
      "glob",
    ]);
    add("https://index.docker.io/v1/", "hub");
    expect(keyring.find("docker.io/library/nginx").map(({ username }) => username)).toEqual(["hub"]);
  });
});
