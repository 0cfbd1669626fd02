import { describe, expect, it } from "vitest";
import { digestOf } from "./digest.ts";
import { parseManifest } from "./manifest.ts";

const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const D = digestOf(Buffer.from("x"));
const config = { mediaType: "application/vnd.oci.image.config.v1+json", digest: D, size: 1 };
const image = { schemaVersion: 2, config, layers: [] };
const index = { schemaVersion: 2, manifests: [] };
const parse = (document: unknown, type?: string) => parseManifest(Buffer.from(JSON.stringify(document)), type, false);

describe("the media type of a manifest", () => {
  it.each([
    [image, IMAGE, IMAGE],
    [image, `${IMAGE}; charset=utf-8`, IMAGE],
    [{ ...image, mediaType: IMAGE }, undefined, IMAGE],
    [{ ...image, mediaType: IMAGE }, "application/octet-stream", IMAGE],
    [image, undefined, IMAGE],
    [index, undefined, INDEX],
  ])("%j sent as %s is %s", (document, header, expected) => expect(parse(document, header).mediaType).toBe(expected));
});

describe("a manifest is refused", () => {
  const allowed = (document: unknown, type = IMAGE) => expect(() => parse(document, type)).not.toThrow();
  it.each([
    ["not an object", [], image],
    ["layers and manifests at once", { ...image, manifests: [] }, image],
    ["another type in the field than in the header", { ...image, mediaType: INDEX }, { ...image, mediaType: IMAGE }],
    ["schemaVersion 1", { ...image, schemaVersion: 1 }, image],
    ["without config", { schemaVersion: 2, layers: [] }, image],
    ["without layers", { schemaVersion: 2, config }, image],
    ["a negative size", { ...image, config: { ...config, size: -1 } }, image],
    ["a broken size", { ...image, config: { ...config, size: 1.5 } }, image],
    ["an upper-case digest", { ...image, config: { ...config, digest: D.toUpperCase() } }, image],
    ["a wrong subject", { ...image, subject: { digest: "x", size: 1 } }, { ...image, subject: config }],
    [
      "data of another digest",
      { ...image, config: { ...config, data: "eQ==" } },
      { ...image, config: { ...config, data: "eA==" } },
    ],
    ["annotations that are no strings", { ...image, annotations: { a: 1 } }, { ...image, annotations: { a: "1" } }],
  ])("%s", (_name, document, twin) => {
    expect(() => parse(document, IMAGE)).toThrow(expect.objectContaining({ refusal: "manifest-invalid" }));
    allowed(twin);
  });
  it("an unknown media type, unless they are allowed", () => {
    const bytes = Buffer.from(JSON.stringify({ any: 1 }));
    expect(() => parseManifest(bytes, "application/x", false)).toThrow(/supported media type/);
    expect(parseManifest(bytes, "application/x", true).mediaType).toBe("application/x");
  });
  it("bytes that are not UTF-8", () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(() => parseManifest(bytes, IMAGE, false)).toThrow(/UTF-8/);
  });
});

it("leaves out what registries need not hold", () => {
  const layers = [
    { ...config, mediaType: "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip" },
    { ...config, mediaType: "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip" },
    { ...config, urls: ["https://example.test/x"] },
    { ...config, mediaType: "application/vnd.oci.image.layer.v1.tar" },
  ];
  expect(parse({ ...image, layers }).blobs).toHaveLength(2);
});

it.each([
  [{ ...image, artifactType: "a/b" }, "a/b"],
  [{ ...image, artifactType: "" }, config.mediaType],
  [image, config.mediaType],
  [index, undefined],
])("the artifact type of %j", (document, expected) => expect(parse(document).artifactType).toBe(expected));
