// From a parsed manifest to the value that stores keep.
import type { Digest, StoredManifest } from "../types.ts";
import { type DigestAlgorithm, digestOf } from "./digest.ts";
import { type ParsedManifest, parseManifest } from "./manifest.ts";

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

/** A document of ours as it would be stored after a push. */
export function createManifest(mediaType: string, document: unknown, algorithm?: DigestAlgorithm): StoredManifest {
  const bytes = Buffer.from(JSON.stringify(document));
  return toStoredManifest(parseManifest(bytes, mediaType, false), digestOf(bytes, algorithm), bytes);
}
