// Outgoing HTTP with in-process name resolution: the stack's host names reach the edge without DNS,
// and names outside the world are never dialled unless the switch `outsideNetwork` is on.
import http from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";

export interface DialRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | Readable;
  readonly signal?: AbortSignal;
  /** Time without any progress after which the request fails; 30 000 ms unless told. */
  readonly timeoutMs?: number;
}

export interface DialResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Must be read, destroyed or `resume()`d. */
  readonly body: http.IncomingMessage;
}

/** Outgoing requests by real host name. Fails with an error whose message names the host and the cause. */
export interface Dialer {
  request(url: string | URL, request?: DialRequest): Promise<DialResponse>;
  /** Closes idle connections. */
  close(): void;
}

/** Where a host name really is. */
export interface DialTarget {
  readonly address: string;
  readonly port: number;
  readonly tls: boolean;
}

export interface DialerOptions {
  /** The stack's own address for a name it answers for; undefined for foreign names. */
  resolve(host: string): DialTarget | undefined;
  /** The CA of the stack, PEM; read when TLS is first used. */
  ca(): string;
  /** Whether this foreign name may be dialled on the network. */
  mayLeave(host: string): boolean;
}

/** A dialer that keeps connections alive; the `Host` header and the TLS server name stay the real name. */
export function createDialer(options: DialerOptions): Dialer {
  const plain = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const secure = new https.Agent({ keepAlive: true, maxSockets: 64 });
  return {
    request(input, request = {}) {
      const url = new URL(input);
      const target = options.resolve(url.hostname) ?? outside(url, options.mayLeave(url.hostname));
      const settings: https.RequestOptions = {
        host: target.address,
        port: target.port,
        method: request.method ?? "GET",
        path: url.pathname + url.search,
        headers: { host: url.host, ...lengthOf(request.body), ...request.headers },
        timeout: request.timeoutMs ?? 30_000,
        agent: target.tls ? secure : plain,
        ...(request.signal ? { signal: request.signal } : {}),
        ...(target.tls ? { servername: url.hostname, ca: options.ca() } : {}),
      };
      return send(url, target.tls ? https.request(settings) : http.request(settings), request);
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Node frames the body of a DELETE only if it is told the length. */
function lengthOf(body: DialRequest["body"]): Record<string, string> {
  return typeof body === "string" || Buffer.isBuffer(body) ? { "content-length": String(Buffer.byteLength(body)) } : {};
}

function outside(url: URL, allowed: boolean): DialTarget {
  if (!allowed) {
    throw new Error(`dial ${url.host}: no such host in this world (and the switch outsideNetwork is off)`);
  }
  const tls = url.protocol === "https:";
  return { address: url.hostname, port: Number(url.port) || (tls ? 443 : 80), tls };
}

function send(url: URL, outgoing: http.ClientRequest, request: DialRequest): Promise<DialResponse> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => reject(new Error(`dial ${url.host}: ${cause.message}`, { cause }));
    outgoing.once("response", (body) => resolve({ status: body.statusCode ?? 0, headers: body.headers, body }));
    outgoing.once("timeout", () => outgoing.destroy(new Error("timed out")));
    outgoing.once("error", fail);
    const { body } = request;
    if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) outgoing.end(body);
    else body.once("error", (error) => outgoing.destroy(error)).pipe(outgoing);
  });
}

/**
 * The whole body of an answer.
 * @throws if it is longer than `limitBytes`.
 */
export async function readResponse(response: DialResponse, limitBytes = 1 << 22): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += (chunk as Buffer).length;
    if (size > limitBytes) {
      response.body.destroy();
      throw new Error(`answer is longer than ${limitBytes} bytes`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
