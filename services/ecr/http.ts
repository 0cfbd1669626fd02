// The ECR API on the wire: JSON 1.1 by X-Amz-Target, every call signed.
import { type Request, type Response, Router } from "express";
import type { CredentialResolver } from "../shared/aws/credential-resolver.ts";
import { JSON_CONTENT_TYPE, parseJsonCall, renderJsonAnswer } from "../shared/aws/json.ts";
import { verifySignature } from "../shared/aws/sigv4.ts";
import { JSON_SIGNATURE_REFUSALS, SignatureError } from "../shared/aws/sigv4-refusals.ts";
import type { Clock } from "../shared/clock.ts";
import type { EventDraft, EventSink } from "../shared/event.ts";
import { callerOf, drain, eventOf, readBytes, reportRefusal, requestIdOf, requestScope } from "../shared/http.ts";
import type { Random } from "../shared/random.ts";
import { UNVERIFIED_LIMITS } from "./core/unverified.ts";
import { renderError } from "./errors.ts";
import type { Ecr, EcrCall } from "./types.ts";

export interface EcrRouterOptions {
  readonly ecr: Ecr;
  /** Who may sign: sessions of sts and access keys of users. */
  readonly resolver: CredentialResolver;
  readonly clock: Clock;
  /** Given where the stack's clock can be moved: signatures by this clock are good as well while it is (design 13.7). */
  readonly systemClock?: Clock;
  readonly random: Random;
  readonly events: EventSink;
}

const TARGET = "AmazonEC2ContainerRegistry_V20150921";
const SAME_TIME_MS = 1000;

/** All of the ECR API below one router. */
export function createEcrRouter(options: EcrRouterOptions): Router {
  const router = Router();
  router.use(requestScope({ room: "ecr", ...options }));
  router.get("/healthz", (_request, response) => void response.type("text/plain").send("ok\n"));
  router.use(async (request, response) => {
    try {
      send(response, 200, renderJsonAnswer(await answer(request, eventOf(response), options)));
    } catch (error) {
      refuse(request, response, error);
    }
  });
  return router;
}

async function answer(request: Request, event: EventDraft, options: EcrRouterOptions): Promise<unknown> {
  event.operation = "ecr:UnknownOperation";
  const body = await readBytes(request, UNVERIFIED_LIMITS.bodyBytes);
  // Only a POST to the root carries a target (spec aws 4.1); anything else has none, whatever its headers say.
  const target = request.method === "POST" && request.path === "/" ? request.get("x-amz-target") : undefined;
  const { operation, input } = parseJsonCall({ target, body }, TARGET);
  if (options.ecr.operations.includes(operation)) event.operation = `ecr:${operation}`;
  const call = { input, event, context: callerOf(request), ...verifyCaller(request, { body, event, options }) };
  const output = options.ecr.run(operation, call);
  if (event.decision === "none") event.decision = "allow";
  return output;
}

function verifyCaller(
  request: Request,
  { body, event, options }: { body: Buffer; event: EventDraft; options: EcrRouterOptions },
): Pick<EcrCall, "principal" | "lineage" | "region"> {
  const [now, systemNow] = [options.clock.now(), options.systemClock?.now()];
  const moved = systemNow !== undefined && Math.abs(systemNow.getTime() - now.getTime()) > SAME_TIME_MS;
  const { method, originalUrl: rawPath, rawHeaders } = request;
  const verified = verifySignature(
    { method, rawPath, rawHeaders, body },
    { service: "ecr", resolver: options.resolver, now, ...(moved ? { systemNow } : {}) },
  );
  if (!verified.ok) throw new SignatureError(JSON_SIGNATURE_REFUSALS, verified.refusal, verified.message);
  const { principal, lineage, region } = verified;
  event.principal = principal.arn;
  event.lineage = lineage;
  if (verified.usedSystemClock) event.notes = { ...event.notes, clock: "signed by the system's clock" };
  return { principal, lineage, region };
}

function refuse(request: Request, response: Response, error: unknown): void {
  const rendered = renderError(error);
  reportRefusal(eventOf(response), error, rendered);
  drain(request);
  send(response, rendered.status, rendered.body);
}

function send(response: Response, status: number, body: string): void {
  response.status(status).setHeader("x-amzn-RequestId", requestIdOf(response));
  response.setHeader("Content-Type", JSON_CONTENT_TYPE);
  response.end(body);
}
