// From a parsed manifest to the value that stores keep.
import type { Digest, StoredManifest } from "../types.ts";
import type { ParsedManifest } from "./manifest.ts";

/** The manifest as a store keeps it: exact bytes, and what listing and typing later need of its content. */
export function toStoredManifest(parsed: ParsedManifest, digest: Digest, bytes: Buffer): StoredManifest {
  const { mediaType, subject, artifactType, annotations } = parsed;
  return {
    digest,
    bytes,
    mediaType,
    contents: [...parsed.blobs, ...parsed.children].map((content) => ({
      digest: content.digest,
      mediaType: content.mediaType,
    })),
    ...(subject === undefined ? {} : { subject }),
    ...(artifactType === undefined ? {} : { artifactType }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
