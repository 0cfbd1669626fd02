// From an image name to the host whose credentials are asked for (spec aws 1.3). The grammar is that of Go's
// net/url, whose refusals reach the kubelet word by word; the URL class of the platform would lower-case the host.
import { parseEcrHost } from "../../shared/aws/registry-host.ts";
import { PluginError } from "../errors.ts";
import type { ImageHost } from "../types.ts";

const PUBLIC_HOSTS: readonly string[] = ["public.ecr.aws", "ecr-public.aws.com"];

/**
 * The host of an image name, without port, user, path, and with its case kept.
 * @throws PluginError in the words of Go's net/url when the name is not a URL.
 */
export function parseImageHost(image: string): ImageHost {
  const url = image.includes("://") ? image : `https://${image}`;
  const outcome = parseHostname(url);
  if ("refusal" in outcome) {
    throw new PluginError(`error parsing image reference ${url}: parse ${quote(url)}: ${outcome.refusal}`);
  }
  const { host } = outcome;
  if (PUBLIC_HOSTS.includes(host)) return { host, kind: "public", region: undefined };
  const region = parseEcrHost(host)?.region;
  return region === undefined ? { host, kind: "other", region } : { host, kind: "private", region };
}

type Outcome = { readonly host: string } | { readonly refusal: string };

function parseHostname(url: string): Outcome {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(url)) return { refusal: "net/url: invalid control character in URL" };
  if (url.startsWith(":")) return { refusal: "missing protocol scheme" };
  const [beforeFragment = "", ...fragment] = url.split("#");
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(beforeFragment)?.[0];
  if (!scheme) return { refusal: "first path segment in URL cannot contain colon" };
  const rest = beforeFragment.slice(scheme.length).split("?")[0] ?? "";
  if (!rest.startsWith("//")) return { host: "" };
  const end = rest.indexOf("/", 2);
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end);
  const at = authority.lastIndexOf("@");
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) {
    return { refusal: "net/url: invalid userinfo" };
  }
  const outcome = parseHostAndPort(authority.slice(at + 1));
  if ("refusal" in outcome) return outcome;
  const badEscape = findBadEscape(end < 0 ? "" : rest.slice(end)) ?? findBadEscape(fragment.join("#"));
  return badEscape ? { refusal: `invalid URL escape ${quote(badEscape)}` } : outcome;
}

function parseHostAndPort(authority: string): Outcome {
  const bracket = authority.startsWith("[") ? authority.lastIndexOf("]") : 0;
  if (bracket < 0) return { refusal: "missing ']' in host" };
  const colon = bracket > 0 ? bracket + 1 : authority.indexOf(":");
  const port = colon < 0 ? "" : authority.slice(colon);
  if (port && !/^:\d*$/.test(port)) return { refusal: `invalid port ${quote(port)} after host` };
  const host = bracket > 0 ? authority.slice(1, bracket) : authority.slice(0, authority.length - port.length);
  const badEscape = findBadEscape(host) ?? /%[0-7][0-9a-fA-F]/.exec(host)?.[0];
  if (badEscape && bracket === 0) return { refusal: `invalid URL escape ${quote(badEscape)}` };
  const wrong = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)?.[0];
  if (wrong) return { refusal: `invalid character ${quote(wrong)} in host name` };
  return { host: host.includes("%") && bracket === 0 ? decodeURIComponent(host) : host };
}

function findBadEscape(text: string): string | undefined {
  return /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)?.[0];
}

// Go's %q for the characters that can get here.
function quote(text: string): string {
  return JSON.stringify(text)
    .replace(/\\u00([0-9a-f]{2})/g, "\\x$1")
    .replaceAll("\u007f", "\\x7f");
}
