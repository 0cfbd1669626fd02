// Signature Version 4, the part that signer and verifier share: canonical request, string to sign, signing key.
// Texts hold one character per byte (latin1), as Node hands raw headers and targets over.
import { createHash, createHmac } from "node:crypto";

/** What is hashed into the string to sign. */
interface CanonicalParts {
  readonly method: string;
  /** Path without query, as received. */
  readonly path: string;
  /** Query without `?`, as received, the signature itself left out. */
  readonly query: string;
  /** Lower-case names with the values in order of arrival. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly signedHeaders: readonly string[];
  /** Hex SHA-256 of the body. */
  readonly payloadHash: string;
  /** False leaves dot segments and double slashes alone (S3 style). */
  readonly normalizePath: boolean;
}

/** The day, region and service that a signature is limited to. */
export interface Scope {
  /** `yyyymmdd` */
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

/** Hex SHA-256; text counts one byte per character. */
export function sha256Hex(data: string | Buffer): string {
  const hash = createHash("sha256");
  return (typeof data === "string" ? hash.update(data, "latin1") : hash.update(data)).digest("hex");
}

/** The canonical request (spec aws 6.1, step 5). */
export function renderCanonicalRequest(parts: CanonicalParts): string {
  const headers = parts.signedHeaders.map((name) => `${name}:${canonicalValue(parts.headers.get(name) ?? [])}\n`);
  return [
    parts.method,
    canonicalPath(parts.path, parts.normalizePath),
    canonicalQuery(parts.query),
    headers.join(""),
    parts.signedHeaders.join(";"),
    parts.payloadHash,
  ].join("\n");
}

/** Hex signature of a canonical request; `amzDate` is `yyyymmddThhmmssZ`. */
export function computeSignature(
  secretAccessKey: string,
  scope: Scope,
  request: { readonly amzDate: string; readonly canonicalRequest: string },
): string {
  let key: Buffer = hmac(`AWS4${secretAccessKey}`, scope.day);
  for (const part of [scope.region, scope.service, "aws4_request"]) key = hmac(key, part);
  const text = [
    "AWS4-HMAC-SHA256",
    request.amzDate,
    `${scope.day}/${scope.region}/${scope.service}/aws4_request`,
    sha256Hex(request.canonicalRequest),
  ].join("\n");
  return hmac(key, text).toString("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text, "latin1").digest();
}

function canonicalValue(values: readonly string[]): string {
  return values.map((value) => value.trim().replace(/[ \t\r\n]+/g, " ")).join(",");
}

function canonicalPath(path: string, normalize: boolean): string {
  const encoded = (normalize ? removeDotSegments(path) : path).split("/").map(encodeBytes).join("/");
  return encoded === "" ? "/" : encoded;
}

/** Collapses slashes and resolves dot segments; a trailing slash stays. */
function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  const last = segments.at(-1);
  const open = kept.length > 0 && (last === "" || last === "." || last === "..");
  return `/${kept.join("/")}${open ? "/" : ""}`;
}

function canonicalQuery(query: string): string {
  if (query === "") return "";
  const pairs = query.split("&").filter((pair) => pair !== "");
  return pairs
    .map((pair) => {
      const mark = pair.indexOf("=");
      const name = mark < 0 ? pair : pair.slice(0, mark);
      return { name: reencode(name), value: mark < 0 ? "" : reencode(pair.slice(mark + 1)) };
    })
    .sort((a, b) => compare(a.name, b.name) || compare(a.value, b.value))
    .map(({ name, value }) => `${name}=${value}`)
    .join("&");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Percent-encoding brought to its one canonical spelling; a stray `%` is a literal one. */
function reencode(text: string): string {
  return encodeBytes(
    text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}

/** RFC 3986 §2.3: everything but unreserved characters, byte by byte, upper-case hex. */
function encodeBytes(text: string): string {
  return text.replace(
    /[^A-Za-z0-9\-._~]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
