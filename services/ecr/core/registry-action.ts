// Which IAM action each operation of the registry needs (spec aws 4.5, 5.2).
import type { RegistryOperation } from "../types.ts";

/** `undefined`: anyone with a valid token. */
export const REGISTRY_ACTIONS: Readonly<Record<RegistryOperation, string | undefined>> = {
  Ping: undefined,
  ListCatalog: "ecr:DescribeRepositories",
  GetManifest: "ecr:BatchGetImage",
  HeadManifest: "ecr:BatchGetImage",
  PutManifest: "ecr:PutImage",
  DeleteManifest: "ecr:BatchDeleteImage",
  GetBlob: "ecr:GetDownloadUrlForLayer",
  // UNVERIFIED which of the read actions it is.
  HeadBlob: "ecr:BatchCheckLayerAvailability",
  // UNVERIFIED: ECR has no API that deletes a layer.
  DeleteBlob: "ecr:BatchDeleteImage",
  StartUpload: "ecr:InitiateLayerUpload",
  UploadChunk: "ecr:UploadLayerPart",
  GetUpload: "ecr:UploadLayerPart",
  CompleteUpload: "ecr:CompleteLayerUpload",
  // UNVERIFIED: there is no API that gives an upload up.
  CancelUpload: "ecr:UploadLayerPart",
  // The pull permission on the source is asked as GetBlob.
  MountBlob: "ecr:InitiateLayerUpload",
  ListTags: "ecr:ListImages",
  ListReferrers: "ecr:BatchGetImage",
};
