// The one listener: http and https on one port, certificates by server name, requests handed to rooms by host and shape.
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Socket } from "node:net";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext } from "node:tls";
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from "express";
import { ConfigurationError } from "./errors.ts";
import { redact } from "./redact.ts";
import { hasOneHost, settleTarget } from "./request-target.ts";
import type { CertificateAuthority, ServerCertificate } from "./tls.ts";

/** What routing may look at: nothing of the body is read yet. */
export interface EdgeRequest {
  /** Lower case, without port. */
  readonly host: string;
  readonly method: string;
  /** The raw path without query. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingMessage["headers"];
}

export interface EdgeOptions {
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Further ports, such as 443 and 80 inside a container; all of them speak both protocols. */
  readonly morePorts?: readonly number[];
  /** The room's router for a request; undefined for what this stack does not answer (421). */
  route(request: EdgeRequest): RequestHandler | undefined;
  readonly certificates: CertificateAuthority;
}

/** A listening edge. */
export interface Edge {
  readonly port: number;
  /** Stops listening, lets requests in flight finish for a moment, then drops what is left. */
  close(): Promise<void>;
}

/** Registries see slow uploads, idle Go clients (90 s) and tokens above 8 KiB (spec registry 1.15). */
const SERVER_OPTIONS = {
  requestTimeout: 0,
  headersTimeout: 60_000,
  keepAliveTimeout: 95_000,
  maxHeaderSize: 64 * 1024,
} satisfies http.ServerOptions;

/** How long `close` waits for answers that are under way. */
const CLOSE_GRACE_MS = 2_000;
const TLS_HANDSHAKE = 0x16;
/** The order that Go's servers and load balancers of clouds have: the shorter key first, which blobs feel. */
const CIPHERS = `TLS_AES_128_GCM_SHA256:${DEFAULT_CIPHERS}`;

/**
 * Starts listening.
 * @throws ConfigurationError when the port is taken or may not be used
 */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const app = createApp(options.route);
  const plain = http.createServer(SERVER_OPTIONS, app);
  plain.on("checkContinue", (request, response) => app(continueOnRead(request, response), response));
  plain.emit("listening"); // it never listens itself; this starts its tracking of idle and slow connections
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>(); // no byte seen yet: neither http nor https
  let secure: Promise<https.Server> | undefined;

  const accept = (socket: Socket): void => {
    sockets.add(socket);
    silent.add(socket);
    socket.once("close", () => sockets.delete(socket) && silent.delete(socket));
    socket.on("error", () => socket.destroy()); // a client that went away is no failure of ours
    socket.once("data", (first: Buffer) => {
      silent.delete(socket);
      socket.pause();
      socket.unshift(first);
      if (first[0] !== TLS_HANDSHAKE) return hand(plain, socket);
      secure ??= createSecureServer(options.certificates, app);
      secure.then(
        (server) => hand(server, socket),
        () => socket.destroy(),
      );
    });
  };

  const { address } = options;
  const first = await listen(accept, { address, port: options.port });
  const { port } = first.address() as AddressInfo;
  const listeners = [first];
  const stopListening = () => Promise.all(listeners.map((one) => new Promise((resolve) => one.close(resolve))));
  try {
    for (const more of options.morePorts ?? []) listeners.push(await listen(accept, { address, port: more }));
  } catch (error) {
    await stopListening();
    throw error;
  }
  return {
    port,
    async close() {
      const closed = stopListening();
      for (const socket of silent) socket.destroy();
      plain.close(); // closes idle connections
      (await secure?.catch(() => undefined))?.close();
      const dropAll = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, CLOSE_GRACE_MS);
      await closed;
      clearTimeout(dropAll);
    },
  };
}

function hand(server: net.Server, socket: Socket): void {
  server.emit("connection", socket);
  socket.resume();
}

