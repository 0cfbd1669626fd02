// The language of the HTTP edge: limited reading of raw bytes, request ids, the event of a request.
import type { IncomingMessage } from "node:http";
import type { Request, RequestHandler, Response } from "express";
import { type Clock, monotonicMs } from "./clock.ts";
import { ProtocolError } from "./errors.ts";
import type { EventDraft, EventSink } from "./event.ts";
import { createUuid, type Random } from "./random.ts";

/** Thrown by the readers; each room's error renderer turns it into the protocol's own shape. */
export class BodyTooLargeError extends ProtocolError {
  constructor(limitBytes: number) {
    super("RequestEntityTooLarge", 413, `expected a body of at most ${limitBytes} bytes, found more`);
  }
}

/**
 * Reads a whole request body as raw bytes. Digests and signatures need them unparsed. Beyond the limit it stops
 * listening but leaves the connection alone, so that the refusal reaches the client; whoever answers calls {@link drain}.
 * @throws BodyTooLargeError
 */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) {
    return Promise.reject(new BodyTooLargeError(limitBytes));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      else settle(() => reject(new BodyTooLargeError(limitBytes)));
    };
    const end = (): void => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const fail = (cause: Error): void => settle(() => reject(cause));
    const close = (): void => settle(() => reject(new Error("the client went away")));
    const settle = (outcome: () => void): void => {
      request.off("data", take).off("end", end).off("error", fail).off("close", close);
      outcome();
    };
    request.on("data", take).on("end", end).on("error", fail).on("close", close);
  });
}

/** The path and query exactly as received: route parameters arrive decoded, registries must not see them so. */
export function rawPath(request: IncomingMessage): { path: string; query: URLSearchParams } {
  const raw = "originalUrl" in request ? String(request.originalUrl) : (request.url ?? "/");
  const mark = raw.indexOf("?");
  if (mark < 0) return { path: raw, query: new URLSearchParams() };
  return { path: raw.slice(0, mark), query: new URLSearchParams(raw.slice(mark + 1)) };
}

/** The event that this request will become; handlers fill in what they learn. */
export function eventOf(response: Response): EventDraft {
  return response.locals.event as EventDraft;
}

/** The id that names this request to its caller and in the log. */
export function requestIdOf(response: Response): string {
  return response.locals.requestId as string;
}

export interface RequestScopeOptions {
  readonly room: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventSink;
}

/**
 * The first middleware of every room (pipeline steps 1 and 8 of the edge): gives the request an id, a draft event
 * and the stack's `Date`, and records the event once the answer is finished or cut.
 */
export function requestScope(options: RequestScopeOptions): RequestHandler {
  return (request, response, next) => {
    const started = monotonicMs();
    const draft: EventDraft = { room: options.room, trace: traceOf(request), decision: "none" };
    response.locals.requestId = createUuid(options.random);
    response.locals.event = draft;
    response.setHeader("Date", options.clock.now().toUTCString());
    response.once("close", () => {
      if (!draft.operation) return;
      options.events.record({
        ...draft,
        operation: draft.operation,
        room: options.room,
        status: response.statusCode,
        durationMs: round(monotonicMs() - started),
        ...(response.writableFinished ? {} : { notes: { ...draft.notes, cut: true } }),
      });
    });
    next();
  };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** The trace id of a W3C `traceparent` header, if the client sent one. */
function traceOf(request: Request): string | undefined {
  const header = request.headers.traceparent;
  return typeof header === "string" ? /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(header)?.[1] : undefined;
}

/** Facts of a request that policies may look at. */
export interface Caller {
  /** Without the prefix of IPv4 addresses mapped into IPv6. */
  readonly sourceIp: string;
  readonly secure: boolean;
  readonly userAgent: string;
}

/** Where a request comes from, and how. */
export function callerOf(request: IncomingMessage): Caller {
  return {
    sourceIp: (request.socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
    secure: "encrypted" in request.socket && request.socket.encrypted === true,
    userAgent: request.headers["user-agent"] ?? "",
  };
}

/** What a caller is told about a failure, and the reason for the event. */
export interface RenderedRefusal {
  readonly status: number;
  readonly body: string;
  readonly reason: string;
}

/** Writes a refusal into the request's event. A decision's own reason says more than the protocol's code, and stays. */
export function reportRefusal(event: EventDraft, error: unknown, rendered: RenderedRefusal): void {
  if (event.decision !== "deny") event.reason = rendered.reason;
  event.decision = "deny";
  if (error instanceof ProtocolError) event.notes = { because: error.message, ...event.notes };
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) event.notes = { ...event.notes, cause: cause.message };
  if (rendered.status >= 500) event.notes = { ...event.notes, error: String(error) };
}

/** How much of an unwanted body is read before the connection is dropped, so that clients see the status first. */
const DRAIN_BYTES = 1 << 20;

/** After an early refusal: reads on for a while, then gives the connection up. */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let left = DRAIN_BYTES;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.resume();
}
