// Building images from their layers: config, manifest (image-spec v1.1.1, config.md and manifest.md).
import type { Digest, StoredManifest } from "../types.ts";
import type { DigestAlgorithm } from "./digest.ts";
import type { Architecture } from "./elf.ts";
import { createJsonBlob, type SeedBlob } from "./layer.ts";
import { OCI_INDEX } from "./manifest.ts";
import { createManifest } from "./stored.ts";

interface SeedDescriptor {
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

const OCI: ImageTypes = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: OCI_INDEX,
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
};

const DOCKER: ImageTypes = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  index: "application/vnd.docker.distribution.manifest.list.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  layer: "application/vnd.docker.image.rootfs.diff.tar",
};

/** The media types of both families. */
export const IMAGE_TYPES = { oci: OCI, docker: DOCKER } as const;

/** How others refer to a blob. */
export function describe(blob: SeedBlob, mediaType: string): SeedDescriptor {
  return { mediaType, digest: blob.digest, size: blob.size };
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
