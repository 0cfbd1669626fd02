// The referrers of a digest as an OCI index (distribution-spec v1.1.1, "Listing Referrers").
import type { StoredManifest } from "../types.ts";
import { OCI_INDEX } from "./manifest.ts";

/** An index of the manifests that refer to a subject, in push order; with `artifactType`, only those of that type. */
export function renderReferrers(referrers: readonly StoredManifest[], artifactType: string | undefined): Buffer {
  const manifests = referrers
    .filter((manifest) => artifactType === undefined || manifest.artifactType === artifactType)
    .map(({ mediaType, bytes, digest, artifactType: type, annotations }) => ({
      mediaType,
      size: bytes.length,
      digest,
      ...(type === undefined ? {} : { artifactType: type }),
      ...(annotations === undefined ? {} : { annotations }),
    }));
  return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests }));
}
