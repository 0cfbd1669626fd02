// The AWS SDK for JavaScript against STS and ECR over HTTPS with the stack's CA: by endpoint, and by real host names.

import https from "node:https";
import {
  CreateRepositoryCommand,
  DescribeRepositoriesCommand,
  ECRClient,
  GetAuthorizationTokenCommand,
} from "@aws-sdk/client-ecr";
import { AssumeRoleWithWebIdentityCommand, GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { describe, expect, it } from "vitest";
import { startStack } from "../../services/testing/index.ts";

const ROLE_A = "arn:aws:iam::111122223333:role/team-a-pull";
const CI = { accessKeyId: "AKIABTX3GSDS2UISEM2E", secretAccessKey: "pullproofExampleSecretKeyOfAccount111122" };

describe("AWS SDK for JavaScript over HTTPS", () => {
  it.each(["endpoint", "real host names"])("goes from token to registry password by %s", async (by) => {
    await using stack = await startStack();
    const region = "us-west-2";
    const agent = by === "endpoint" ? new https.Agent({ ca: await stack.caPem() }) : await stack.agent();
    const settings = {
      region,
      requestHandler: new NodeHttpHandler({ httpsAgent: agent }),
      ...(by === "endpoint" ? { endpoint: stack.https } : {}),
    };
    const { token } = await stack.issuer("eks").mint({ namespace: "team-a", serviceAccount: "puller" });
    const anonymous = new STSClient(settings);
    const assume = (WebIdentityToken: string) =>
      anonymous.send(
        new AssumeRoleWithWebIdentityCommand({ RoleArn: ROLE_A, RoleSessionName: "sdk", WebIdentityToken }),
      );
    const session = await assume(token);
    expect(session.$metadata.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(session.Provider).toBe(
      "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9",
    );
    const { token: expired } = await stack
      .issuer("eks")
      .mint({ namespace: "team-a", serviceAccount: "puller", bad: "expired" });
    await expect(assume(expired)).rejects.toMatchObject({ name: "ExpiredTokenException" });

    const credentials = {
      accessKeyId: session.Credentials!.AccessKeyId!,
      secretAccessKey: session.Credentials!.SecretAccessKey!,
      sessionToken: session.Credentials!.SessionToken!,
    };
    const who = await new STSClient({ ...settings, credentials }).send(new GetCallerIdentityCommand({}));
    expect(who.Arn).toBe("arn:aws:sts::111122223333:assumed-role/team-a-pull/sdk");
    const wrong = new STSClient({ ...settings, credentials: { ...credentials, secretAccessKey: "x" } });
    await expect(wrong.send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({ name: "SignatureDoesNotMatch" });

    const ecr = new ECRClient({ ...settings, credentials });
    const password = await ecr.send(new GetAuthorizationTokenCommand({}));
    const [data] = password.authorizationData ?? [];
    expect(data?.proxyEndpoint).toBe("https://111122223333.dkr.ecr.us-west-2.amazonaws.com");
    const pull = await stack.fetch(`${data?.proxyEndpoint}/v2/team-a/app/manifests/1`, {
      headers: { authorization: `Basic ${data?.authorizationToken}` },
    });
    expect(pull.status).toBe(200);

    const create = (client: ECRClient) => client.send(new CreateRepositoryCommand({ repositoryName: "team-a/new" }));
    await expect(create(ecr)).rejects.toMatchObject({ name: "AccessDeniedException" });
    const ci = new ECRClient({ ...settings, credentials: CI });
    expect((await create(ci)).repository?.repositoryUri).toBe(
      "111122223333.dkr.ecr.us-west-2.amazonaws.com/team-a/new",
    );
    const described = await ci.send(new DescribeRepositoriesCommand({ repositoryNames: ["team-a/new"] }));
    expect(described.repositories).toHaveLength(1);
  });
});
