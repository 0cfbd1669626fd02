// The `issuers` of a world: who signs tokens, with which key, or whose keys are trusted from outside.
import { createPrivateKey, type KeyObject } from "node:crypto";
import type { SigningAlgorithm, WorldIssuer } from "./types.ts";
import { anyMap, list } from "./world-collections.ts";
import type { WorldContext } from "./world-context.ts";
import { optional, readFields, required } from "./world-fields.ts";
import type { Place } from "./world-place.ts";
import { oneOf, secretText, type TextRule, text } from "./world-texts.ts";
import { isMap } from "./world-value.ts";

/** What IAM accepts as a provider's URL (spec aws 2.3). */
const MAXIMUM_URL_CHARACTERS = 255;

/** Reads one issuer. A key that does not fit the algorithm is a mistake here, not at the first token. */
export function readIssuer(place: Place, context: WorldContext): WorldIssuer {
  const name = String(place.path.at(-1));
  const fields = readFields(place, {
    url: required((url) => readIssuerUrl(url, name, context)),
    alg: optional(oneOf("RS256", "RS384", "RS512", "ES256", "ES384", "ES512"), "RS256" as const),
    key: optional((key) => readKey(key, context), undefined),
    trust: optional(oneOf("fetch"), undefined),
    jwks: optional(readJwks, undefined),
  });
  const { url, alg, key, trust, jwks } = fields;
  const ways = ["key", "trust", "jwks"].filter((way) => place.at(way).value !== undefined);
  if (ways.length > 1) place.at(ways[1] ?? "").refuseKey("only one of key, trust, jwks", ways.join(" and "));
  if (key && ways.length === 1) checkKey(place.at("key"), key, alg);
  const foreign = jwks ? { jwks } : trust ? { trust } : undefined;
  return { name, url, alg, ...(key ? { key } : {}), ...(foreign ? { foreign } : {}) };
}

function readIssuerUrl(place: Place, name: string, context: WorldContext): string {
  const scheme = context.httpIssuers ? "an https or http URL" : "an https URL (http needs the switch httpIssuers)";
  const rule: TextRule = {
    expected: `${scheme} of at most ${MAXIMUM_URL_CHARACTERS} characters, without query, fragment or user`,
    test: (url) => isIssuerUrl(url, context.httpIssuers),
  };
  const url = text(rule)(place);
  for (const [other, otherUrl] of context.issuers) {
    if (other === name) break;
    if (url !== "" && url === otherUrl)
      place.refuse("a URL of its own for each issuer", `the URL of the issuer ${other}`);
  }
  return url;
}

function isIssuerUrl(text: string, http: boolean): boolean {
  if (text.length > MAXIMUM_URL_CHARACTERS || !URL.canParse(text) || /[\s?#\\]/.test(text)) return false;
  if (!(text.startsWith("https://") || (http && text.startsWith("http://")))) return false;
  const url = new URL(text);
  // The issuer is compared as text: what a URL parser would rewrite can never be equal to a token's `iss`.
  const spelled = text.slice(0, text.indexOf("://") + 3) + url.host;
  return url.username === "" && url.password === "" && text.startsWith(spelled);
}

function readKey(place: Place, context: WorldContext): WorldIssuer["key"] {
  const fields = readFields(place, {
    pem: optional(
      secretText({ expected: "a private key in PEM", test: /^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/ }),
      undefined,
    ),
    jwk: optional(anyMap, undefined),
    file: optional(text({ expected: "the name of a PEM file", test: /./ }), undefined),
  });
  if (isMap(place.value) && Object.keys(place.value).length !== 1) {
    place.refuse("exactly one of pem, jwk, file", `${Object.keys(place.value).join(" and ") || "none"}`);
    return undefined;
  }
  if (fields.jwk) return { jwk: fields.jwk };
  const pem = fields.file ? readKeyFile(place.at("file"), fields.file, context) : fields.pem;
  return pem ? { pem } : undefined;
}

function readKeyFile(place: Place, file: string, context: WorldContext): string | undefined {
  if (!context.readKeyFile) {
    place.refuse("a key given as pem or jwk (only a world file can name files)");
    return undefined;
  }
  try {
    return context.readKeyFile(context.resolvePath?.(file) ?? file);
  } catch (error) {
    // A file that cannot be read is one more mistake of the world, to be listed with the others.
    place.refuse("a readable PEM file", `${JSON.stringify(file)}: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

const CURVES: Partial<Record<SigningAlgorithm, string>> = {
  ES256: "prime256v1",
  ES384: "secp384r1",
  ES512: "secp521r1",
};
const MINIMUM_RSA_BITS = 2048;

function checkKey(place: Place, key: NonNullable<WorldIssuer["key"]>, alg: SigningAlgorithm): void {
  const curve = CURVES[alg];
  const expected = curve
    ? `a private EC key on ${curve}, as ${alg} needs`
    : `a private RSA key of at least ${MINIMUM_RSA_BITS} bits, as ${alg} needs`;
  const parsed = parseKey(key);
  if (!parsed) {
    place.refuse(expected, "a key that cannot be parsed");
    return;
  }
  const { namedCurve, modulusLength = 0 } = parsed.asymmetricKeyDetails ?? {};
  const fits = curve ? namedCurve === curve : parsed.asymmetricKeyType === "rsa" && modulusLength >= MINIMUM_RSA_BITS;
  if (!fits)
    place.refuse(expected, `a key of type ${parsed.asymmetricKeyType} (${namedCurve ?? `${modulusLength} bits`})`);
}

function parseKey(key: NonNullable<WorldIssuer["key"]>): KeyObject | undefined {
  try {
    return "pem" in key ? createPrivateKey(key.pem) : createPrivateKey({ key: { ...key.jwk }, format: "jwk" });
  } catch {
    return undefined; // node's message may quote key material; the caller says what was expected
  }
}

function readJwks(place: Place): { keys: readonly unknown[] } {
  return readFields(place, { keys: required(list(anyMap, { expected: "a list of at least one key", from: 1 })) });
}
