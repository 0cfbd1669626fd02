// The part of Go's net/url that matchImages and docker-config keys go through: authority and path, with Go's refusals.

/** An absolute URL as Go's `url.Parse` splits it. */
export interface GoUrl {
  /** `url.Host`: host with port, as written. */
  readonly authority: string;
  /** `url.Path`: percent-decoded. */
  readonly path: string;
}

/** The text of Go's `*url.Error`, e.g. `parse "https://%zz": invalid URL escape "%zz"`. */
export class GoUrlError extends Error {
  constructor(url: string, why: string) {
    super(`parse ${JSON.stringify(url)}: ${why}`);
  }
}

/** Bytes below 0x80 that Go lets stand in a host; everything else there is refused. */
const HOST_CHARACTERS = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]*$/u;

/**
 * Parses an absolute `http(s)://` URL.
 * @throws GoUrlError with Go's text.
 */
export function parseGoUrl(url: string): GoUrl {
  const refuse = (why: string) => new GoUrlError(url, why);
  if (hasControlCharacter(url)) throw refuse("net/url: invalid control character in URL");
  const scheme = /^https?:\/\//.exec(url)?.[0];
  if (!scheme) throw refuse("first path segment in URL cannot contain colon");
  const rest = url.slice(scheme.length).split("#", 1).join("").split("?", 1).join("");
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  checkHost(host, refuse);
  return { authority: host, path: decodePath(slash < 0 ? "" : rest.slice(slash), refuse) };
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\x7f");
}

function checkHost(host: string, refuse: (why: string) => GoUrlError): void {
  const bracket = host.lastIndexOf("[");
  if (bracket > 0) throw refuse("invalid IP-literal");
  const end = bracket === 0 ? host.lastIndexOf("]") : 0;
  if (end < 0) throw refuse("missing ']' in host");
  const colon = bracket === 0 ? end + 1 : host.lastIndexOf(":");
  const port = colon < 0 ? "" : host.slice(colon);
  if (port !== "" && !/^:\d*$/.test(port)) throw refuse(`invalid port ${JSON.stringify(port)} after host`);
  const percent = host.indexOf("%");
  // Go decodes only non-ASCII bytes in a host; no registry has such a name, so every escape is refused with its text.
  if (percent >= 0) throw refuse(`invalid URL escape ${JSON.stringify(host.slice(percent, percent + 3))}`);
  if (!HOST_CHARACTERS.test(host)) {
    const bad = [...host].find((character) => !HOST_CHARACTERS.test(character)) ?? "";
    throw refuse(`invalid character ${JSON.stringify(bad)} in host name`);
  }
}

function decodePath(path: string, refuse: (why: string) => GoUrlError): string {
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(path);
  if (bad) throw refuse(`invalid URL escape ${JSON.stringify(bad[0])}`);
  return path.replace(/(%[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}

/** Go's `net.SplitHostPort`, with the whole authority as host where that fails. */
export function splitHostPort(authority: string): { readonly host: string; readonly port: string } {
  const match = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:]*)$/.exec(authority);
  return match ? { host: match[1] ?? match[2] ?? "", port: match[3] ?? "" } : { host: authority, port: "" };
}
