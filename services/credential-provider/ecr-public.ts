// ECR public, asked with the client of ECR: the same operation and wire protocol under another target and signing
// name, and with one object where ECR has a list. It saves a third SDK client for a single call.
import { ECRClient, type ECRClientConfig } from "@aws-sdk/client-ecr";

const REGION = "us-east-1";
const TARGET = "SpencerFrontendService.GetAuthorizationToken";

interface PublicClientOptions {
  /** The real service's unless told. */
  readonly endpoint: string | undefined;
  readonly requestHandler: NonNullable<ECRClientConfig["requestHandler"]>;
}

/** A client whose GetAuthorizationToken goes to ECR public and answers as ECR does. */
export function createPublicClient(options: PublicClientOptions): ECRClient {
  const client = new ECRClient({
    region: REGION,
    endpoint: options.endpoint ?? `https://api.ecr-public.${REGION}.amazonaws.com`,
    requestHandler: options.requestHandler,
    httpAuthSchemeProvider: () => [
      {
        schemeId: "aws.auth#sigv4",
        signingProperties: { signingName: "ecr-public", signingRegion: REGION },
        propertiesExtractor: (config, context) => ({ signingProperties: { config, context } }),
      },
    ],
  });
  client.middlewareStack.add(
    (next) => (args) => {
      if (hasHeaders(args.request)) args.request.headers["x-amz-target"] = TARGET;
      return next(args);
    },
    { step: "build", name: "askEcrPublic" },
  );
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      if (hasBody(result.response))
        Object.assign(result.response, { body: renderAsList(await readAll(result.response.body)) });
      return result;
    },
    { step: "deserialize", priority: "low", name: "readEcrPublic" },
  );
  return client;
}

function renderAsList(bytes: Buffer): Buffer {
  const text = bytes.toString();
  return Buffer.from(text.replace(/^(\s*\{\s*"authorizationData"\s*:\s*)(\{[^{}]*\})/, "$1[$2]"));
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function hasHeaders(request: unknown): request is { headers: Record<string, string> } {
  return typeof request === "object" && request !== null && "headers" in request;
}

function hasBody(response: unknown): response is { body: AsyncIterable<Uint8Array> } {
  if (typeof response !== "object" || response === null || !("body" in response)) return false;
  const { body } = response;
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
