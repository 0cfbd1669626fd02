// `fetch` for the stack's own names: no DNS, no network.
import { Readable } from "node:stream";
import type { Dialer } from "../shared/dial.ts";
import type { StackFetch } from "./types.ts";

/** Statuses whose answers must not have a body (Fetch standard, null body status). */
const NULL_BODY = new Set([101, 204, 205, 304]);

/** A `fetch` over the stack's dialer; redirects are not followed, so that tests see them. */
export function createStackFetch(dialer: Dialer): StackFetch {
  return async (input, init = {}) => {
    const { method = "GET", headers, body } = init;
    const response = await dialer.request(input, {
      method,
      headers: Object.fromEntries(new Headers(headers).entries()),
      ...(body === undefined || body === null ? {} : { body: typeof body === "string" ? body : Buffer.from(body) }),
    });
    const answer = new Headers();
    for (const [name, value] of Object.entries(response.headers)) {
      for (const item of [value ?? []].flat()) answer.append(name, item);
    }
    const empty = method === "HEAD" || NULL_BODY.has(response.status);
    if (empty) response.body.resume();
    const stream = empty ? null : (Readable.toWeb(response.body) as ReadableStream<Uint8Array>);
    return new Response(stream, { status: response.status, headers: answer });
  };
}
