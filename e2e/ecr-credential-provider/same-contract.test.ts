// Our plugin and the unmodified ecr-credential-provider, side by side against one stub: same requests, same answer,
// same words, same exit code. Cases 56 to 60 of the specification, and what can go wrong.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../services/shared/clock.ts";
import { systemRandom } from "../../services/shared/random.ts";
import { createCertificateAuthority } from "../../services/shared/tls.ts";
import { findOurPlugin, findRealPlugin, type PluginRun, runPlugin } from "./run-plugin.ts";
import { ecrAnswer, type StubAnswer, type StubCall, startStub, stsError, tokenData } from "./stub.ts";

const HOST = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
const IMAGE = `${HOST}/team-a/app`;
const ROLE = "arn:aws:iam::111122223333:role/team-a-pull";
const ANNOTATED = { serviceAccountAnnotations: { "eks.amazonaws.com/ecr-role-arn": ROLE } };
const POD = { image: IMAGE, serviceAccountToken: "header.payload.signature", ...ANNOTATED };
const UNANNOTATED = { image: IMAGE, serviceAccountToken: "header.payload.signature" };
const NODE_KEYS = { AWS_ACCESS_KEY_ID: "AKIANODE", AWS_SECRET_ACCESS_KEY: "node-secret" };
const STS = "sts:AssumeRoleWithWebIdentity";
const ECR = "ecr:GetAuthorizationToken";

