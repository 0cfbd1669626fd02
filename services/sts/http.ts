// STS on the wire: the Query protocol, one handler per action.
import { type Request, type Response, Router } from "express";
import { accountOfUniqueId } from "../shared/aws/arn.ts";
import { parseQueryCall, type QueryCall, renderQueryAnswer, type XmlValue } from "../shared/aws/query.ts";
import { verifySignature } from "../shared/aws/sigv4.ts";
import { QUERY_SIGNATURE_REFUSALS, SignatureError } from "../shared/aws/sigv4-refusals.ts";
import type { Clock } from "../shared/clock.ts";
import type { EventSink } from "../shared/event.ts";
import { callerOf, drain, eventOf, readBytes, reportRefusal, requestIdOf, requestScope } from "../shared/http.ts";
import type { Random } from "../shared/random.ts";
import { parseAccessKeyId } from "./core/parameters.ts";
import { UNVERIFIED_TEXTS } from "./core/unverified.ts";
import { renderError, StsError } from "./errors.ts";
import type { CallContext, Credentials, RoleSession, SignedBy, Sts, StsCall } from "./types.ts";

export interface StsRouterOptions {
  readonly sts: Sts;
  readonly clock: Clock;
  /** Given where the stack's clock can be moved: signatures by this clock are good as well while it is (design 13.7). */
  readonly systemClock?: Clock;
  readonly random: Random;
  readonly events: EventSink;
  /** `aws:RequestedRegion` where neither host nor signature says; what sts was made with unless told. */
  readonly defaultRegion?: string;
}

type XmlResult = { readonly [name: string]: XmlValue };
type SignedCall = StsCall & { readonly by: SignedBy };

const NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";
const VERSION = "2011-06-15";
/** Enough for the longest legal call, and for a token far too long to be told so. */
const BODY_BYTES = 256 * 1024;
/** Seconds of difference that nobody would call a moved clock. */
const SAME_TIME_MS = 1000;

/** Actions that need no signature; a signature sent along is not looked at (spec aws 2.2). */
const OPEN_ACTIONS: Readonly<Record<string, (sts: Sts, call: StsCall) => Promise<XmlResult>>> = {
  AssumeRoleWithWebIdentity: async (sts, call) => renderRoleSession(await sts.assumeRoleWithWebIdentity(call)),
};

const SIGNED_ACTIONS: Readonly<Record<string, (sts: Sts, call: SignedCall) => XmlResult>> = {
  // Never denied by policy.
  GetCallerIdentity: (_sts, { by }) => {
    const { userId, accountId, arn } = by.principal;
    return { UserId: userId, Account: accountId, Arn: arn };
  },
  AssumeRole: (sts, call) => renderRoleSession(sts.assumeRole(call, call.by)),
  GetSessionToken: (sts, call) => ({ Credentials: renderCredentials(sts.getSessionToken(call, call.by)) }),
  GetAccessKeyInfo: (_sts, call) => ({ Account: accountOfUniqueId(parseAccessKeyId(call.query)) }),
};

/** Every action that is answered with more than a refusal. */
export const STS_ACTIONS: readonly string[] = [...Object.keys(OPEN_ACTIONS), ...Object.keys(SIGNED_ACTIONS)];

/** All of STS below one router. */
export function createStsRouter(options: StsRouterOptions): Router {
  const router = Router();
  router.use(requestScope({ room: "sts", ...options }));
  router.get("/healthz", (_request, response) => void response.type("text/plain").send("ok\n"));
  router.use(async (request, response) => {
    try {
      const { action, result } = await answer(request, response, options);
      send(
        response,
        200,
        renderQueryAnswer({ action, namespace: NAMESPACE, requestId: requestIdOf(response), result }),
      );
    } catch (error) {
      refuse(request, response, error);
    }
  });
  return router;
}

