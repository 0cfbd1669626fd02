// For this room's tests: one raw HTTP request, and the answer as it came over the wire.
import { type IncomingMessage, request as startRequest } from "node:http";
import { buffer } from "node:stream/consumers";

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  readonly text: string;
}

export interface Ask {
  /** User of the Basic credentials; the password is `<user>-password`. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The registry of the rig. */
export const HOST = "registry.example.test";

/** Sends one request with the path exactly as given. */
export function send(port: number, ask: Ask & { readonly method: string; readonly path: string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { Host: HOST, ...credentialsOf(ask.as), ...ask.headers };
    const request = startRequest({ port, host: "127.0.0.1", method: ask.method, path: ask.path, headers });
    request.on("error", reject);
    request.on("response", (response) => {
      buffer(response).then((body) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, text: body.toString() });
      }, reject);
    });
    request.end(ask.body);
  });
}

/** The Authorization header of a user whose password is `<user>-password`. */
export function credentialsOf(user: string | undefined): Record<string, string> {
  if (user === undefined) return {};
  return { Authorization: `Basic ${Buffer.from(`${user}:${user}-password`).toString("base64")}` };
}
