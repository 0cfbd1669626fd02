// AWS calls as rows make them by hand: STS unsigned, ECR signed, the registry with Basic.
import { type SigningKey, signRequest } from "../../shared/aws/sigv4-sign.ts";
import { systemClock } from "../../shared/clock.ts";
import { type Backstage, explainEvent, type RawAnswer } from "./backstage.ts";
import type { Step } from "./types.ts";

const REGION = "us-west-2";
const STS = `https://sts.${REGION}.amazonaws.com/`;
const ECR_HOST = `api.ecr.${REGION}.amazonaws.com`;

/** Temporary credentials, or the answer that refused them. */
export type Session =
  | { readonly key: SigningKey; readonly answer: RawAnswer }
  | { readonly key?: never; readonly answer: RawAnswer };

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
export async function assumeRole(stage: Backstage, token: string, roleArn: string): Promise<Session> {
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
  if (answer.status !== 200) return { answer };
  const key = {
    accessKeyId: element(xml, "AccessKeyId"),
    secretAccessKey: element(xml, "SecretAccessKey"),
    sessionToken: element(xml, "SessionToken"),
  };
  return { key, answer };
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: "<", gt: ">", amp: "&" };

function element(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";
  return text.replace(/&(quot|apos|lt|gt|amp);/g, (_entity, entity) => ENTITIES[entity] ?? "");
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
  if (!session.key) throw new Error(`sts: ${messageOf(session.answer)}`);
  const answer = await callEcr(stage, session.key, { operation: "GetAuthorizationToken", input: {} });
  const data = answer.authorizationData as readonly { authorizationToken: string }[];
  return `Basic ${data[0]?.authorizationToken ?? ""}`;
}

/** What a service answered, as a step with the reason from its event: 2xx is `allowed`, all else a refusal. */
export async function judge(what: string, answer: RawAnswer, allowed: "pulled" | "leaked"): Promise<Step> {
  const ok = answer.status >= 200 && answer.status < 300;
  const said = ok ? "" : messageOf(answer);
  const event = explainEvent(await answer.why(), `status-${answer.status}`);
  const because = said === "" ? event.because : `${answer.status} ${said}`;
  return { what, verdict: ok ? allowed : "denied", ...event, because, trace: answer.trace };
}

/** The protocol's own words: the registry's error document, or STS's XML. */
function messageOf(answer: RawAnswer): string {
  const text = answer.body.toString("utf8");
  if (text.startsWith("<")) return `${element(text, "Code")}: ${element(text, "Message")}`;
  try {
    const [error] = JSON.parse(text).errors;
    return `${error.code}: ${error.message}`;
  } catch {
    return text.trim(); // ECR's plain text
  }
}