interface Case {
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly request?: object;
  /** Instead of `request`: raw bytes on standard input. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly answers?: Readonly<Record<string, () => StubAnswer>>;
  readonly args?: readonly string[];
}

interface Outcome extends PluginRun {
  readonly calls: readonly StubCall[];
}

const ours = await findOurPlugin();
const real = findRealPlugin();
const folder = mkdtempSync(join(tmpdir(), "pullproof-contract-"));

function renderRequest(request: object, apiVersion = "credentialprovider.kubelet.k8s.io/v1"): string {
  return `${JSON.stringify({ kind: "CredentialProviderRequest", apiVersion, ...request })}\n`;
}

async function run(path: string, { tls, request, input, environment, answers, args }: Case): Promise<Outcome> {
  const stub = await startStub(answers, tls);
  try {
    const base = {
      PATH: "/usr/bin:/bin",
      HOME: folder,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_ENDPOINT_URL: stub.url,
      AWS_ENDPOINT_URL_STS: stub.url,
    };
    const outcome = await runPlugin(path, input ?? renderRequest(request ?? POD), { ...base, ...environment }, args);
    return { ...outcome, stderr: outcome.stderr.map((line) => line.replaceAll(stub.url, "<stub>")), calls: stub.calls };
  } finally {
    await stub.close();
  }
}

function signersOf(outcome: Outcome): string[] {
  return outcome.calls.map(({ operation, signer }) => `${operation} by ${signer}`);
}

function lastLine(outcome: Outcome): string {
  return outcome.stderr.at(-1) ?? "";
}

/** Runs both and expects no difference; the outcome is that of both. */
async function runBoth(input: Case): Promise<Outcome> {
  const [first, second] = await Promise.all([run(ours, input), run(real!, input)]);
  expect(first).toEqual(second);
  return second;
}

const credentials = (sts: () => StubAnswer) => ({ answers: { [STS]: sts } });
const registry = (...data: Record<string, unknown>[]) => ({ answers: { [ECR]: () => ecrAnswer(data) } });
const jsonError = (__type: string, message: string) => ({
  answers: {
    [ECR]: () => ({
      status: 400,
      contentType: "application/x-amz-json-1.1",
      body: JSON.stringify({ __type, message }),
    }),
  },
});

describe.skipIf(real === undefined).concurrent("whose identity asks ECR", () => {
  it("56: an annotated ServiceAccount asks with the session of its role", async () => {
    const outcome = await runBoth({ request: POD, environment: NODE_KEYS });
    expect(signersOf(outcome)).toEqual([`${STS} by unsigned`, `${ECR} by ASIASESSION`]);
    expect(outcome.calls[0]?.parameters).toEqual({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: ROLE,
      RoleSessionName: "ecr-credential-provider",
      WebIdentityToken: POD.serviceAccountToken,
    });
    expect(outcome.calls[1]).toMatchObject({ parameters: {}, scope: "us-west-2/ecr", sessionToken: "session-token" });
    expect(JSON.parse(outcome.stdout)).toEqual({
      kind: "CredentialProviderResponse",
      apiVersion: "credentialprovider.kubelet.k8s.io/v1",
      cacheKeyType: "Registry",
      cacheDuration: "6h0m0s",
      auth: { [HOST]: { username: "AWS", password: "password" } },
    });
  });

  it.each<[string, Case, string[]]>([
    ["57: no annotation: the node", { request: UNANNOTATED, environment: NODE_KEYS }, [`${ECR} by AKIANODE`]],
    [
      "57, twin: no annotation, but a role in the environment",
      { request: UNANNOTATED, environment: { ...NODE_KEYS, AWS_ECR_ROLE_ARN: ROLE } },
      [`${STS} by unsigned`, `${ECR} by ASIASESSION`],
    ],
    [
      "58: an empty annotation switches the environment's role off",
      {
        request: { ...UNANNOTATED, serviceAccountAnnotations: { "eks.amazonaws.com/ecr-role-arn": "" } },
        environment: { ...NODE_KEYS, AWS_ECR_ROLE_ARN: ROLE },
      },
      [`${ECR} by AKIANODE`],
    ],
    ["no token: the node", { request: { image: IMAGE, ...ANNOTATED }, environment: NODE_KEYS }, [`${ECR} by AKIANODE`]],
    [
      "a node's session keys",
      { request: { image: IMAGE }, environment: { ...NODE_KEYS, AWS_SESSION_TOKEN: "node-session" } },
      [`${ECR} by AKIANODE`],
    ],
    [
      "a node's shared credentials file",
      { request: { image: IMAGE }, environment: { AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials") } },
      [`${ECR} by AKIAFILE`],
    ],
    [
      "a node's web identity",
      {
        request: { image: IMAGE },
        environment: {
          AWS_ROLE_ARN: "arn:aws:iam::111122223333:role/node",
          AWS_ROLE_SESSION_NAME: "node-1",
          AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, "token"),
        },
      },
      [`${STS} by unsigned`, `${ECR} by ASIASESSION`],
    ],
    [
      "a foreign host in the default region",
      { request: { image: "registry.local:5000/x" }, environment: { ...NODE_KEYS, AWS_REGION: "eu-west-1" } },
      [`${ECR} by AKIANODE`],
    ],
    [
      "ECR public",
      { request: { image: "public.ecr.aws/x/y" }, environment: NODE_KEYS },
      ["ecr-public:GetAuthorizationToken by AKIANODE"],
    ],
    [
      "ECR public with a role",
      { request: { ...POD, image: "ecr-public.aws.com/x" }, environment: { ...NODE_KEYS, AWS_REGION: "eu-west-1" } },
      [`${STS} by unsigned`, "ecr-public:GetAuthorizationToken by ASIASESSION"],
    ],
  ])("%s", async (_, input, expected) => {
    const outcome = await runBoth(input);
    expect(outcome.exitCode).toBe(0);
    expect(signersOf(outcome)).toEqual(expected);
  });

  beforeAll(() => {
    writeFileSync(join(folder, "token"), "node.web.identity");
    const keys = "aws_access_key_id = AKIAFILE\naws_secret_access_key = file-secret\n";
    writeFileSync(join(folder, "credentials"), `[default]\n${keys}`);
  });
});

describe.skipIf(real === undefined).concurrent("what is told of a failure", () => {
  it.each<[string, Case, string]>([
    [
      "59: a role that does not trust this Pod",
      credentials(() => stsError(403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")),
      "E Error running credential provider plugin: operation error ECR: GetAuthorizationToken, get identity: get credentials: failed to assume role: operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: r-1, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity",
    ],
    [
      "60: another version of the protocol",
      { input: renderRequest(POD, "credentialprovider.kubelet.k8s.io/v1beta1") },
      "E Error running credential provider plugin: group version credentialprovider.kubelet.k8s.io/v1beta1 is not supported",
    ],
    ...(
      [
        [400, "InvalidIdentityToken", "InvalidIdentityToken: why"],
        [400, "ExpiredTokenException", "ExpiredTokenException: why"],
        [400, "IDPCommunicationError", "IDPCommunicationError: why"],
        [403, "IDPRejectedClaim", "IDPRejectedClaim: why"],
        [400, "MalformedPolicyDocument", "MalformedPolicyDocument: why"],
        [400, "PackedPolicyTooLarge", "PackedPolicyTooLarge: why"],
        [403, "RegionDisabledException", "RegionDisabledException: why"],
        [400, "ValidationError", "api error ValidationError: why"],
      ] as const
    ).map(([status, code, text]): [string, Case, string] => [
      `${code} of STS, asked once`,
      credentials(() => stsError(status, code, "why")),
      `StatusCode: ${status}, RequestID: r-1, ${text}`,
    ]),
    [
      "a refusal of STS in no known form",
      credentials(() => ({ status: 403, body: "garbage" })),
      "StatusCode: 403, RequestID: r-1, api error UnknownError: UnknownError",
    ],
    [
      "ECR refuses",
      jsonError("AccessDeniedException", "User: x is not authorized"),
      "operation error ECR: GetAuthorizationToken, https response error StatusCode: 400, RequestID: r-1, api error AccessDeniedException: User: x is not authorized",
    ],
    [
      "ECR refuses the key",
      jsonError("UnrecognizedClientException", "no"),
      "api error UnrecognizedClientException: no",
    ],
    ["a modelled error of ECR", jsonError("InvalidParameterException", "bad"), "r-1, InvalidParameterException: bad"],
    ["no data from ECR", registry(), "authorization data was empty"],
    ["no token from ECR", registry({}), "authorization token in response was nil"],
    ["a token without colon", registry(tokenData("nocolon", 60)), "error parsing username and password"],
    ["a token that is not base64", registry({ authorizationToken: "!!!" }), "illegal base64 data at input byte 0"],
    ["no identity at all", { request: { image: IMAGE } }, 'or "AWS_EC2_METADATA_DISABLED" environment variable'],
    ["an empty image", { request: { image: "" } }, "image in plugin request was empty"],
    ["an image that is no URL", { request: { image: "h:80:80/x" } }, 'invalid port ":80:80" after host'],
    ["garbage for a request", { input: "garbage" }, "invalid character 'g' looking for beginning of value"],
    ["a truncated request", { input: '{"kind":"Cre' }, "unexpected end of JSON input"],
    ["a request that is a list", { input: "[]" }, "cannot unmarshal array"],
    ["nothing on standard input", { input: "" }, "unexpected end of JSON input"],
    ["an unknown flag", { args: ["--foo"] }, "-h, --help   help for ecr-credential-provider"],
  ])("%s", async (_, input, text) => {
    const outcome = await runBoth({ environment: input.request ? {} : NODE_KEYS, ...input });
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
    expect(lastLine(outcome)).toContain(text);
    expect(outcome.stderr.join("\n")).not.toContain(POD.serviceAccountToken);
  });
});

describe.skipIf(real === undefined).concurrent("how long the credentials may be kept", () => {
  it.each<[string, () => Record<string, unknown>, string | undefined]>([
    ["an hour and two seconds", () => tokenData("AWS:pw", 3602), "30m1s"],
    ["no expiry", () => ({ authorizationToken: Buffer.from("AWS:a:b<&>").toString("base64") }), "0s"],
    ["expired", () => tokenData("AWS:pw", -100), undefined],
  ])("%s", async (_, createData, expected) => {
    const answers = { [ECR]: () => ecrAnswer([createData()]) };
    const outcome = await runBoth({ environment: NODE_KEYS, answers });
    expect(JSON.parse(outcome.stdout).cacheDuration).toBe(expected);
  });
});

describe.skipIf(real === undefined)("over TLS with a CA of one's own", () => {
  it("works with AWS_CA_BUNDLE, and is refused without", async () => {
    const random = systemRandom;
    const authority = createCertificateAuthority({ directory: folder, systemClock, random, isServed: () => true });
    const tls = await authority.certificateFor("localhost");
    const bundle = join(folder, "bundle.pem");
    writeFileSync(bundle, await authority.caPem());
    const trusting = await runBoth({ tls, environment: { ...NODE_KEYS, AWS_CA_BUNDLE: bundle } });
    expect(signersOf(trusting)).toEqual([`${STS} by unsigned`, `${ECR} by ASIASESSION`]);

    const input: Case = { tls, environment: { ...NODE_KEYS, AWS_MAX_ATTEMPTS: "1" } };
    const [first, second] = await Promise.all([run(ours, input), run(real!, input)]);
    for (const { exitCode, stdout, calls } of [first, second]) {
      expect({ exitCode, stdout, calls }).toEqual({ exitCode: 1, stdout: "", calls: [] });
    }
    expect(lastLine(first)).toMatch(/STS: AssumeRoleWithWebIdentity, .*request send failed, .*certificate/);
  });
});

// Where the two differ, and by how much (README of services/credential-provider, Differs).
describe.skipIf(real === undefined).concurrent("known differences", () => {
  it("STS answers garbage with 200: exit code 1 and a reason, where the real one dies with 2", async () => {
    const input: Case = { environment: NODE_KEYS, ...credentials(() => ({ body: "garbage" })) };
    const [first, second] = await Promise.all([run(ours, input), run(real!, input)]);
    expect([first.exitCode, second.exitCode]).toEqual([1, 2]);
    expect([first.stdout, second.stdout]).toEqual(["", ""]);
    expect(lastLine(first)).toContain("failed to assume role: operation error STS: AssumeRoleWithWebIdentity");
    expect(second.stderr.join("\n")).toContain("nil pointer dereference");
  });

  it("STS fails with 500: 3 calls instead of 9, and the same reason", async () => {
    const input: Case = { environment: NODE_KEYS, ...credentials(() => stsError(500, "InternalFailure", "oops")) };
    const [first, second] = await Promise.all([run(ours, input), run(real!, input)]);
    expect([first.exitCode, second.exitCode]).toEqual([1, 1]);
    expect([first.calls.length, second.calls.length]).toEqual([3, 9]);
    const reason =
      "exceeded maximum number of attempts, 3, https response error StatusCode: 500, RequestID: r-1, api error InternalFailure: oops";
    expect(lastLine(first)).toContain(reason);
    expect(lastLine(second)).toContain(reason);
  });
});

afterAll(() => {
  if (real === undefined) console.warn("the comparison with the real ecr-credential-provider did not run");
});
