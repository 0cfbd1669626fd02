// The operations of the registry, one name each: what they are called in grants, and which route and method asks for them.

/** Operation → the distribution action that a plain registry's grants are written in. */
export const REGISTRY_OPERATIONS = {
  Ping: "none",
  ListCatalog: "pull",
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

type Operation = keyof typeof REGISTRY_OPERATIONS;

/** Resource → method → operation. What is missing here is answered with 405 and `Allow`. */
export const METHODS = {
  base: { GET: "Ping", HEAD: "Ping" },
  catalog: { GET: "ListCatalog", HEAD: "ListCatalog" },
  extensions: { GET: "Ping", HEAD: "Ping" },
  uploads: { POST: "StartUpload" },
  session: { GET: "GetUpload", HEAD: "GetUpload", PATCH: "UploadChunk", PUT: "CompleteUpload", DELETE: "CancelUpload" },
  blob: { GET: "GetBlob", HEAD: "HeadBlob", DELETE: "DeleteBlob" },
  manifest: { GET: "GetManifest", HEAD: "HeadManifest", PUT: "PutManifest", DELETE: "DeleteManifest" },
  tags: { GET: "ListTags", HEAD: "ListTags" },
  referrers: { GET: "ListReferrers", HEAD: "ListReferrers" },
  unknown: {},
} as const satisfies Record<string, Readonly<Record<string, Operation>>>;

export type ResourceKind = keyof typeof METHODS;

/**
 * The operation that a method on a resource asks for, or undefined (405, or 404 where the resource is unknown).
 * @param mounting true for a POST with `mount=`
 */
export function findOperation(kind: ResourceKind, method: string, mounting: boolean): Operation | undefined {
  const methods: Readonly<Record<string, Operation>> = METHODS[kind];
  const operation = Object.hasOwn(methods, method) ? methods[method] : undefined;
  return operation === "StartUpload" && mounting ? "MountBlob" : operation;
}
