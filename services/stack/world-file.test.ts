import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { listManifestProblems } from "../apiserver/index.ts";
import { listPolicyProblems } from "../iam/index.ts";
import { ConfigurationError } from "../shared/errors.ts";
import { DEFAULT_WORLD } from "./default-world.ts";
import { readDefaultWorld } from "./default-world-read.ts";
import { loadWorld } from "./seed.ts";
import type { World } from "./types.ts";
import { parseWorldObject } from "./world.ts";
import type { WorldChecks } from "./world-context.ts";
import { WorldError } from "./world-error.ts";
import { parseWorld } from "./world-file.ts";

const KEYS: Record<string, string> = {
  "ec.pem": `${generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" })}`,
  "broken.pem": "-----BEGIN PRIVATE KEY-----\nnope\n-----END PRIVATE KEY-----\n",
};
const CHECKS: WorldChecks = {
  listManifestProblems,
  listPolicyProblems,
  resolvePath: (path) => `/worlds/${path}`,
  readKeyFile: (file) => {
    const text = KEYS[file.replace("/worlds/", "")];
    if (text === undefined) throw new Error("there is no such file");
    return text;
  },
};

const BASE = readFileSync(new URL("testdata/world.yaml", import.meta.url), "utf8");

/** The mistakes in a text; none if it is accepted. */
function mistakesOf(text: string, file = "w.yaml") {
  try {
    parseWorld(text, file, CHECKS);
    return [];
  } catch (error) {
    if (error instanceof WorldError) return error.mistakes;
    throw error;
  }
}

/** Line and column of the one occurrence of a mark. */
function placeOf(text: string, mark: string): { line: number; column: number } {
  const before = text.slice(0, text.indexOf(mark));
  return { line: before.split("\n").length, column: before.length - before.lastIndexOf("\n") };
}

/** A row of testdata/world-mistakes.yaml. */
interface Case {
  readonly what: string;
  readonly from: string;
  readonly bad: string;
  readonly good?: string;
  readonly at: string;
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

const CASES: Case[] = parse(readFileSync(new URL("testdata/world-mistakes.yaml", import.meta.url), "utf8"));

describe("a world file", () => {
  it("is accepted as it stands here", () => {
    expect(mistakesOf(BASE)).toEqual([]);
  });

  it.each(CASES)("may not hold $what", ({ from, bad, good, at, path, expected, found }) => {
    expect(BASE.split(from)).toHaveLength(2);
    const text = BASE.replace(from, () => bad);
    const [first, ...others] = mistakesOf(text);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ ...placeOf(text, at), path: expect.anything() });
    expect(first?.path.join(".")).toBe(path);
    expect(first?.expected).toMatch(new RegExp(expected));
    expect(first?.found).toMatch(new RegExp(found));
    expect(mistakesOf(BASE.replace(from, () => good ?? from))).toEqual([]);
  });

  it("lists all its mistakes at once, in the order of the file", () => {
    const text = BASE.replace("version: 1", "version: 3")
      .replace("seed: tiny", "seed: x")
      .replace("auth: basic", "auth: x");
    const lines = mistakesOf(text).map(({ line, path }) => [line, path.join(".")]);
    expect(lines).toEqual([
      [2, "version"],
      [22, "accounts.111122223333.repositories.team/app.images.0.seed"],
      [40, "registries.plain.auth"],
    ]);
  });

  it("names file, line, column, path, expected and found in its message", () => {
    expect(() => parseWorld(BASE.replace('"1.36"', "1.36"), "my/w.yaml", CHECKS)).toThrowError(
      "my/w.yaml: 1 mistake\n  my/w.yaml:31:16: cluster.nodes.node-1.version: expected one of 1.33, 1.34, 1.35, 1.36, 1.37, found the number 1.36 (put it in quotes)",
    );
  });

