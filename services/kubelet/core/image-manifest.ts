// Image manifests and indexes as a runtime reads them: which child fits the node, which blobs belong to it.

/** A reference to content. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An image manifest, or an index with the child that fits `linux/amd64`. */
export type Manifest =
  | { readonly kind: "image"; readonly config: Descriptor; readonly layers: readonly Descriptor[] }
  | { readonly kind: "index"; readonly child: Descriptor | undefined };

/** What is asked for, in the order containerd lists it. */
export const MANIFEST_TYPES = [
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.oci.image.index.v1+json",
] as const;

/** A manifest that cannot be used. */
export class ManifestError extends Error {}

/**
 * Reads a manifest's bytes.
 * @throws ManifestError
 */
export function parseManifest(bytes: Buffer): Manifest {
  const root = fieldsOf(parseJson(bytes), "manifest");
  if (Array.isArray(root.manifests)) {
    const child = root.manifests.map((item) => fieldsOf(item, "manifests")).find(isForThisNode);
    return { kind: "index", child: child ? parseDescriptor(child) : undefined };
  }
  const layers = root.layers;
  if (root.config === undefined || !Array.isArray(layers))
    throw new ManifestError("neither an image manifest nor an index");
  return { kind: "image", config: parseDescriptor(root.config), layers: layers.map(parseDescriptor) };
}

/** Differs: the node is always linux/amd64, whatever machine this runs on, so that verdicts do not depend on it. */
function isForThisNode(child: Fields): boolean {
  const platform = fieldsOf(child.platform ?? {}, "platform");
  return platform.os === "linux" && platform.architecture === "amd64";
}

function parseDescriptor(value: unknown): Descriptor {
  const { mediaType, digest, size } = fieldsOf(value, "descriptor");
  if (typeof digest !== "string" || !/^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$/.test(digest)) {
    throw new ManifestError("a descriptor has no digest that can be checked");
  }
  if (typeof size !== "number" || !(size >= 0)) throw new ManifestError("a descriptor has no size");
  return { mediaType: typeof mediaType === "string" ? mediaType : "", digest, size };
}

type Fields = Readonly<Record<string, unknown>>;

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new ManifestError("manifest is no JSON", { cause });
  }
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value));
  throw new ManifestError(`${what} is no object`);
}
