// Seeds: pullable as a runtime would pull them, unique per place, free until they are asked for.
import { describe, expect, it } from "vitest";
import { digestOf, digestOfChunks } from "./core/digest.ts";
import { createPlainAuth } from "./plain-auth.ts";
import { type Rig, startRig } from "./rig.ts";
import { createSeedImage, SEED_NAMES } from "./seed-image.ts";

const auth = () => createPlainAuth({ auth: "none", repositories: { one: {}, two: {} } });
const open = () => {
  const { authenticator, authorizer, directory } = auth();
  return startRig({ authenticator, authorizer, directory });
};
interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** Pulls everything below a reference and checks every digest and size; returns the digests of all blobs. */
async function pull(rig: Rig, repository: string, reference: string): Promise<string[]> {
  const { body, headers, status } = await rig.ask("GET", `/v2/${repository}/manifests/${reference}`);
  expect(status).toBe(200);
  const own = String(headers["docker-content-digest"]);
  expect(digestOf(body, own.startsWith("sha512") ? "sha512" : "sha256")).toBe(own);
  const manifest = JSON.parse(body.toString());
  expect(headers["content-type"]).toBe(manifest.mediaType);
  if (manifest.manifests) {
    const children = manifest.manifests.map(({ digest }: Descriptor) => pull(rig, repository, digest));
    return (await Promise.all(children)).flat();
  }
  const blobs: Descriptor[] = [manifest.config, ...manifest.layers];
  for (const { digest, size } of blobs) {
    const blob = await rig.ask("GET", `/v2/${repository}/blobs/${digest}`);
    expect(blob.body.length).toBe(size);
    expect(digestOf(blob.body, digest.startsWith("sha512") ? "sha512" : "sha256")).toBe(digest);
  }
  return blobs.map(({ digest }) => digest);
}

describe("every seed", () => {
  it.each(SEED_NAMES.filter((seed) => seed !== "sparse"))("%s can be pulled whole", async (seed) => {
    await using rig = await open();
    rig.registry.seedImage("one", "1", createSeedImage({ seed, sizeMiB: 1 }));
    expect((await pull(rig, "one", "1")).length).toBeGreaterThan(1);
    expect(JSON.parse((await rig.ask("GET", "/v2/one/tags/list")).text).tags).toEqual(["1"]);
  });
  it("but sparse, which lacks a child", async () => {
    await using rig = await open();
    rig.registry.seedImage("one", "1", createSeedImage({ seed: "sparse" }));
    const { manifests } = JSON.parse((await rig.ask("GET", "/v2/one/manifests/1")).text);
    const answers = manifests.map(({ digest }: Descriptor) => rig.ask("GET", `/v2/one/manifests/${digest}`));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 200]);
  });
  it.each(SEED_NAMES)("%s differs by place, unless sharing is its point", (seed) => {
    const image = createSeedImage({ seed, sizeMiB: 1 });
    const digests = (identity: string) => image.build(identity).blobs.map(({ digest }) => digest);
    const [one, two] = [digests("r/one:1"), digests("r/two:1")];
    const common = one.filter((digest) => two.includes(digest)).length;
    const expected = { same: one.length, "shared-a": 1, "shared-b": 1, artifact: 1, referrers: 1 } as Record<
      string,
      number
    >;
    expect(common).toBe(expected[seed] ?? 0);
    expect(digests("r/one:1")).toEqual(one);
  });
});

it("diff ids are the digests of the layers, which are archives", () => {
  const { blobs } = createSeedImage({ seed: "tiny" }).build("x");
  const [layer, config] = blobs.map(({ chunks }) => Buffer.concat(chunks));
  expect(JSON.parse(config?.toString() ?? "").rootfs.diff_ids).toEqual([digestOf(layer!)]);
  expect(layer?.toString("latin1", 257, 263)).toBe("ustar\0");
  expect(layer?.length).toBe(2048);
  const sum = layer!.subarray(0, 512).reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  expect(Number.parseInt(layer!.toString("latin1", 148, 154), 8)).toBe(sum);
  expect(layer?.toString("latin1", 512, 516)).toBe("\x7fELF");
});

it("big has its size, no period, and little memory", () => {
  const { blobs } = createSeedImage({ seed: "big", sizeMiB: 64 }).build("x");
  const big = blobs[1]!;
  expect(big.size).toBe(64 * 1024 * 1024 + 512 + 1024);
  expect(big.digest).toBe(digestOfChunks(big.chunks, "sha256"));
  expect(new Set(big.chunks.map(({ buffer }) => buffer)).size).toBeLessThan(5);
  const megabyte = Buffer.concat(big.chunks.slice(1, 5));
  const next = Buffer.concat(big.chunks.slice(5, 9));
  expect(megabyte.equals(next)).toBe(false);
});

describe("a registry's seeds", () => {
  it("cost nothing at the start, and are there for everyone who comes at once", async () => {
    await using rig = await open();
    let built = 0;
    const { seed, build } = createSeedImage({ seed: "tiny" });
    rig.registry.seedImage("one", "1", {
      seed,
      build: (identity) => {
        built += 1;
        return build(identity);
      },
    });
    expect(built).toBe(0);
    expect(await rig.registry.names()).toEqual(["one"]);
    const answers = await Promise.all(Array.from({ length: 5 }, () => rig.ask("GET", "/v2/one/manifests/1")));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(built).toBe(1);
  });
  it("come back on reset, pushes do not; a removed repository is gone until then", async () => {
    await using rig = await open();
    rig.registry.seedImage("one", "1", createSeedImage({ seed: "tiny" }));
    await rig.pushImage("one", "pushed");
    const status = async (tag: string) => (await rig.ask("GET", `/v2/one/manifests/${tag}`)).status;
    expect([await status("1"), await status("pushed")]).toEqual([200, 200]);
    rig.registry.reset();
    expect([await status("1"), await status("pushed")]).toEqual([200, 404]);
    await rig.registry.removeRepository("one");
    expect(await status("1")).toBe(404);
    rig.registry.reset();
    expect(await status("1")).toBe(200);
  });
  it("are refused under an unknown name or size", () => {
    expect(() => createSeedImage({ seed: "huge" })).toThrow(/expected a seed \(tiny, pause, .*\), found "huge"/);
    expect(() => createSeedImage({ seed: "big", sizeMiB: 0 })).toThrow(/from 1 to 4096/);
  });
});
