// Which identity asks ECR: the decision table of spec aws 1.2, column "v1.35.0 and later".
import type { CredentialProviderRequest, Identity } from "../types.ts";

/** The one annotation that counts; `eks.amazonaws.com/role-arn` does not. */
export const ROLE_ANNOTATION = "eks.amazonaws.com/ecr-role-arn";

/**
 * Decides from token, annotation and the environment's `AWS_ECR_ROLE_ARN`. Without a role it is the node that asks:
 * the real plugin fails open here, and so an annotation with an empty value switches the environment's role off.
 */
export function decideIdentity(request: CredentialProviderRequest, environmentRoleArn: string | undefined): Identity {
  if (request.serviceAccountToken === "") return { kind: "node", because: "no-token" };
  const annotations = request.serviceAccountAnnotations;
  const annotated = Object.hasOwn(annotations, ROLE_ANNOTATION) ? annotations[ROLE_ANNOTATION] : undefined;
  const roleArn = annotated ?? environmentRoleArn ?? "";
  return roleArn === "" ? { kind: "node", because: "no-role" } : { kind: "role", roleArn };
}
