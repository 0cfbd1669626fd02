// The plugin proper: decides whose identity asks, takes a role at STS if there is one, and asks ECR or ECR public.
// One STS call and one ECR call a run; nothing is kept between runs.
import { ECRClient, type ECRClientConfig, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { AssumeRoleWithWebIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { createResponse } from "./core/authorization-token.ts";
import { decideIdentity } from "./core/identity.ts";
import { parseImageHost } from "./core/image-host.ts";
import { createPublicClient } from "./ecr-public.ts";
import { PluginError, renderFailedCall } from "./errors.ts";
import type { CredentialProviderRequest, CredentialProviderResponse, ImageHost, LogLine } from "./types.ts";

/** What a run needs beside the request; `main.ts` reads it from the environment. */
export interface ProviderOptions {
  readonly log: LogLine;
  readonly now: () => Date;
  /** `AWS_ECR_ROLE_ARN`: the role for ServiceAccounts without the annotation. */
  readonly environmentRoleArn: string | undefined;
  /** `AWS_EC2_METADATA_DISABLED`; only for the text that explains why no identity was found. */
  readonly metadataDisabled: boolean;
  /** Where ECR public answers; the real service unless told. */
  readonly publicEndpoint: string | undefined;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

type RequestHandler = NonNullable<ECRClientConfig["requestHandler"]>;

/** The role to take, when there is one; the request handler is shared so that one address needs one connection. */
interface RoleSession {
  readonly credentials: () => Promise<Credentials>;
  readonly requestHandler: RequestHandler;
}

// The real plugin gives each HTTP request 30 seconds (spec aws 1.1).
const REQUEST_HANDLER = { requestTimeout: 30_000, connectionTimeout: 30_000, throwOnRequestTimeout: true };
const NO_REGION =
  "No region found in the image reference, the default region will be used. Please refer to AWS SDK documentation for configuration purpose.";

/**
 * The credentials for one image.
 * @throws PluginError whose message is the real plugin's
 */
export async function getCredentials(
  request: CredentialProviderRequest,
  options: ProviderOptions,
): Promise<CredentialProviderResponse> {
  const host = parseImageHost(request.image);
  const session = createRoleSession(request, host, options);
  options.log(
    "I",
    host.kind === "public" ? "Getting creds for public registry" : `Getting creds for private image ${request.image}`,
  );
  const client = createClient(host, session?.requestHandler ?? REQUEST_HANDLER, options);
  useIdentity(client, session, options.metadataDisabled);
  const operation = `${host.kind === "public" ? "ECR PUBLIC" : "ECR"}: GetAuthorizationToken`;
  const output = await call(operation, () => client.send(new GetAuthorizationTokenCommand({})));
  return createResponse(host.host, output.authorizationData?.[0], options.now());
}

function createClient(host: ImageHost, requestHandler: RequestHandler, options: ProviderOptions): ECRClient {
  if (host.kind === "public") return createPublicClient({ endpoint: options.publicEndpoint, requestHandler });
  return new ECRClient({ requestHandler, ...regionOf(host, options.log) });
}

function createRoleSession(
  request: CredentialProviderRequest,
  host: ImageHost,
  options: ProviderOptions,
): RoleSession | undefined {
  const identity = decideIdentity(request, options.environmentRoleArn);
  if (identity.kind === "node") {
    if (identity.because === "no-role") {
      options.log("I", "no arn provided, cannot assume role using ServiceAccountToken");
    }
    return undefined;
  }
  const client = new STSClient({ requestHandler: REQUEST_HANDLER, ...regionOf(host, options.log) });
  askOnceOnIssuerFailure(client);
  return {
    credentials: () => assumeRole(client, identity.roleArn, request.serviceAccountToken),
    requestHandler: client.config.requestHandler,
  };
}

function regionOf({ region }: ImageHost, log: LogLine): { region?: string } {
  if (region !== undefined) return { region };
  log("W", NO_REGION);
  return {};
}

async function assumeRole(client: STSClient, roleArn: string, token: string): Promise<Credentials> {
  const input = { RoleArn: roleArn, RoleSessionName: "ecr-credential-provider", WebIdentityToken: token };
  const operation = "STS: AssumeRoleWithWebIdentity";
  const output = await call(operation, () => client.send(new AssumeRoleWithWebIdentityCommand(input))).catch(
    (error: Error) => {
      throw new PluginError(`failed to assume role: ${error.message}`);
    },
  );
  const { AccessKeyId, SecretAccessKey, SessionToken } = output.Credentials ?? {};
  if (AccessKeyId && SecretAccessKey && SessionToken) {
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  }
  // Differs: the real plugin dies of a nil pointer here, with exit code 2.
  throw new PluginError(`failed to assume role: operation error ${operation}, no credentials in the answer`);
}

// The SDK for JavaScript repeats IDPCommunicationError, the SDK for Go does not (spec aws 2.4).
function askOnceOnIssuerFailure(client: STSClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (error instanceof Error && error.name.startsWith("IDPCommunicationError")) {
          Object.assign(error, { $retryable: undefined });
        }
        throw error;
      }
    },
    { step: "finalizeRequest", priority: "low", name: "askOnceOnIssuerFailure" },
  );
}

// Puts the chosen identity into the client, and the real plugin's words around a failure to get one.
function useIdentity(client: ECRClient, session: RoleSession | undefined, metadataDisabled: boolean): void {
  const found = client.config.credentials;
  client.config.credentials = async (properties) => {
    try {
      return await (session ? session.credentials() : found(properties));
    } catch (error) {
      const reason = error instanceof PluginError ? error.message : explainNoIdentity(error, metadataDisabled);
      throw new PluginError(`get identity: get credentials: ${reason}`);
    }
  };
}

function explainNoIdentity(error: unknown, metadataDisabled: boolean): string {
  const refresh = "failed to refresh cached credentials";
  if (!(error instanceof Error)) return refresh;
  if (error.name !== "CredentialsProviderError") {
    return `${refresh}, failed to retrieve credentials, ${renderFailedCall("STS: AssumeRoleWithWebIdentity", error)}`;
  }
  if (!metadataDisabled) return `${refresh}, no EC2 IMDS role found, ${error.message}`;
  const why = 'access disabled to EC2 IMDS via client option, or "AWS_EC2_METADATA_DISABLED" environment variable';
  return `${refresh}, no EC2 IMDS role found, operation error ec2imds: GetMetadata, ${why}`;
}

async function call<T>(operation: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw new PluginError(renderFailedCall(operation, error));
  }
}
