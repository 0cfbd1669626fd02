// Building images in memory: layers, config, manifest, index (image-spec v1.1.1).
import type { Digest, StoredManifest } from "../types.ts";
import { type DigestAlgorithm, digestOfChunks } from "./digest.ts";
import { type Architecture, createProgram, type Ending } from "./elf.ts";
import { OCI_INDEX, parseManifest } from "./manifest.ts";
import { toStoredManifest } from "./stored.ts";
import { createTar } from "./tar.ts";

/** Bytes of a seed under their digest. */
export interface SeedBlob {
  readonly digest: Digest;
  readonly size: number;
  readonly chunks: readonly Buffer[];
}

export interface SeedDescriptor {
  readonly mediaType: string;
  readonly digest: Digest;
  readonly size: number;
}

export interface ImageTypes {
  readonly manifest: string;
  readonly index: string;
  readonly config: string;
  readonly layer: string;
}

export const OCI_TYPES: ImageTypes = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: OCI_INDEX,
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
};

export const DOCKER_TYPES: ImageTypes = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  index: "application/vnd.docker.distribution.manifest.list.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  layer: "application/vnd.docker.image.rootfs.diff.tar",
};

/** Bytes as a blob. */
export function createBlob(chunks: readonly Buffer[], algorithm: DigestAlgorithm = "sha256"): SeedBlob {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { digest: digestOfChunks(chunks, algorithm), size, chunks };
}

/** A value as a JSON blob. */
export function createJsonBlob(value: unknown, algorithm: DigestAlgorithm = "sha256"): SeedBlob {
  return createBlob([Buffer.from(JSON.stringify(value))], algorithm);
}

export function describe(blob: SeedBlob, mediaType: string): SeedDescriptor {
  return { mediaType, digest: blob.digest, size: blob.size };
}

/** A layer with one program `/app`. */
export function createProgramLayer(
  architecture: Architecture,
  ending: Ending,
  options: { readonly text: string; readonly algorithm?: DigestAlgorithm },
): SeedBlob {
  const program = createProgram(architecture, ending, options.text);
  return createBlob(createTar([{ name: "app", mode: 0o755, chunks: [program] }]), options.algorithm);
}

/** A layer with one data file. */
export function createDataLayer(name: string, chunks: readonly Buffer[]): SeedBlob {
  return createBlob(createTar([{ name, mode: 0o644, chunks }]));
}

/** An image's config; layers are uncompressed, so their digests are their diff ids. `label` makes the image id unique. */
export function createConfig(
  architecture: Architecture,
  layers: readonly SeedBlob[],
  options: { readonly label: string; readonly algorithm?: DigestAlgorithm },
): SeedBlob {
  const config = {
    Cmd: ["/app"],
    Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    WorkingDir: "/",
    Labels: { "pullproof.dev/seed": options.label },
  };
  const rootfs = { type: "layers", diff_ids: layers.map((layer) => layer.digest) };
  const created = "1970-01-01T00:00:00Z";
  return createJsonBlob({ created, architecture, os: "linux", config, rootfs }, options.algorithm);
}

/** The manifest of a config and its layers. */
export function createImageManifest(
  types: ImageTypes,
  config: SeedBlob,
  options: { readonly layers: readonly SeedBlob[]; readonly algorithm?: DigestAlgorithm },
): StoredManifest {
  const layers = options.layers.map((layer) => describe(layer, types.layer));
  const document = { schemaVersion: 2, mediaType: types.manifest, config: describe(config, types.config), layers };
  return createManifest(types.manifest, document, options.algorithm);
}

/** Any manifest document as it would be after a push. */
export function createManifest(mediaType: string, document: unknown, algorithm?: DigestAlgorithm): StoredManifest {
  const { digest, chunks } = createJsonBlob(document, algorithm);
  const bytes = Buffer.concat(chunks);
  return toStoredManifest(parseManifest(bytes, mediaType, false), digest, bytes);
}
