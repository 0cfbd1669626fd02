// Makes signatures of version 4: what a client does. For tests, measurements and the demo.
import { computeSignature, renderCanonicalRequest, sha256Hex } from "./sigv4-canonical.ts";

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SignOptions {
  readonly key: SigningKey;
  readonly service: string;
  readonly region: string;
  readonly now: Date;
}

export interface RequestToSign {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly rawPath: string;
  /** Must hold `host`; all of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The headers to send: those given, plus `x-amz-date`, the session token and `authorization`. */
export function signRequest(request: RequestToSign, options: SignOptions): Record<string, string> {
  const { key, service, region, now } = options;
  const amzDate = renderDate(now);
  const headers: Record<string, string> = { ...lowerCase(request.headers), "x-amz-date": amzDate };
  if (key.sessionToken !== undefined) headers["x-amz-security-token"] = key.sessionToken;
  const scope = { day: amzDate.slice(0, 8), region, service };
  const signedHeaders = Object.keys(headers).sort();
  const canonicalRequest = canonicalize(request, { headers, signedHeaders, rawPath: request.rawPath });
  const signature = computeSignature(key.secretAccessKey, scope, { amzDate, canonicalRequest });
  const credential = `${key.accessKeyId}/${scope.day}/${region}/${service}/aws4_request`;
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signedHeaders.join(";")}, Signature=${signature}`;
  return headers;
}

/** The presigned path and query of a request; good for `expiresSeconds` (1 to 604800). */
export function presignRequest(request: RequestToSign, options: SignOptions & { expiresSeconds: number }): string {
  const { key, service, region, now } = options;
  const amzDate = renderDate(now);
  const scope = { day: amzDate.slice(0, 8), region, service };
  const headers = lowerCase(request.headers);
  const signedHeaders = Object.keys(headers).sort();
  const fields = {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${key.accessKeyId}/${scope.day}/${region}/${service}/aws4_request`,
    "X-Amz-Date": amzDate,
    "X-Amz-Expires": String(options.expiresSeconds),
    ...(key.sessionToken === undefined ? {} : { "X-Amz-Security-Token": key.sessionToken }),
    "X-Amz-SignedHeaders": signedHeaders.join(";"),
  };
  const added = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const rawPath = `${request.rawPath}${request.rawPath.includes("?") ? "&" : "?"}${added.join("&")}`;
  const canonicalRequest = canonicalize(request, { headers, signedHeaders, rawPath });
  return `${rawPath}&X-Amz-Signature=${computeSignature(key.secretAccessKey, scope, { amzDate, canonicalRequest })}`;
}

function canonicalize(
  request: RequestToSign,
  signed: { headers: Record<string, string>; signedHeaders: readonly string[]; rawPath: string },
): string {
  const mark = signed.rawPath.indexOf("?");
  return renderCanonicalRequest({
    method: request.method,
    path: mark < 0 ? signed.rawPath : signed.rawPath.slice(0, mark),
    query: mark < 0 ? "" : signed.rawPath.slice(mark + 1),
    headers: new Map(Object.entries(signed.headers).map(([name, value]) => [name, [value]])),
    signedHeaders: signed.signedHeaders,
    payloadHash: sha256Hex(Buffer.from(request.body ?? "")),
    normalizePath: true,
  });
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function renderDate(instant: Date): string {
  return instant.toISOString().replace(/[-:]|\.\d{3}/g, "");
}
