// The control API from outside: requests to a running stack, and errors that name cause and cure.
import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { join } from "node:path";
import { ConfigurationError } from "../shared/errors.ts";

export const DEFAULT_ENDPOINT = "http://127.0.0.1:4566";

/** Options that every command with a running stack has; each falls back to its variable. */
export interface ClientOptions {
  /** `PULLPROOF_ENDPOINT`, else http://127.0.0.1:4566 */
  readonly endpoint?: string;
  /** `PULLPROOF_CONTROL_KEY`, else `control.key` in `PULLPROOF_DATA_DIR`. */
  readonly controlKey?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ControlClient {
  readonly endpoint: string;
  /** The JSON answer of an operation; `path` is without the prefix. @throws ConfigurationError */
  request(method: "GET" | "PUT" | "POST" | "DELETE", path: string, body?: unknown): Promise<unknown>;
  /** The answer as text. */
  text(path: string): Promise<string>;
  /** Events as they happen, until the stack or the signal ends it. */
  follow(path: string, onEvent: (event: unknown) => void, signal?: AbortSignal): Promise<void>;
}

const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;
/** A pull waits for a plugin (up to a minute) and its retries. */
const TIMEOUT_MS = 300_000;

/**
 * A client for the stack that the options or the environment name.
 * @throws ConfigurationError for an endpoint that is no URL
 */
export function createControlClient(options: ClientOptions, environment: Environment): ControlClient {
  const endpoint = (options.endpoint ?? environment.PULLPROOF_ENDPOINT ?? DEFAULT_ENDPOINT).replace(/\/+$/, "");
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new ConfigurationError(`expected the endpoint as an http or https URL, found "${endpoint}"`, {
      hint: `such as ${DEFAULT_ENDPOINT}`,
    });
  }
  const dataFile = (name: string) => readDataFile(environment.PULLPROOF_DATA_DIR, name);
  const key = findControlKey(options, environment);
  const ca = endpoint.startsWith("https:") ? (readFile(environment.AWS_CA_BUNDLE) ?? dataFile("ca.pem")) : undefined;
  const connection: Connection = { endpoint, ...(key ? { key } : {}), ...(ca ? { ca } : {}) };
  return {
    endpoint,
    async request(method, path, body) {
      const answer = await send(connection, { method, path, body: body ?? (method === "GET" ? undefined : {}) });
      return parseJson(connection, path, await readAll(connection, answer));
    },
    async text(path) {
      return readAll(connection, await send(connection, { method: "GET", path }));
    },
    async follow(path, onEvent, signal) {
      const request = { method: "GET", path, accept: "text/event-stream", ...(signal ? { signal } : {}) };
      await readEvents(await send(connection, request), onEvent, signal);
    },
  };
}

/** The key that the options, the environment or the stack's folder hold; an empty variable counts as unset. */
export function findControlKey({ controlKey }: ClientOptions, environment: Environment): string | undefined {
  const { PULLPROOF_CONTROL_KEY, PULLPROOF_DATA_DIR } = environment;
  return controlKey ?? (PULLPROOF_CONTROL_KEY || readDataFile(PULLPROOF_DATA_DIR, "control.key")?.trim());
}

function readDataFile(directory: string | undefined, name: string): string | undefined {
  return directory === undefined ? undefined : readFile(join(directory, name));
}

function readFile(file: string | undefined): string | undefined {
  return file !== undefined && existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

interface Connection {
  readonly endpoint: string;
  readonly key?: string;
  readonly ca?: string;
}

interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/** The answer of a request that succeeded. */
async function send(connection: Connection, outgoing: Outgoing): Promise<http.IncomingMessage> {
  const answer = await dial(connection, outgoing);
  const status = answer.statusCode ?? 0;
  // 503 is how `health` says that a service does not answer; its body is the answer.
  if (status < 400 || (status === 503 && outgoing.path === "health")) return answer;
  throw renderRefusal(connection, status, await readAll(connection, answer));
}

function dial({ endpoint, key, ca }: Connection, outgoing: Outgoing): Promise<http.IncomingMessage> {
  const { method, path, body, accept = "application/json", signal } = outgoing;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const options: https.RequestOptions = {
    method,
    headers: {
      Accept: accept,
      ...(key ? { Authorization: `Bearer ${key}` } : {}),
      // Node gives a DELETE no length of its own, and the body would be taken for the next request.
      ...(payload === undefined
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(payload)) }),
    },
    timeout: accept === "text/event-stream" ? 0 : TIMEOUT_MS,
    ...(ca ? { ca } : {}),
    ...(signal ? { signal } : {}),
  };
  const url = `${endpoint}/_pullproof/${path}`;
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:") ? https.request(url, options) : http.request(url, options);
    request.once("response", resolve);
    request.once("timeout", () => request.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    request.once("error", (error) => reject(renderNetworkError(endpoint, error)));
    request.end(payload);
  });
}

async function readAll(connection: Connection, answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer) {
      size += chunk.length;
      if (size > ANSWER_LIMIT_BYTES) throw new Error(`the answer is longer than ${ANSWER_LIMIT_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw renderNetworkError(connection.endpoint, error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson({ endpoint }: Connection, path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError(`what answers at ${endpoint} is no pullproof stack: ${path} gave no JSON`, {
      cause,
      hint: ENDPOINT_HINT,
    });
  }
}

const ENDPOINT_HINT = "start one with 'pullproof up', or name another one with --endpoint or PULLPROOF_ENDPOINT";

const NETWORK_CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name is unknown",
  ECONNRESET: "the connection was closed before an answer",
  ETIMEDOUT: "it cannot be reached",
  EHOSTUNREACH: "it cannot be reached",
};

function renderNetworkError(endpoint: string, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "ABORT_ERR") return cause instanceof Error ? cause : new Error("aborted");
  if (/CERT|SELF_SIGNED|ALTNAME|ISSUER/.test(code)) {
    const hint = "give its CA with AWS_CA_BUNDLE or PULLPROOF_DATA_DIR, or use the http endpoint";
    return new ConfigurationError(`the certificate of ${endpoint} is not trusted (${code})`, { cause, hint });
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const why = NETWORK_CAUSES[code] ?? message;
  return new ConfigurationError(`no stack answers at ${endpoint}: ${why}`, { cause, hint: ENDPOINT_HINT });
}

/** `{error: {code, message, hint?}}` of the control API as an error for people. */
function renderRefusal({ endpoint }: Connection, status: number, text: string): ConfigurationError {
  const error = parseRefusal(text);
  if (!error) {
    const message = `what answers at ${endpoint} is no pullproof stack (HTTP ${status})`;
    return new ConfigurationError(message, { hint: ENDPOINT_HINT });
  }
  const hint =
    status === 401 ? "give the key with --control-key, PULLPROOF_CONTROL_KEY or PULLPROOF_DATA_DIR" : error.hint;
  return new ConfigurationError(error.message, hint === undefined ? {} : { hint });
}

function parseRefusal(text: string): { message: string; hint?: string } | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; hint?: unknown } };
    if (typeof error?.message !== "string") return undefined;
    return { message: error.message, ...(typeof error.hint === "string" ? { hint: error.hint } : {}) };
  } catch {
    return undefined; // no JSON: the caller says that this is no stack
  }
}

/** Server-sent events (WHATWG HTML §9.2): only `data` lines matter here, one event each. */
async function readEvents(answer: http.IncomingMessage, onEvent: (event: unknown) => void, signal?: AbortSignal) {
  let rest = "";
  try {
    for await (const chunk of answer.setEncoding("utf8")) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: ")) onEvent(JSON.parse(line.slice("data: ".length)));
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
