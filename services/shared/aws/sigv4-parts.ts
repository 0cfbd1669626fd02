// The single parts of a signature's claim, each parsed or refused as incomplete.
import { incomplete } from "./sigv4-refusals.ts";

/** Access key id and scope of `<key>/<yyyymmdd>/<region>/<service>/aws4_request`. @throws SignatureProblem */
export function parseCredential(text: string) {
  const parts = text.split("/");
  const [accessKeyId = "", day = "", region = "", service = "", terminator = ""] = parts;
  if (parts.length !== 5 || !/^\w{3,128}$/.test(accessKeyId)) {
    throw incomplete(
      `Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, found ${parts.length}.`,
    );
  }
  return { accessKeyId, day, region, service, terminator };
}

/** The names of the headers under the signature. @throws SignatureProblem */
export function parseSignedHeaders(text: string): readonly string[] {
  const names = text.split(";");
  // lower case, sorted, each once: anything else is no canonical request
  const canonical = names.every(
    (name, at) => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && (at === 0 || (names[at - 1] ?? "") < name),
  );
  if (!canonical) throw incomplete("SignedHeaders must be lower-case header names, sorted and separated by ';'.");
  return names;
}

/** The signature itself. @throws SignatureProblem */
export function parseHex(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw incomplete(`Signature must be 64 lower-case hexadecimal digits, found ${text.length} characters.`);
}

/** The instant of an `X-Amz-Date` or `Date`, also as `yyyymmddThhmmssZ`. @throws SignatureProblem */
export function parseDate(text: string): { amzDate: string; instant: Date } {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  const [, year, month, day, hour, minute, second] = match ?? [];
  const instant = new Date(match ? `${year}-${month}-${day}T${hour}:${minute}:${second}Z` : httpDate(text));
  if (Number.isNaN(instant.getTime())) {
    throw incomplete(
      `Date must be in ISO-8601 'basic format'. Got '${text.slice(0, 40)}'. See http://en.wikipedia.org/wiki/ISO_8601`,
    );
  }
  return { amzDate: instant.toISOString().replace(/[-:]|\.\d{3}/g, ""), instant };
}

/** Only RFC 9110's preferred date form may stand in for `X-Amz-Date`; JavaScript alone would read far more. */
function httpDate(text: string): string {
  return /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text) ? text : "";
}
