// What the real AWS SDK for JavaScript signs must verify, and what we render it must read.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import type { CredentialResolver } from "./credential-resolver.ts";
import { JSON_CONTENT_TYPE, parseJsonCall, renderJsonAnswer, renderJsonError } from "./json.ts";
import { parseQueryCall, type QueryCall, renderQueryAnswer, renderQueryError } from "./query.ts";
import { type Verification, verifySignature } from "./sigv4.ts";
import { JSON_SIGNATURE_REFUSALS, QUERY_SIGNATURE_REFUSALS } from "./sigv4-refusals.ts";

const NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";
const ECR = "AmazonEC2ContainerRegistry_V20150921";
const KEY = {
  accessKeyId: "ASIABTX3GSDS2UISEM2E",
  secretAccessKey: "secret/of+the=session",
  sessionToken: "sealed+/==",
};
const PRINCIPAL = {
  kind: "root",
  accountId: "111122223333",
  arn: "arn:aws:iam::111122223333:root",
  userId: "111122223333",
} as const;

const resolver: CredentialResolver = {
  resolve: (id, token) =>
    id === KEY.accessKeyId && token === KEY.sessionToken
      ? { secretAccessKey: KEY.secretAccessKey, principal: PRINCIPAL, lineage: "chain" }
      : "unknown",
};

let server: Server;
let endpoint: string;
let calls: QueryCall[] = [];
/** Set to spoil what arrives, as a proxy in between might. */
let spoil: ((body: Buffer) => Buffer) | undefined;

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  calls = [];
  spoil = undefined;
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  const body = spoil?.(sent) ?? sent;
  const target = request.headers["x-amz-target"];
  const verification = verifySignature(
    { method: request.method!, rawPath: request.url!, rawHeaders: request.rawHeaders, body },
    { service: target ? "ecr" : "sts", resolver, now: systemClock.now() },
  );
  response.setHeader("x-amzn-RequestId", "request-1");
  if (target) answerJson(response, { verification, body, target: String(target) });
  else answerQuery(response, { verification, body, contentType: request.headers["content-type"] });
}

function answerJson(
  response: ServerResponse,
  { verification, body, target }: { verification: Verification; body: Buffer; target: string },
): void {
  response.setHeader("Content-Type", JSON_CONTENT_TYPE);
  if (!verification.ok) {
    const { code, status } = JSON_SIGNATURE_REFUSALS[verification.refusal];
    response.writeHead(status).end(renderJsonError({ code, message: verification.message }));
    return;
  }
  const call = parseJsonCall({ target, body }, ECR);
  const expiresAt = new Date("2026-01-31T12:00:00.500Z");
  response.end(
    renderJsonAnswer({
      authorizationData: [{ authorizationToken: call.operation, expiresAt, proxyEndpoint: undefined }],
    }),
  );
}

function answerQuery(
  response: ServerResponse,
  { verification, body, contentType }: { verification: Verification; body: Buffer; contentType: string | undefined },
): void {
  response.setHeader("Content-Type", "text/xml");
  const common = { namespace: NAMESPACE, requestId: "request-1" };
  if (!verification.ok) {
    const refusal = QUERY_SIGNATURE_REFUSALS[verification.refusal];
    response.writeHead(refusal.status).end(renderQueryError({ ...refusal, ...common, message: verification.message }));
    return;
  }
  const call = parseQueryCall({ rawPath: "/", contentType, body });
  calls.push(call);
  const { accountId, arn, userId } = verification.principal;
  const credentials = {
    AccessKeyId: "a",
    SecretAccessKey: "<s>&",
    SessionToken: "t",
    Expiration: new Date("2026-01-31T12:00:00.900Z"),
  };
  const result =
    call.action === "AssumeRole" ? { Credentials: credentials } : { Arn: arn, UserId: userId, Account: accountId };
  response.end(renderQueryAnswer({ action: call.action, ...common, result }));
}

const options = () => ({ endpoint, region: "us-west-2", credentials: KEY, maxAttempts: 1 });

test("STS: a signature on host:port verifies and the answer is read", async () => {
  const answer = await new STSClient(options()).send(new GetCallerIdentityCommand({}));
  expect(answer).toMatchObject({ Account: "111122223333", Arn: PRINCIPAL.arn, $metadata: { requestId: "request-1" } });
});

test("STS: lists, structures and instants make the round trip", async () => {
  const answer = await new STSClient(options()).send(
    new AssumeRoleCommand({
      RoleArn: "arn:aws:iam::111122223333:role/a",
      RoleSessionName: "s s+é",
      PolicyArns: [{ arn: "arn:aws:iam::111122223333:policy/one" }, { arn: "arn:aws:iam::111122223333:policy/two" }],
      Tags: [{ Key: "k&", Value: "v=" }],
      TransitiveTagKeys: ["k&"],
    }),
  );
  expect(answer.Credentials).toEqual({
    AccessKeyId: "a",
    SecretAccessKey: "<s>&",
    SessionToken: "t",
    Expiration: new Date("2026-01-31T12:00:00Z"),
  });
  expect(calls[0]!.text("RoleSessionName")).toBe("s s+é");
  expect(calls[0]!.structures("PolicyArns").map(({ arn }) => arn)).toEqual([
    "arn:aws:iam::111122223333:policy/one",
    "arn:aws:iam::111122223333:policy/two",
  ]);
  expect(calls[0]!.structures("Tags")).toEqual([{ Key: "k&", Value: "v=" }]);
  expect(calls[0]!.texts("TransitiveTagKeys")).toEqual(["k&"]);
});

test("STS: a body changed on the way is refused", async () => {
  spoil = (body) => Buffer.concat([body, Buffer.from("&RoleSessionName=x")]);
  await expect(new STSClient(options()).send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({
    name: "SignatureDoesNotMatch",
    $fault: "client",
    $metadata: { httpStatusCode: 403, requestId: "request-1" },
  });
});

test("STS: another session's token is refused", async () => {
  const credentials = { ...KEY, sessionToken: "other" };
  await expect(
    new STSClient({ ...options(), credentials }).send(new GetCallerIdentityCommand({})),
  ).rejects.toMatchObject({
    name: "InvalidClientTokenId",
    message: "The security token included in the request is invalid.",
  });
});

test("ECR: a signature verifies and instants are read", async () => {
  const answer = await new ECRClient(options()).send(new GetAuthorizationTokenCommand({}));
  expect(answer.authorizationData).toEqual([
    { authorizationToken: "GetAuthorizationToken", expiresAt: new Date("2026-01-31T12:00:00.500Z") },
  ]);
});

test("ECR: a wrong key is refused in JSON", async () => {
  const credentials = { ...KEY, secretAccessKey: "wrong" };
  await expect(
    new ECRClient({ ...options(), credentials }).send(new GetAuthorizationTokenCommand({})),
  ).rejects.toMatchObject({
    name: "InvalidSignatureException",
    $metadata: { httpStatusCode: 400 },
  });
});
