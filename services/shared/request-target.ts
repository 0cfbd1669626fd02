// What a request is about before anyone looks at its path: one host, and the target in origin form.
import type { IncomingMessage } from "node:http";

/**
 * Brings an absolute target (`GET http://host/path`, as sent to proxies) into origin form; its host takes the place of
 * the `Host` header (RFC 9112 §3.2.2). Nothing else of the target is changed: dot segments stay.
 */
export function settleTarget(request: IncomingMessage): void {
  const [, authority, rest = ""] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? "") ?? [];
  if (authority === undefined) return;
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  request.headers.host = authority;
}

/** More than one `Host` makes it a matter of taste whom a request is for; it is refused (RFC 9112 §3.2). */
export function hasOneHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === "host") hosts += 1;
  }
  return hosts <= 1;
}