async function answer(
  request: Request,
  response: Response,
  options: StsRouterOptions,
): Promise<{ action: string; result: XmlResult }> {
  const event = eventOf(response);
  event.operation = "sts:UnknownAction";
  const body = await readBytes(request, BODY_BYTES);
  const query = parseQueryCall({ rawPath: request.originalUrl, contentType: request.headers["content-type"], body });
  const { action } = query;
  const open = Object.hasOwn(OPEN_ACTIONS, action) ? OPEN_ACTIONS[action] : undefined;
  const signed = Object.hasOwn(SIGNED_ACTIONS, action) ? SIGNED_ACTIONS[action] : undefined;
  if (request.path !== "/" || query.version !== VERSION || !(open ?? signed)) throw unknownAction(query);
  if (request.method !== "POST" && request.method !== "GET") throw unknownAction(query);
  event.operation = `sts:${action}`;
  if (open) {
    const call = { query, event, context: createContext(request, options.defaultRegion ?? options.sts.defaultRegion) };
    return { action, result: await open(options.sts, call) };
  }
  const by = verifyCaller(request, { body, response, options });
  const call = { query, event, by, context: createContext(request, by.region) };
  const result = signed?.(options.sts, call) ?? {};
  if (event.decision === "none") event.decision = "allow";
  return { action, result };
}

function verifyCaller(
  request: Request,
  { body, response, options }: { body: Buffer; response: Response; options: StsRouterOptions },
): SignedBy & { region: string } {
  const event = eventOf(response);
  const [now, systemNow] = [options.clock.now(), options.systemClock?.now()];
  const moved = systemNow !== undefined && Math.abs(systemNow.getTime() - now.getTime()) > SAME_TIME_MS;
  const { method, originalUrl: rawPath, rawHeaders } = request;
  const verified = verifySignature(
    { method, rawPath, rawHeaders, body },
    { service: "sts", resolver: options.sts.resolver, now, ...(moved ? { systemNow } : {}) },
  );
  if (!verified.ok) throw new SignatureError(QUERY_SIGNATURE_REFUSALS, verified.refusal, verified.message);
  event.principal = verified.principal.arn;
  event.lineage = verified.lineage;
  if (verified.usedSystemClock) event.notes = { ...event.notes, clock: "signed by the system's clock" };
  return verified;
}

function createContext(request: Request, region: string): CallContext {
  return {
    ...callerOf(request),
    region: /^sts\.([a-z0-9-]+)\.amazonaws\.com/.exec(request.headers.host ?? "")?.[1] ?? region,
  };
}

function refuse(request: Request, response: Response, error: unknown): void {
  const rendered = renderError(error, { namespace: NAMESPACE, requestId: requestIdOf(response) });
  reportRefusal(eventOf(response), error, rendered);
  drain(request);
  send(response, rendered.status, rendered.body);
}

function send(response: Response, status: number, body: string): void {
  response.status(status).setHeader("x-amzn-RequestId", requestIdOf(response));
  response.setHeader("Content-Type", "text/xml");
  response.end(body);
}

function unknownAction(query: QueryCall): StsError {
  return new StsError("unknown-action", UNVERIFIED_TEXTS.unknownAction(query.action, query.version));
}

function renderCredentials(credentials: Credentials): XmlResult {
  return {
    AccessKeyId: credentials.accessKeyId,
    SecretAccessKey: credentials.secretAccessKey,
    SessionToken: credentials.sessionToken,
    Expiration: credentials.expiration,
  };
}

function renderRoleSession(session: RoleSession): XmlResult {
  const { assumedRoleUser, packedPolicySize } = session;
  return {
    SubjectFromWebIdentityToken: session.subject,
    Audience: session.audience,
    AssumedRoleUser: { AssumedRoleId: assumedRoleUser.assumedRoleId, Arn: assumedRoleUser.arn },
    Credentials: renderCredentials(session.credentials),
    Provider: session.provider,
    PackedPolicySize: packedPolicySize,
    SourceIdentity: session.sourceIdentity,
  };
}
