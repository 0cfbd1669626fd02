// AWS calls as rows make them by hand: STS unsigned, ECR signed, the registry with Basic.
import { type SigningKey, signRequest } from "../../shared/aws/sigv4-sign.ts";
import { systemClock } from "../../shared/clock.ts";
import type { Backstage, RawAnswer } from "./backstage.ts";
import type { Step } from "./types.ts";

const REGION = "us-west-2";
const STS = `https://sts.${REGION}.amazonaws.com/`;
const ECR_HOST = `api.ecr.${REGION}.amazonaws.com`;

/** A call that was refused, with the protocol's own code and message. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

/** A token of the cluster's issuer for a ServiceAccount. */
export async function mintToken(
  stage: Backstage,
  serviceAccount: { namespace: string; name: string },
): Promise<string> {
  const { namespace, name } = serviceAccount;
  const body = { namespace, serviceAccount: name, audience: "sts.amazonaws.com" };
  return String((await stage.control("POST", "issuers/eks/tokens", body)).token);
}

/** STS AssumeRoleWithWebIdentity. */
export async function assumeRole(stage: Backstage, token: string, roleArn: string): Promise<Outcome<SigningKey>> {
  const form = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: roleArn,
    RoleSessionName: "demo",
    WebIdentityToken: token,
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = await stage.request(STS, { method: "POST", headers, body: form.toString() });
  const xml = answer.body.toString("utf8");
  if (answer.status !== 200) {
    return {
      ok: false,
      refusal: { status: answer.status, code: element(xml, "Code"), message: element(xml, "Message") },
    };
  }
  const [accessKeyId, secretAccessKey, sessionToken] = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map((name) =>
    element(xml, name),
  );
  return {
    ok: true,
    value: { accessKeyId: accessKeyId ?? "", secretAccessKey: secretAccessKey ?? "", sessionToken: sessionToken ?? "" },
  };
}

function element(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";
  return text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** One signed call of the ECR API. @throws when it is refused: rows only make calls that must work */
export async function callEcr(
  stage: Backstage,
  key: SigningKey,
  call: { operation: string; input: Readonly<Record<string, unknown>> },
): Promise<Readonly<Record<string, unknown>>> {
  const body = JSON.stringify(call.input);
  const headers = signRequest(
    {
      method: "POST",
      rawPath: "/",
      headers: {
        host: ECR_HOST,
        "content-type": "application/x-amz-json-1.1",
        "x-amz-target": `AmazonEC2ContainerRegistry_V20150921.${call.operation}`,
      },
      body,
    },
    { key, service: "ecr", region: REGION, now: systemClock.now() },
  );
  const answer = await stage.request(`https://${ECR_HOST}/`, { method: "POST", headers, body });
  if (answer.status !== 200) throw new Error(`ecr:${call.operation}: ${answer.status} ${answer.body.toString("utf8")}`);
  return JSON.parse(answer.body.toString("utf8"));
}

/** `Basic …` for the registry, by way of token, STS and ECR. */
export async function registryLogin(
  stage: Backstage,
  who: { namespace: string; name: string; roleArn: string },
): Promise<string> {
  const session = await assumeRole(stage, await mintToken(stage, who), who.roleArn);
  if (!session.ok) throw new Error(`sts: ${session.refusal.code}: ${session.refusal.message}`);
  const answer = await callEcr(stage, session.value, { operation: "GetAuthorizationToken", input: {} });
  const data = answer.authorizationData as readonly { authorizationToken: string }[];
  return `Basic ${data[0]?.authorizationToken ?? ""}`;
}

/** What a registry answered, as a step: 2xx is `allowed`, all else a refusal in the registry's own words. */
export function judge(what: string, answer: RawAnswer, allowed: "pulled" | "leaked"): Step {
  const ok = answer.status >= 200 && answer.status < 300;
  const error = ok ? undefined : firstError(answer);
  const reason = error?.code ?? (ok ? `status-${answer.status}` : `status-${answer.status}`);
  return {
    what,
    verdict: ok ? allowed : "denied",
    reason,
    decidedBy: `registry answered ${answer.status}`,
    ...(error ? { because: `${answer.status} ${error.code}: ${error.message}` } : {}),
  };
}

function firstError(answer: RawAnswer): { code: string; message: string } | undefined {
  try {
    return JSON.parse(answer.body.toString("utf8")).errors[0];
  } catch {
    return undefined; // ECR's plain text, or a body-less answer
  }
}
