// Raw requests to a stack's edge: bytes as they are, nothing normalised; and a watch over everything that was said.
import net from "node:net";
import tls from "node:tls";
import { expect } from "vitest";
import type { Stack } from "../../testing/index.ts";

/** One answer, taken apart. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** All bytes, interim answers included. */
  readonly raw: string;
}

export interface Ask {
  readonly method?: string;
  /** As it goes onto the wire. */
  readonly target?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface EdgeClient {
  /** One request that asks for the connection to be closed. */
  ask(request: Ask): Promise<Answer>;
  /** Bytes out, bytes in until the other side closes. */
  send(bytes: string | Buffer): Promise<string>;
  /** The first bytes that a TLS client says. */
  clientHello(): Promise<Buffer>;
  /** From now on, nothing that is said may contain this. @returns the secret */
  guard(secret: string): string;
  /** Looks through the answers of refused requests, the event log and further texts for guarded secrets. */
  expectNothingLeaked(further?: readonly string[]): void;
}

/** A client of a running stack. */
export function createEdgeClient(stack: Stack): EdgeClient {
  const port = Number(new URL(stack.http).port);
  const secrets = new Set<string>();
  const heard: string[] = [];
  const send = (bytes: string | Buffer, afterContinue?: Buffer): Promise<string> =>
    new Promise((resolve) => {
      const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: false });
      const chunks: Buffer[] = [];
      socket.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (afterContinue && chunk.includes("100 Continue")) socket.write(afterContinue);
      });
      socket.on("error", () => {}); // a reset after the answer is as good as an end
      socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
      socket.write(bytes);
    });
  return {
    send: (bytes) => send(bytes),
    async ask({ method = "GET", target = "/", host = "localhost", headers = {}, body = "" }) {
      const lines = Object.entries({ Host: host, Connection: "close", ...headers });
      const length = method === "GET" || method === "HEAD" ? 0 : Buffer.byteLength(body);
      const framed = "Content-Length" in headers || "Transfer-Encoding" in headers;
      if (!framed && (length > 0 || method === "POST" || method === "PUT")) {
        lines.push(["Content-Length", String(length)]);
      }
      const head = [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join("\r\n");
      const start = Buffer.from(`${head}\r\n\r\n`, "latin1");
      // Who expects to be told to go on keeps the body back until then.
      const waits = headers.Expect === "100-continue";
      const raw = await (waits ? send(start, Buffer.from(body)) : send(Buffer.concat([start, Buffer.from(body)])));
      const answer = parseAnswer(raw);
      if (answer.status >= 400) heard.push(raw);
      return answer;
    },
    clientHello: () =>
      new Promise((resolve) => {
        const server = net.createServer((socket) => {
          socket.once("data", (hello: Buffer) => {
            socket.destroy();
            server.close();
            resolve(hello);
          });
        });
        server.listen(0, "127.0.0.1", () => {
          tls.connect({ port: (server.address() as net.AddressInfo).port, host: "127.0.0.1" }).on("error", () => {});
        });
      }),
    guard(secret) {
      secrets.add(secret);
      return secret;
    },
    expectNothingLeaked(further = []) {
      const said = [...heard, JSON.stringify(stack.events.page({ limit: 50_000 })), ...further].join("\n");
      expect(secrets.size).toBeGreaterThan(0);
      for (const secret of secrets) for (const part of tellingParts(secret)) expect(said).not.toContain(part);
    },
  };
}

/** The last answer on a connection: interim ones (1xx) come before it. */
function parseAnswer(raw: string): Answer {
  const final = /^(?:HTTP\/1\.1 1\d\d [^]*?\r\n\r\n)*(HTTP\/1\.1 [^]*)$/.exec(raw)?.[1] ?? "";
  const end = final.indexOf("\r\n\r\n");
  const [first = "", ...lines] = final.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const rest = final.slice(end + 4);
  const body = headers["transfer-encoding"] === "chunked" ? joinChunks(rest) : rest;
  return { status: Number(first.split(" ")[1] ?? 0), headers, body, raw };
}

function joinChunks(text: string): string {
  const [, size = "0"] = /^([0-9a-f]+)/i.exec(text) ?? [];
  const length = Number.parseInt(size, 16);
  const start = text.indexOf("\r\n") + 2;
  return length === 0 ? "" : text.slice(start, start + length) + joinChunks(text.slice(start + length + 2));
}

/** What would give a secret away: itself, the parts of a token, a piece from the middle of something long. */
function tellingParts(secret: string): string[] {
  const middle = secret.slice(secret.length >> 1).slice(0, 32);
  const last = secret.split(".").at(-1) ?? "";
  return [secret, last, middle].filter((part) => part.length >= 12);
}
