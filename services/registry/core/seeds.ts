// The catalogue of seeds: images made on the spot, unique for registry, repository and tag unless sharing is their
// point (spec registry 6.3).
import { createCipheriv, createHash } from "node:crypto";
import type { StoredManifest } from "../types.ts";
import type { DigestAlgorithm } from "./digest.ts";
import type { Architecture, Ending } from "./elf.ts";
import { createConfig, createImageManifest, describe, IMAGE_TYPES, type ImageTypes } from "./image.ts";
import { createBlob, createDataLayer, createJsonBlob, createProgramLayer, type SeedBlob } from "./layer.ts";
import { createManifest } from "./stored.ts";

/** Where a seed is put; `identity` is what makes it unique. */
export interface SeedPlace {
  readonly identity: string;
  readonly sizeMiB: number;
}

/** Manifests in push order; those marked get the tag. */
export interface BuiltImage {
  readonly blobs: readonly SeedBlob[];
  readonly manifests: readonly { readonly manifest: StoredManifest; readonly tagged: boolean }[];
}

/** Seed → how it is built. */
export const SEEDS = {
  tiny: (place: SeedPlace) => program(place.identity, "exit"),
  pause: (place: SeedPlace) => program(place.identity, "pause"),
  multi: (place: SeedPlace) => multi(place.identity, IMAGE_TYPES.oci),
  "docker-v2": (place: SeedPlace) => multi(place.identity, IMAGE_TYPES.docker),
  same: () => program("same", "exit"),
  "shared-a": (place: SeedPlace) => shared(`a ${place.identity}`),
  "shared-b": (place: SeedPlace) => shared(`b ${place.identity}`),
  big,
  many,
  sha512: (place: SeedPlace) => program(place.identity, "exit", "sha512"),
  artifact,
  referrers,
  sparse,
} as const satisfies Record<string, (place: SeedPlace) => BuiltImage>;

function program(identity: string, ending: Ending, algorithm: DigestAlgorithm = "sha256"): BuiltImage {
  const layer = createProgramLayer("amd64", ending, { text: `pullproof: ${identity}\n`, algorithm });
  return image(identity, [layer], algorithm);
}

function image(identity: string, layers: readonly SeedBlob[], algorithm: DigestAlgorithm = "sha256"): BuiltImage {
  const config = createConfig("amd64", layers, { label: identity, algorithm });
  const manifest = createImageManifest(IMAGE_TYPES.oci, config, { layers, algorithm });
  return { blobs: [...layers, config], manifests: [{ manifest, tagged: true }] };
}

function multi(identity: string, types: ImageTypes): BuiltImage {
  const architectures: readonly Architecture[] = ["amd64", "arm64"];
  const parts = architectures.map((architecture) => {
    const layer = createProgramLayer(architecture, "exit", { text: `pullproof: ${identity} (${architecture})\n` });
    const config = createConfig(architecture, [layer], { label: identity });
    const manifest = createImageManifest(types, config, { layers: [layer] });
    const { digest, mediaType, bytes } = manifest;
    const entry = { mediaType, digest, size: bytes.length, platform: { architecture, os: "linux" } };
    return { blobs: [layer, config], manifest, entry };
  });
  const document = { schemaVersion: 2, mediaType: types.index, manifests: parts.map((part) => part.entry) };
  return {
    blobs: parts.flatMap((part) => part.blobs),
    manifests: [
      ...parts.map(({ manifest }) => ({ manifest, tagged: false })),
      { manifest: createManifest(types.index, document), tagged: true },
    ],
  };
}

function shared(identity: string): BuiltImage {
  const common = createProgramLayer("amd64", "exit", { text: "pullproof: common layer\n" });
  return image(identity, [common, createDataLayer("who", [Buffer.from(identity)])]);
}

function many({ identity }: SeedPlace): BuiltImage {
  const data = Array.from({ length: 29 }, (_, index) => createDataLayer(`data-${index}`, [noise(identity, index)]));
  const layer = createProgramLayer("amd64", "exit", { text: `pullproof: ${identity}\n` });
  return image(identity, [layer, ...data]);
}

function noise(identity: string, index: number): Buffer {
  return keystream(`${identity} ${index}`, 1024);
}

const PIECE = 256 * 1024;
const POOL = 8 * PIECE;

/**
 * A big layer costs little memory: it is a long sequence of views into one pool of noise, each starting elsewhere, so
 * that it neither compresses nor repeats with any period (a wrongly resumed download must not go unnoticed).
 */
function big({ identity, sizeMiB }: SeedPlace): BuiltImage {
  const pool = keystream(identity, POOL);
  const steps = keystream(`${identity} steps`, sizeMiB * 4 * 4);
  const views = Array.from({ length: sizeMiB * 4 }, (_, index) => {
    const start = steps.readUInt32LE(index * 4) % (POOL - PIECE);
    return pool.subarray(start, start + PIECE);
  });
  const layer = createProgramLayer("amd64", "exit", { text: `pullproof: ${identity}\n` });
  return image(identity, [layer, createDataLayer("data", views)]);
}

/** Reproducible noise: AES in counter mode over zeros, keyed by a name. */
function keystream(name: string, length: number): Buffer {
  const key = createHash("sha256").update(name).digest();
  return createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

const EMPTY_CONFIG = "application/vnd.oci.empty.v1+json";

function artifact({ identity }: SeedPlace): BuiltImage {
  const empty = createJsonBlob({});
  const content = createBlob([Buffer.from(`pullproof artifact: ${identity}\n`)]);
  const manifest = artifactManifest("application/vnd.pullproof.example.v1", empty, content);
  return { blobs: [empty, content], manifests: [{ manifest, tagged: true }] };
}

function artifactManifest(
  artifactType: string,
  empty: SeedBlob,
  content: SeedBlob,
  subject?: StoredManifest,
): StoredManifest {
  const { manifest: mediaType } = IMAGE_TYPES.oci;
  const refersTo = subject && { mediaType: subject.mediaType, digest: subject.digest, size: subject.bytes.length };
  return createManifest(mediaType, {
    schemaVersion: 2,
    mediaType,
    artifactType,
    config: describe(empty, EMPTY_CONFIG),
    layers: [describe(content, "text/plain")],
    ...(refersTo ? { subject: refersTo } : {}),
  });
}

function referrers({ identity }: SeedPlace): BuiltImage {
  const base = program(identity, "exit");
  const subject = base.manifests[0]?.manifest;
  const empty = createJsonBlob({});
  const kinds = ["signature", "sbom"].map((kind) => {
    const content = createBlob([Buffer.from(`pullproof ${kind} of ${identity}\n`)]);
    const manifest = artifactManifest(`application/vnd.pullproof.${kind}.v1`, empty, content, subject);
    return { content, manifest: { manifest, tagged: false } };
  });
  return {
    blobs: [...base.blobs, empty, ...kinds.map(({ content }) => content)],
    manifests: [...base.manifests, ...kinds.map(({ manifest }) => manifest)],
  };
}

/** An index one child of which was never pushed. */
function sparse({ identity }: SeedPlace): BuiltImage {
  const full = multi(identity, IMAGE_TYPES.oci);
  return { ...full, manifests: full.manifests.slice(1) };
}
