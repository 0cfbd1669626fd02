// What a signed request says about itself, parsed out of its Authorization header or its query and not yet believed.
import { parseCredential, parseDate, parseHex, parseSignedHeaders } from "./sigv4-parts.ts";
import { incomplete, SignatureProblem } from "./sigv4-refusals.ts";

/** A request as it came over the wire; nothing in it may have been decoded or re-ordered. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as received (`request.originalUrl`). */
  readonly rawPath: string;
  /** Names and values in turn, as Node's `request.rawHeaders`. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface SignatureClaim {
  readonly accessKeyId: string;
  readonly day: string;
  readonly region: string;
  readonly service: string;
  readonly terminator: string;
  readonly signedHeaders: readonly string[];
  /** 64 hex digits. */
  readonly signature: string;
  /** `yyyymmddThhmmssZ` */
  readonly amzDate: string;
  readonly instant: Date;
  /** Given in the query form only. */
  readonly expiresSeconds?: number;
  readonly sessionToken: string | undefined;
  readonly path: string;
  /** The queries that may have been signed: a session token may have been added after signing. */
  readonly canonicalQueries: readonly string[];
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** @throws SignatureProblem `missing` without any credentials, `incomplete` where they cannot be read. */
export function parseAuthorization(request: SignedRequest): SignatureClaim {
  const headers = readHeaders(request.rawHeaders);
  const mark = request.rawPath.indexOf("?");
  const path = mark < 0 ? request.rawPath : request.rawPath.slice(0, mark);
  const query = mark < 0 ? "" : request.rawPath.slice(mark + 1);
  const authorization = one(headers, "authorization");
  const presigned = readAmzQuery(query);
  if (authorization !== undefined && presigned.has("X-Amz-Signature")) {
    throw incomplete("Only one of the Authorization header and the X-Amz-Signature query parameter may be given.");
  }
  if (authorization !== undefined) return fromHeader(authorization, { headers, path, query });
  if (presigned.has("X-Amz-Signature") || presigned.has("X-Amz-Algorithm")) {
    return fromQuery(presigned, { headers, path, query });
  }
  throw new SignatureProblem("missing", "Request is missing Authentication Token");
}

interface Received {
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly path: string;
  readonly query: string;
}

function fromHeader(text: string, { headers, path, query }: Received): SignatureClaim {
  const [algorithm = "", rest = ""] = split(text, " ");
  if (algorithm !== ALGORITHM) throw incomplete(`Unsupported AWS 'algorithm': '${algorithm}'.`);
  const fields = readFields(rest, text);
  const date = one(headers, "x-amz-date") ?? one(headers, "date");
  const missing = ["Credential", "Signature", "SignedHeaders"]
    .filter((name) => !fields.get(name))
    .map((name) => `Authorization header requires '${name}' parameter.`);
  if (!date) missing.push("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
  if (missing.length > 0 || !date) throw incomplete(`${missing.join(" ")} Authorization=${algorithm}`);
  return {
    ...parseCredential(fields.get("Credential") ?? ""),
    ...parseDate(date),
    signedHeaders: parseSignedHeaders(fields.get("SignedHeaders") ?? ""),
    signature: parseHex(fields.get("Signature") ?? ""),
    sessionToken: one(headers, "x-amz-security-token"),
    path,
    canonicalQueries: [query],
    headers,
  };
}

function fromQuery(fields: ReadonlyMap<string, string>, { headers, path, query }: Received): SignatureClaim {
  const need = ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature"];
  const missing = [...need, "X-Amz-Expires"].filter((name) => !fields.get(name));
  if (missing.length > 0) {
    throw incomplete(missing.map((name) => `AWS query-string parameters must include '${name}'.`).join(" "));
  }
  const [algorithm = "", credential = "", date = "", signed = "", signature = ""] = need.map((name) =>
    fields.get(name),
  );
  if (algorithm !== ALGORITHM) throw incomplete(`Unsupported AWS 'algorithm': '${algorithm}'.`);
  const expires = fields.get("X-Amz-Expires") ?? "";
  if (!/^\d{1,6}$/.test(expires) || Number(expires) < 1 || Number(expires) > 604_800) {
    throw incomplete(`X-Amz-Expires must be between 1 and 604800 seconds, found '${expires}'.`);
  }
  const unsigned = without(query, "X-Amz-Signature");
  return {
    ...parseCredential(credential),
    ...parseDate(date),
    expiresSeconds: Number(expires),
    signedHeaders: parseSignedHeaders(signed),
    signature: parseHex(signature),
    sessionToken: fields.get("X-Amz-Security-Token") ?? one(headers, "x-amz-security-token"),
    path,
    canonicalQueries: fields.has("X-Amz-Security-Token")
      ? [unsigned, without(unsigned, "X-Amz-Security-Token")]
      : [unsigned],
    headers,
  };
}

function readHeaders(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? "").toLowerCase();
    const values = headers.get(name);
    if (values) values.push(raw[index + 1] ?? "");
    else headers.set(name, [raw[index + 1] ?? ""]);
  }
  return headers;
}

/** The one value of a header that must not be repeated. */
function one(headers: ReadonlyMap<string, readonly string[]>, name: string): string | undefined {
  const values = headers.get(name);
  if (values && values.length > 1) throw incomplete(`Header '${name}' may be given once only.`);
  return values?.[0]?.trim();
}

function readFields(text: string, whole: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const part of text.split(",").map((piece) => piece.trim())) {
    const mark = part.indexOf("=");
    if (mark < 1) {
      // the header is echoed as AWS does, but never a signature
      const safe = whole.replace(/Signature=[^,\s]*/g, "Signature=…").slice(0, 200);
      throw incomplete(
        `'${part.slice(0, 80)}' not a valid key=value pair (missing equal-sign) in Authorization header: '${safe}'.`,
      );
    }
    const name = part.slice(0, mark);
    if (fields.has(name)) throw incomplete(`Authorization header has '${name}' more than once.`);
    fields.set(name, part.slice(mark + 1));
  }
  return fields;
}

/** The `X-Amz-…` parameters of a query, decoded. */
function readAmzQuery(query: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (!query.includes("X-Amz-")) return fields;
  for (const pair of query.split("&")) {
    const [name = "", value = ""] = split(pair, "=");
    if (!name.startsWith("X-Amz-")) continue;
    if (fields.has(name)) throw incomplete(`Query parameter '${name}' may be given once only.`);
    fields.set(name, decode(value));
  }
  return fields;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw incomplete(`'${value.slice(0, 40)}' is not validly percent-encoded.`);
  }
}

function without(query: string, name: string): string {
  return query
    .split("&")
    .filter((pair) => !pair.startsWith(`${name}=`))
    .join("&");
}

function split(text: string, at: string): [string, string] {
  const mark = text.indexOf(at);
  return mark < 0 ? [text, ""] : [text.slice(0, mark), text.slice(mark + 1)];
}
