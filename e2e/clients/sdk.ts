// The AWS SDK for JavaScript on the stack's real host names: where clients that know only registries get their passwords.
import { CreateRepositoryCommand, ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { AssumeRoleWithWebIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { REGION, ROLE_A, type Stage } from "./stage.ts";

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };

async function settingsOf({ stack }: Stage) {
  return { region: REGION, requestHandler: new NodeHttpHandler({ httpsAgent: await stack.agent() }) };
}

async function passwordOf(stage: Stage, credentials: Credentials): Promise<string> {
  const ecr = new ECRClient({ ...(await settingsOf(stage)), credentials });
  const { authorizationData } = await ecr.send(new GetAuthorizationTokenCommand({}));
  const decoded = Buffer.from(authorizationData?.[0]?.authorizationToken ?? "", "base64").toString();
  return decoded.slice(decoded.indexOf(":") + 1);
}

/** Token → session named after the client → registry password, all as the ServiceAccount team-a/puller. */
export async function obtainTenantPassword(stage: Stage, client: string): Promise<string> {
  const { token } = await stage.stack.issuer("eks").mint({ namespace: "team-a", serviceAccount: "puller" });
  const { Credentials: session } = await new STSClient(await settingsOf(stage)).send(
    new AssumeRoleWithWebIdentityCommand({ RoleArn: ROLE_A, RoleSessionName: client, WebIdentityToken: token }),
  );
  return passwordOf(stage, {
    accessKeyId: session!.AccessKeyId!,
    secretAccessKey: session!.SecretAccessKey!,
    sessionToken: session!.SessionToken!,
  });
}

function ciCredentials({ ci }: Stage): Credentials {
  return { accessKeyId: ci.AWS_ACCESS_KEY_ID!, secretAccessKey: ci.AWS_SECRET_ACCESS_KEY! };
}

/** The registry password of the user who may push. */
export async function obtainPushPassword(stage: Stage): Promise<string> {
  return passwordOf(stage, ciCredentials(stage));
}

/** An empty repository of account 111122223333: a push into it finds no layer of its image there. */
export async function createRepository(stage: Stage, repositoryName: string): Promise<void> {
  const ecr = new ECRClient({ ...(await settingsOf(stage)), credentials: ciCredentials(stage) });
  await ecr.send(new CreateRepositoryCommand({ repositoryName }));
}
