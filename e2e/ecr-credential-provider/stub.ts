// A stub of STS, ECR and ECR public on one loopback port: it verifies nothing, records what a plugin asked and
// answers as told. It is the yardstick that both plugins are held against; the stack itself is tested elsewhere.
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";

/** What one request said, reduced to what both plugins must agree on. */
export interface StubCall {
  /** `sts:AssumeRoleWithWebIdentity`, `ecr:GetAuthorizationToken`, `ecr-public:GetAuthorizationToken` … */
  readonly operation: string;
  readonly parameters: unknown;
  /** Access key id that signed, or `unsigned`. */
  readonly signer: string;
  /** `<region>/<service>` of the signature's scope. */
  readonly scope: string | undefined;
  readonly sessionToken: string | undefined;
}

export interface StubAnswer {
  readonly status?: number;
  readonly contentType?: string;
  readonly body: string;
}

export interface Stub {
  readonly url: string;
  readonly calls: StubCall[];
  close(): Promise<void>;
}

const NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";

/** What the stub says when nothing else is told: a session for STS, `AWS:password` for six hours for ECR. */
export const ANSWERS = {
  "sts:AssumeRoleWithWebIdentity": () => ({
    contentType: "text/xml",
    body: `<AssumeRoleWithWebIdentityResponse xmlns="${NAMESPACE}"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIASESSION</AccessKeyId><SecretAccessKey>session-secret</SecretAccessKey><SessionToken>session-token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials><SubjectFromWebIdentityToken>s</SubjectFromWebIdentityToken></AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`,
  }),
  "ecr:GetAuthorizationToken": () => ecrAnswer([tokenData("AWS:password", 12 * 3600)]),
  "ecr-public:GetAuthorizationToken": () => ecrAnswer(tokenData("AWS:password", 12 * 3600)),
} satisfies Record<string, () => StubAnswer>;

/** One element of `authorizationData`. An even lifetime gives the same half of it for a second or so after this call. */
export function tokenData(plain: string, lifetimeSeconds: number): Record<string, unknown> {
  return {
    authorizationToken: Buffer.from(plain).toString("base64"),
    expiresAt: Date.now() / 1000 + lifetimeSeconds + 1,
  };
}

/** An answer of the ECR API with this `authorizationData`. */
export function ecrAnswer(authorizationData: unknown): StubAnswer {
  return { contentType: "application/x-amz-json-1.1", body: JSON.stringify({ authorizationData }) };
}

/** An error in the form of the AWS Query protocol. */
export function stsError(status: number, code: string, message: string): StubAnswer {
  const type = status < 500 ? "Sender" : "Receiver";
  const error = `<Error><Type>${type}</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
  const body = `<ErrorResponse xmlns="${NAMESPACE}">${error}<RequestId>r-1</RequestId></ErrorResponse>`;
  return { status, contentType: "text/xml", body };
}

/** Starts a stub; `answers` replaces single answers of `ANSWERS`; with a certificate it speaks TLS only. */
export async function startStub(
  answers: Readonly<Record<string, () => StubAnswer>> = {},
  certificate?: { readonly key: string; readonly cert: string },
): Promise<Stub> {
  const table: Record<string, () => StubAnswer> = { ...ANSWERS, ...answers };
  const calls: StubCall[] = [];
  const listener: http.RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const call = readCall(request, Buffer.concat(chunks).toString());
    calls.push(call);
    const answer = table[call.operation]?.() ?? { status: 404, body: "" };
    const headers = { "content-type": answer.contentType ?? "text/plain", "x-amzn-requestid": "r-1" };
    response.writeHead(answer.status ?? 200, headers).end(answer.body);
  };
  const server = certificate ? https.createServer(certificate, listener) : http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http${certificate ? "s" : ""}://localhost:${port}`, calls, close };
}

const TARGETS: Readonly<Record<string, string>> = {
  AmazonEC2ContainerRegistry_V20150921: "ecr",
  SpencerFrontendService: "ecr-public",
};

function readCall(request: http.IncomingMessage, body: string): StubCall {
  const scope = /Credential=([^/]+)\/\d+\/([^/]+\/[^/]+)\/aws4_request/.exec(request.headers.authorization ?? "");
  const token = request.headers["x-amz-security-token"];
  const signed = { signer: scope?.[1] ?? "unsigned", scope: scope?.[2], sessionToken: token?.toString() };
  const [target = "", action = ""] = (request.headers["x-amz-target"]?.toString() ?? "").split(".");
  if (target) return { operation: `${TARGETS[target] ?? target}:${action}`, parameters: JSON.parse(body), ...signed };
  const form = Object.fromEntries(new URLSearchParams(body));
  return { operation: `sts:${form.Action}`, parameters: form, ...signed };
}
