// The operations of the registry, one name each, with what a challenge or a plain grant calls them.

/** Operation → the distribution action that a plain registry's grants are written in. */
export const REGISTRY_OPERATIONS = {
  Ping: "none",
  ListCatalog: "none",
  GetManifest: "pull",
  HeadManifest: "pull",
  GetBlob: "pull",
  HeadBlob: "pull",
  ListTags: "pull",
  ListReferrers: "pull",
  PutManifest: "push",
  StartUpload: "push",
  UploadChunk: "push",
  GetUpload: "push",
  CompleteUpload: "push",
  CancelUpload: "push",
  MountBlob: "push",
  DeleteManifest: "delete",
  DeleteBlob: "delete",
} as const;
