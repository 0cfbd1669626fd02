// For this room's tests: image manifests in as few words as possible.

/** The media type of OCI image manifests. */
export const IMAGE_TYPE = "application/vnd.oci.image.manifest.v1+json";

/** An image manifest document for blobs that are (or are not) in a repository. */
export function imageDocument(
  config: { digest: string; size: number },
  layers: readonly { digest: string; size: number }[],
  extra: Readonly<Record<string, unknown>> = {},
): Buffer {
  const describe = (blob: { digest: string; size: number }, mediaType: string) => ({ mediaType, ...blob });
  return Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: IMAGE_TYPE,
      config: describe(config, "application/vnd.oci.image.config.v1+json"),
      layers: layers.map((layer) => describe(layer, "application/vnd.oci.image.layer.v1.tar")),
      ...extra,
    }),
  );
}