function listen(accept: (socket: Socket) => void, options: { address: string; port: number }): Promise<net.Server> {
  const listener = net.createServer({ noDelay: true }, accept);
  return new Promise((resolve, reject) => {
    listener.once("error", (cause: NodeJS.ErrnoException) => {
      const where = `${options.address}:${options.port}`;
      const hints: Record<string, string> = {
        EADDRINUSE: "stop the other program, or choose another port with --port (0 takes a free one)",
        EACCES: "choose ports above 1023 with --port and --more-ports",
        EADDRNOTAVAIL: "choose an address of this machine with --host",
      };
      const hint = hints[cause.code ?? ""];
      reject(
        new ConfigurationError(`cannot listen on ${where}: ${cause.message}`, { cause, ...(hint ? { hint } : {}) }),
      );
    });
    listener.listen({ host: options.address, port: options.port }, () => resolve(listener));
  });
}

async function createSecureServer(
  certificates: CertificateAuthority,
  app: http.RequestListener,
): Promise<https.Server> {
  const contexts = new WeakMap<ServerCertificate, SecureContext>();
  const contextFor = async (name: string) => {
    const certificate = await certificates.certificateFor(name);
    const context = contexts.get(certificate) ?? createSecureContext(certificate);
    contexts.set(certificate, context);
    return context;
  };
  const fallback = await certificates.certificateFor("");
  const server = https.createServer(
    {
      ...SERVER_OPTIONS,
      ...fallback,
      ALPNProtocols: ["http/1.1"],
      ciphers: CIPHERS,
      SNICallback: (name, done) => {
        contextFor(name).then((context) => done(null, context), done);
      },
    },
    app,
  );
  server.on("checkContinue", (request, response) => app(continueOnRead(request, response), response));
  server.emit("listening");
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return server;
}

/** `Expect: 100-continue`: the client is told to go on when somebody reads, so a refusal comes before any byte. */
function continueOnRead(request: IncomingMessage, response: ServerResponse): IncomingMessage {
  const read = request._read.bind(request);
  let told = false;
  request._read = (size) => {
    if (!told && !response.headersSent) response.writeContinue();
    told = true;
    read(size);
  };
  return request;
}

function createApp(route: EdgeOptions["route"]): http.RequestListener {
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", false);
  app.set("query parser", false);
  app.use((request, response, next) => {
    const seen = describe(request);
    if (!hasOneHost(request)) return refuse(response, 400, "bad request", { expected: "one Host", found: "several" });
    const router = route(seen);
    if (router) return void router(request, response, next);
    const expected = "a host name or request shape that this stack answers for";
    refuse(response, 421, "misdirected request", { expected, found: nameRequest(seen) });
  });
  app.use((request, response) => {
    const expected = "a path that the service of this host name has";
    refuse(response, 404, "not found", { expected, found: nameRequest(describe(request)) });
  });
  app.use(answerFailure);
  return (request, response) => {
    settleTarget(request);
    app(request, response);
  };
}

function refuse(response: Response, status: number, error: string, facts: { expected: string; found: string }): void {
  response.status(status).json({ error, ...facts });
}

function nameRequest({ method, path, host }: EdgeRequest): string {
  return `${method} ${path} on host ${host || "(none)"}`;
}

/** What no room turned into its own words: the log has the whole of it, the caller hears nothing of our insides. */
const answerFailure: ErrorRequestHandler = (error, _request, response, _next) => {
  console.error(redact(error instanceof Error ? String(error.stack) : String(error)));
  if (response.headersSent) response.destroy();
  else response.status(500).json({ error: "internal error" });
};

function describe(request: IncomingMessage): EdgeRequest {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  return {
    host: hostOf(request.headers.host),
    method: request.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    headers: request.headers,
  };
}

/** The host of a `Host` header without its port, lower case; IPv6 addresses keep their brackets off. */
export function hostOf(header: string | undefined): string {
  const match = /^(?:\[([^\]]+)\]|([^:]*))(?::\d+)?$/.exec(header ?? "");
  return (match?.[1] ?? match?.[2] ?? "").toLowerCase();
}
