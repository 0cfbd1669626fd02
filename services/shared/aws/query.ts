// The AWS Query protocol: form or query parameters in, XML out (spec aws 2.1).
import { ProtocolError } from "../errors.ts";

/** The request cannot be read as a Query call. */
export class QueryRefusal extends ProtocolError {}

/** One call, its parameters decoded and each known to be given once. */
export interface QueryCall {
  readonly action: string;
  readonly version: string;
  /** All parameters by their wire names, `Action` and `Version` included, without `X-Amz-…`. */
  readonly parameters: ReadonlyMap<string, string>;
  /** A plain parameter; undefined if not given. */
  text(name: string): string | undefined;
  /** A list `Name.member.<n>` of plain values. */
  texts(name: string): readonly string[];
  /** A list `Name.member.<n>.<field>` of structures. */
  structures(name: string): readonly Readonly<Record<string, string>>[];
}

/** What an answer may hold: undefined members are left out, lists become `<member>` elements. */
export type XmlValue =
  | string
  | number
  | boolean
  | Date
  | undefined
  | readonly XmlValue[]
  | { readonly [name: string]: XmlValue };

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/**
 * Reads a call from the body of a POST or the query of a GET, whose names must not overlap.
 * @throws QueryRefusal `MissingAction`, or `MalformedInput` for repeated names, bad encoding and broken lists.
 */
export function parseQueryCall(request: {
  readonly rawPath: string;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}): QueryCall {
  const parameters = new Map<string, string>();
  const mark = request.rawPath.indexOf("?");
  if (mark >= 0) readPairs(request.rawPath.slice(mark + 1), parameters);
  if (request.body.length > 0) {
    if (!FORM.test(request.contentType ?? "")) {
      throw malformed(
        `Expected Content-Type application/x-www-form-urlencoded, found ${request.contentType ?? "none"}`,
      );
    }
    readPairs(decodeUtf8(request.body), parameters);
  }
  const action = parameters.get("Action");
  if (!action) throw new QueryRefusal("MissingAction", 400, "Could not find operation: expected a parameter Action");
  return {
    action,
    version: parameters.get("Version") ?? "",
    parameters,
    text: (name) => parameters.get(name),
    texts: (name) => members(parameters, name).map((member) => plainMember(member, name)),
    structures: (name) => members(parameters, name).map((member) => structureMember(member, name)),
  };
}

/** `<ActionResponse>` with its result; two-space indentation, no declaration, trailing newline. */
export function renderQueryAnswer(answer: {
  readonly action: string;
  /** `https://sts.amazonaws.com/doc/2011-06-15/` */
  readonly namespace: string;
  readonly requestId: string;
  readonly result?: { readonly [name: string]: XmlValue };
}): string {
  const { action, namespace, requestId, result } = answer;
  const inner = result === undefined ? "" : renderElement(`${action}Result`, result, 1);
  const metadata = renderElement("ResponseMetadata", { RequestId: requestId }, 1);
  return `<${action}Response xmlns="${escapeXml(namespace)}">\n${inner}${metadata}</${action}Response>\n`;
}

/** `<ErrorResponse>`; whose fault it is follows from the status. */
export function renderQueryError(error: {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly namespace: string;
  readonly requestId: string;
}): string {
  const detail = { Type: error.status >= 500 ? "Receiver" : "Sender", Code: error.code, Message: error.message };
  const inner = renderElement("Error", detail, 1) + renderElement("RequestId", error.requestId, 1);
  return `<ErrorResponse xmlns="${escapeXml(error.namespace)}">\n${inner}</ErrorResponse>\n`;
}

function malformed(message: string): QueryRefusal {
  return new QueryRefusal("MalformedInput", 400, message);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch (cause) {
    throw new QueryRefusal("MalformedInput", 400, "Expected a body in UTF-8, found invalid bytes", { cause });
  }
}

function readPairs(text: string, parameters: Map<string, string>): void {
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const mark = pair.indexOf("=");
    const name = decodeForm(mark < 0 ? pair : pair.slice(0, mark));
    if (name.startsWith("X-Amz-")) continue; // a presigned request's own parameters
    if (parameters.has(name)) throw malformed(`Expected parameter ${name.slice(0, 64)} once, found it again`);
    parameters.set(name, mark < 0 ? "" : decodeForm(pair.slice(mark + 1)));
  }
}

function decodeForm(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw malformed("Expected valid percent-encoding of UTF-8, found something else");
  }
}

/** The members of a list in order of their numbers: field path → value, the path empty for a plain member. */
function members(parameters: ReadonlyMap<string, string>, name: string): ReadonlyMap<string, string>[] {
  const prefix = `${name}.member.`;
  const byNumber = new Map<number, Map<string, string>>();
  for (const [key, value] of parameters) {
    if (!key.startsWith(prefix)) continue;
    const match = /^([1-9]\d{0,4})(?:\.(.+))?$/.exec(key.slice(prefix.length));
    if (!match) throw malformed(`Expected ${name}.member.<number>, found ${key.slice(0, 64)}`);
    const number = Number(match[1]);
    const member = byNumber.get(number) ?? new Map<string, string>();
    byNumber.set(number, member.set(match[2] ?? "", value));
  }
  return [...byNumber].sort(([a], [b]) => a - b).map(([, member]) => member);
}

function plainMember(member: ReadonlyMap<string, string>, name: string): string {
  const value = member.get("");
  if (value === undefined || member.size > 1) throw malformed(`Expected a list of plain values in ${name}`);
  return value;
}

function structureMember(member: ReadonlyMap<string, string>, name: string): Readonly<Record<string, string>> {
  if (member.has("")) throw malformed(`Expected a list of structures in ${name}`);
  return Object.fromEntries(member);
}

function renderElement(name: string, value: XmlValue, depth: number): string {
  if (value === undefined) return "";
  const indent = "  ".repeat(depth);
  if (value instanceof Date) return `${indent}<${name}>${renderInstant(value)}</${name}>\n`;
  if (typeof value !== "object") return `${indent}<${name}>${escapeXml(String(value))}</${name}>\n`;
  const inner = Array.isArray(value)
    ? value.map((member: XmlValue) => renderElement("member", member, depth + 1)).join("")
    : Object.entries(value)
        .map(([key, member]) => renderElement(key, member, depth + 1))
        .join("");
  return inner === "" ? `${indent}<${name}/>\n` : `${indent}<${name}>\n${inner}${indent}</${name}>\n`;
}

/** Whole seconds, `2026-01-31T12:00:00Z`. */
function renderInstant(instant: Date): string {
  return instant.toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** Quotes stay as they are: AWS's messages are full of them, and texts are not attributes. */
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;" };

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are meant
const NEEDS_ESCAPE = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]|\p{Surrogate}/u;

function escapeXml(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text;
  return (
    text
      .replace(/[&<>\r]/g, (character) => ENTITIES[character] ?? character)
      // XML 1.0 §2.2 has no way to write these, and lone surrogates are no text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are meant
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
  );
}
