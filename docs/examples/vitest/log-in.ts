// Your own code would stand here: something that logs in to ECR with a ServiceAccount token. The AWS SDK needs no more
// than the endpoint to talk to the stack.
import { ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { AssumeRoleWithWebIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Stack } from "pullproof";

/** An `Authorization` header for the registry. */
export async function logInWithToken(stack: Stack, who: { token: string; roleArn: string }): Promise<string> {
  const settings = { region: stack.sts.region, endpoint: stack.sts.endpoint };
  const { Credentials } = await new STSClient(settings).send(
    new AssumeRoleWithWebIdentityCommand({
      RoleArn: who.roleArn,
      RoleSessionName: "example",
      WebIdentityToken: who.token,
    }),
  );
  const credentials = {
    accessKeyId: Credentials?.AccessKeyId ?? "",
    secretAccessKey: Credentials?.SecretAccessKey ?? "",
    sessionToken: Credentials?.SessionToken ?? "",
  };
  const ecr = new ECRClient({ ...settings, credentials });
  const { authorizationData } = await ecr.send(new GetAuthorizationTokenCommand({}));
  return `Basic ${authorizationData?.[0]?.authorizationToken}`;
}
