// The AWS JSON protocol 1.1: `X-Amz-Target` and a JSON object in, JSON out (spec aws 4.1).
import { ProtocolError } from "../errors.ts";

/** The request cannot be read as a JSON call. */
export class JsonRefusal extends ProtocolError {}

export interface JsonCall {
  /** The operation's name without the target's prefix. */
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The content type of requests and answers. */
export const JSON_CONTENT_TYPE = "application/x-amz-json-1.1";

/**
 * Reads a call; an empty body counts as `{}`. `prefix` is the service's, `AmazonEC2ContainerRegistry_V20150921`.
 * @throws JsonRefusal `UnknownOperationException` for a foreign target, `SerializationException` for what is no JSON object.
 */
export function parseJsonCall(
  request: { readonly target: string | undefined; readonly body: Buffer },
  prefix: string,
): JsonCall {
  const operation = request.target?.startsWith(`${prefix}.`) ? request.target.slice(prefix.length + 1) : "";
  if (!/^[A-Za-z]\w*$/.test(operation)) {
    const found = request.target === undefined ? "none" : `'${request.target.slice(0, 80)}'`;
    const text = `Expected X-Amz-Target ${prefix}.<Operation>, found ${found}`;
    throw new JsonRefusal("UnknownOperationException", 400, text);
  }
  return { operation, input: parseInput(request.body) };
}

/** An answer's body: instants as epoch seconds with fraction, bytes as base64, undefined members left out. */
export function renderJsonAnswer(output: unknown): string {
  return JSON.stringify(toWire(output));
}

/** An error's body. */
export function renderJsonError(error: { readonly code: string; readonly message: string }): string {
  return JSON.stringify({ __type: error.code, message: error.message });
}

function parseInput(body: Buffer): Readonly<Record<string, unknown>> {
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw new JsonRefusal("SerializationException", 400, "Expected a JSON object, found invalid JSON", { cause });
  }
  if (isRecord(value)) return value;
  const found = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  throw new JsonRefusal("SerializationException", 400, `Expected a JSON object, found ${found}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toWire(value: unknown): unknown {
  if (value instanceof Date) return value.getTime() / 1000;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(toWire);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toWire(member)]));
}