  it("never shows a secret", () => {
    const secret = "kind: Secret, type: kubernetes.io/dockerconfigjson, data: {.dockerconfigjson: hiddenSECRET}";
    const text = BASE.replace("0123456789abcdefSECRET", "shortSECRET")
      .replace("annsPassword", "[annsPassword]")
      .replace("kind: ServiceAccount", secret);
    expect(mistakesOf(text)).toHaveLength(3);
    expect(JSON.stringify(mistakesOf(text))).not.toMatch(/SECRET|annsPassword/);
  });

  it("reports what an anchor repeats once", () => {
    const bad = BASE.replace('{tag: "2", seed: big, sizeMiB: 4}', '&image {tag: "2", seed: wrong}').replace(
      "seed: pause}]",
      "seed: pause}, *image]",
    );
    expect(mistakesOf(bad)).toHaveLength(1);
  });

  it("reads an account id without quotes as it is written", () => {
    expect(mistakesOf(BASE.replace('"111122223333":', "111122223333:"))).toEqual([]);
    expect(
      parseWorld("version: 1\nissuers: {a: {url: 'https://a.test'}}\naccounts: {012345678901: {}}", "w").accounts[0]
        ?.id,
    ).toBe("012345678901");
  });
});

const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
for (const [index, name] of [..."bcdefg"].entries()) {
  bomb.push(`${name}: &${name} [${Array(10).fill(`*${"abcdef"[index]}`).join(", ")}]`);
}

const TEXTS: readonly [string, string, string, RegExp, RegExp, string][] = [
  ["two roles of one name", "roles:\n  a: 1\n  a: 2", "3:3", /each key once/, /second/, "roles"],
  ["two documents", "version: 1\n---\nversion: 1\n", "2:1", /one document/, /2 documents/, ""],
  ["a tab as indentation", "version: 1\nissuers:\n\ta: {}\n", "3:1", /spaces/, /a tab/, ""],
  ["no text", "", "1:1", /version: 1/, /an empty file/, ""],
  ["only comments", "# nothing\n", "1:1", /version: 1/, /no document/, ""],
  ["a list", "- a\n", "1:1", /a map/, /a list/, ""],
  ["a text", "hello\n", "1:1", /a map/, /a string/, ""],
  ["a bracket that stays open", "version: [1\n", "2:1", /YAML/, /\]/, ""],
  ["an alias without anchor", "version: *none\n", "1:10", /anchor/, /\*none/, ""],
  ["an alias of itself", "version: &a [*a]\n", "1:14", /finished/, /\*a inside &a/, ""],
  ["an alias bomb", bomb.join("\n"), "6:36", /repeat at most 1000000/, /\*e/, ""],
  ["a tag of its own", "version: !mine 1\n", "1:10", /without tags/, /mine/, ""],
  ["a map as a key", "{a: 1}: 2\n", "1:1", /a plain key/, /as a key/, ""],
  ["65 levels", `${"[".repeat(67)}${"]".repeat(67)}`, "1:66", /64 levels/, /deeper/, ""],
  ["100 000 open brackets", "[".repeat(100_000), "1:1", /64 levels/, /too deeply/, ""],
  ["more than 4 MiB", `#${"x".repeat(4 * 1024 * 1024)}`, "1:1", /at most 4194304 bytes/, /4194305 bytes/, ""],
];

