// A registry password by web identity, as a workload gets it: token, STS, ECR.
import { ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { AssumeRoleWithWebIdentityCommand, STSClient } from "@aws-sdk/client-sts";

/** What it takes of a stack, in process or elsewhere. */
export interface TokenStack {
  readonly http: string;
  issuer(name: string): {
    mint(request: { namespace: string; serviceAccount: string }): Promise<{ readonly token: string }>;
  };
}

/** Assumes the role with the ServiceAccount's token. @returns temporary credentials for SDK clients */
export async function assumeRole(stack: TokenStack, who: { namespace: string; serviceAccount: string; role: string }) {
  const { token } = await stack.issuer("eks").mint(pick(who));
  const sts = new STSClient({ region: "us-west-2", endpoint: stack.http, credentials: NOBODY, maxAttempts: 1 });
  try {
    const { Credentials } = await sts.send(
      new AssumeRoleWithWebIdentityCommand({ RoleArn: who.role, RoleSessionName: "e2e", WebIdentityToken: token }),
    );
    return {
      accessKeyId: Credentials?.AccessKeyId ?? "",
      secretAccessKey: Credentials?.SecretAccessKey ?? "",
      sessionToken: Credentials?.SessionToken ?? "",
    };
  } finally {
    sts.destroy();
  }
}

/** The password of user `AWS`. */
export async function fetchPassword(
  stack: TokenStack,
  who: { namespace: string; serviceAccount: string; role: string },
): Promise<string> {
  const credentials = await assumeRole(stack, who);
  const ecr = new ECRClient({ region: "us-west-2", endpoint: stack.http, credentials, maxAttempts: 1 });
  try {
    const { authorizationData } = await ecr.send(new GetAuthorizationTokenCommand({}));
    const decoded = Buffer.from(authorizationData?.[0]?.authorizationToken ?? "", "base64").toString("utf8");
    return decoded.slice(decoded.indexOf(":") + 1);
  } finally {
    ecr.destroy();
  }
}

/** AssumeRoleWithWebIdentity is not signed; the SDK wants something all the same. */
const NOBODY = { accessKeyId: "none", secretAccessKey: "none" };

function pick({ namespace, serviceAccount }: { namespace: string; serviceAccount: string }) {
  return { namespace, serviceAccount };
}
