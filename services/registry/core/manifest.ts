// Reading a pushed manifest: everything that can be said about it without looking at other content (image-spec v1.1.1,
// manifest.md and image-index.md; spec registry 1.9 steps 4 to 7).
import { RegistryError } from "../errors.ts";
import { type Descriptor, isRecord, parseDescriptor, parseDescriptors } from "./descriptor.ts";

/** Media types that are accepted, and what they are. */
export const MANIFEST_TYPES = {
  "application/vnd.oci.image.manifest.v1+json": "image",
  "application/vnd.oci.image.index.v1+json": "index",
  "application/vnd.docker.distribution.manifest.v2+json": "image",
  "application/vnd.docker.distribution.manifest.list.v2+json": "index",
} as const;

export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const OCI_IMAGE = "application/vnd.oci.image.manifest.v1+json";

/** A manifest that passed every check of form. */
export interface ParsedManifest {
  readonly mediaType: string;
  /** Blobs that must be in the repository. */
  readonly blobs: readonly Descriptor[];
  /** Manifests that must be in the repository. */
  readonly children: readonly Descriptor[];
  readonly subject: string | undefined;
  /** As referrers lists give it: the manifest's own, else the config's media type of an image. */
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/**
 * Parses a manifest body.
 * @param contentType the request's `Content-Type`, parameters included
 * @param allowUnknown accept other media types, their descriptors unchecked
 * @throws RegistryError manifest-invalid
 */
export function parseManifest(bytes: Buffer, contentType: string | undefined, allowUnknown: boolean): ParsedManifest {
  const document = parseDocument(bytes);
  if (document.layers !== undefined && document.manifests !== undefined) {
    throw invalid("expected either layers or manifests, found both");
  }
  const mediaType = decideMediaType(document, contentType);
  const known: Readonly<Record<string, "image" | "index">> = MANIFEST_TYPES;
  const kind = known[mediaType];
  if (!kind && !allowUnknown) throw invalid(`expected a supported media type, found ${JSON.stringify(mediaType)}`);
  if (kind && document.schemaVersion !== 2) {
    throw invalid(`expected schemaVersion 2, found ${JSON.stringify(document.schemaVersion)}`);
  }
  const subject = document.subject === undefined ? undefined : parseDescriptor(document.subject, "subject");
  const config = kind === "image" ? parseDescriptor(document.config, "config") : undefined;
  const layers = kind === "image" ? parseDescriptors(document.layers, "layers") : [];
  const children = kind === "index" ? parseDescriptors(document.manifests, "manifests") : [];
  const ownType = document.artifactType;
  return {
    mediaType,
    blobs: config ? [config, ...layers.filter((layer) => !isForeign(layer))] : [],
    children,
    subject: subject?.digest,
    artifactType: typeof ownType === "string" && ownType !== "" ? ownType : config?.mediaType,
    annotations: parseAnnotations(document.annotations),
  };
}

function parseDocument(bytes: Buffer): Record<string, unknown> {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw new RegistryError("manifest-invalid", "expected a JSON object in UTF-8, found something else", { cause });
  }
  if (!isRecord(document)) throw invalid("expected a JSON object");
  return document;
}

/** Header and `mediaType` field must agree; with neither, the members tell (spec registry 1.9 step 5). */
function decideMediaType(document: Record<string, unknown>, contentType: string | undefined): string {
  const header = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  const field = document.mediaType;
  if (field !== undefined && typeof field !== "string") throw invalid("expected mediaType to be a string");
  const given = header === "" || header === "application/octet-stream" ? undefined : header;
  if (given && field && given !== field) {
    throw invalid(`expected Content-Type and mediaType to agree, found ${given} and ${field}`);
  }
  if (given ?? field) return given ?? field ?? "";
  if (document.manifests !== undefined) return OCI_INDEX;
  if (document.config !== undefined || document.layers !== undefined) return OCI_IMAGE;
  throw invalid("expected a media type in Content-Type or mediaType, found none");
}

/** Layers that registries need not hold: non-distributable ones and those that name other places to fetch from. */
function isForeign(layer: Descriptor): boolean {
  return layer.hasUrls || /\.nondistributable\.|\.foreign\./.test(layer.mediaType);
}

function parseAnnotations(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) throw invalid("expected annotations to be an object of strings");
  const annotations: Record<string, string> = {};
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== "string") throw invalid(`expected annotation ${JSON.stringify(key)} to be a string`);
    annotations[key] = text;
  }
  return annotations;
}

function invalid(message: string): RegistryError {
  return new RegistryError("manifest-invalid", message);
}