describe("the text of a world file", () => {
  it.each(TEXTS)("may not be %s", (_what, text, place, expected, found) => {
    const mistakes = mistakesOf(text);
    const first = mistakes.find(({ line, column }) => `${line}:${column}` === place);
    expect(mistakes).toContain(first);
    expect(first?.expected).toMatch(expected);
    expect(first?.found).toMatch(found);
  });

  it("may use anchors, aliases, comments, JSON and a byte order mark", () => {
    expect(
      mistakesOf(BASE.replace("images: [{tag", "images: &i [{tag").replace('[{tag: "1", seed: pause}]', "*i")),
    ).toEqual([]);
    expect(mistakesOf(`\uFEFF# ours\n${BASE}`)).toEqual([]);
    expect(mistakesOf(JSON.stringify(parse(BASE, { stringKeys: true })))).toEqual([]);
  });

  it("may use one anchor often", () => {
    const images = Array.from({ length: 500 }, (_, index) => `r${index}/x: {images: *i}`).join(", ");
    const text = BASE.replace("images: [{tag", "images: &i [{tag").replace(
      "repositories: {pub",
      `repositories: {${images}, pub`,
    );
    expect(mistakesOf(text)).toEqual([]);
  });

  it("never makes the parser fail in another way", () => {
    fc.assert(
      fc.property(fc.nat(BASE.length), fc.nat(40), fc.string({ maxLength: 5 }), (start, length, text) => {
        expect(Array.isArray(mistakesOf(BASE.slice(0, start) + text + BASE.slice(start + length)))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a parsed world", () => {
  const world: World = parseWorld(BASE, "w.yaml", CHECKS);

  it("has every part in its final form", () => {
    expect(world.source).toBe("w.yaml");
    expect(world.issuers[1]).toEqual({
      name: "other",
      url: "https://other.test",
      alg: "RS256",
      foreign: { trust: "fetch" },
    });
    const [account] = world.accounts;
    expect(account?.iam.oidcProviders?.[0]?.url).toBe("https://oidc.test/a");
    expect(account?.repositories["team/app"]).toMatchObject({ region: "eu-west-1", tags: {} });
    expect(world.cluster.nodes[0]).toMatchObject({
      name: "node-1",
      pluginDirectory: "/worlds/plugins",
      preloadedImages: [],
    });
    expect(world.switches).toMatchObject({ httpIssuers: false, ecrQuirks: true });
  });

  it("reads key files", () => {
    const text = BASE.replace("alg: ES256", "alg: ES256, key: {file: ec.pem}");
    expect(parseWorld(text, "w", CHECKS).issuers[0]?.key).toEqual({ pem: KEYS["ec.pem"] });
  });

  it("has defaults for what is left out", () => {
    const small = parseWorld("version: 1\nissuers: {a: {url: 'https://a.test'}}", "w");
    expect(small).toMatchObject({ region: "us-east-1", accounts: [], registries: [], tenants: [] });
    expect(small.cluster).toEqual({ issuer: "a", objects: [], nodes: [] });
  });

  it("puts namespaced objects without namespace into default", () => {
    const text = BASE.replace("{namespace: team, name: puller}", "{name: puller}");
    expect(parseWorld(text, "w", CHECKS).cluster.objects[1]?.metadata.namespace).toBe("default");
  });
});

describe("the default world", () => {
  it("is the same as YAML and as a value", () => {
    const text = readFileSync(new URL("default-world.yaml", import.meta.url), "utf8");
    expect(DEFAULT_WORLD).toEqual(parse(text, { stringKeys: true }));
  });

  it("has no mistake, in either form", async () => {
    const world = await loadWorld();
    const file = new URL("default-world.yaml", import.meta.url).pathname;
    expect(world.source).toBe("default world");
    expect(await loadWorld(file)).toEqual({ ...world, source: file });
    expect(parseWorldObject(DEFAULT_WORLD, CHECKS)).toEqual({ ...world, source: "world object" });
    // the build carries it as JSON
    expect(JSON.parse(JSON.stringify(readDefaultWorld()))).toEqual(readDefaultWorld());
    expect(readDefaultWorld()).toEqual({ ...world, source: "default world" });
  });
});

describe("a world that cannot be loaded", () => {
  it.each([
    ["is not there", "/nowhere/world.yaml", /no such file/],
    ["is a directory", new URL(".", import.meta.url).pathname, /directory/],
    ["has a file in its path", `${new URL(import.meta.url).pathname}/x`, /no directory/],
  ])("because it %s", async (_what, file, why) => {
    const error = await loadWorld(file).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringMatching(why), hint: expect.stringMatching(/--world/) });
  });

  it("because it is an object with a mistake, which has no line", async () => {
    const error = await loadWorld({ version: 1, issuers: {} }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      message: "world object: 1 mistake\n  world object: issuers: expected at least one issuer, found an empty map",
    });
  });
});
