// A web identity token taken apart, before anything in it is trusted (spec aws 2.3, rows 3 and 4).
import { StsError } from "../errors.ts";
import { UNVERIFIED_TEXTS } from "./unverified.ts";

/** The claims that STS reads; whatever else the token says is invisible to it. */
export interface WebIdentityClaims {
  readonly iss: string;
  readonly sub: string;
  /** Always a list; a single string became a list of one. */
  readonly aud: readonly string[];
  readonly azp?: string;
  /** Seconds since the epoch, as the next two. */
  readonly exp: number;
  readonly iat: number;
  readonly nbf?: number;
  readonly jti?: string;
  readonly email?: string;
  readonly amr?: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly transitiveTagKeys: readonly string[];
  readonly sourceIdentity?: string;
}

/** A token whose form is right and whose signature has not been looked at. */
export interface UnverifiedToken {
  readonly alg: string;
  readonly kid?: string;
  readonly claims: WebIdentityClaims;
  /** What the signature is over: the first two parts as received. */
  readonly signingInput: string;
  readonly signature: Buffer;
}

type JsonObject = Readonly<Record<string, unknown>>;

const NOT_A_JWT = "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)";
const REQUIRED_CLAIMS = ["iss", "aud", "sub", "exp", "iat"] as const;

/**
 * Three base64url parts with a JSON header and payload, then the required claims.
 * @param text the token as received
 * @throws StsError `not-a-jwt`, `missing-claim`, `invalid-claim`
 */
export function parseWebIdentityToken(text: string): UnverifiedToken {
  const parts = text.split(".");
  const [headerPart, payloadPart, signaturePart] = parts;
  if (parts.length !== 3 || !headerPart || !payloadPart || signaturePart === undefined) throw notAJwt();
  const header = decodeObject(headerPart);
  const payload = decodeObject(payloadPart);
  // An unsecured JWS has an empty signature part: well-formed, and refused later for its algorithm.
  const signature = signaturePart === "" ? Buffer.alloc(0) : decodePart(signaturePart);
  const { alg, kid } = header;
  // RFC 7515 §4.1.11: an extension that must be understood and is not makes the token invalid.
  if (typeof alg !== "string" || "crit" in header) throw notAJwt();
  if (kid !== undefined && typeof kid !== "string") throw notAJwt();
  return {
    alg,
    ...(kid === undefined ? {} : { kid }),
    claims: parseClaims(payload),
    signingInput: `${headerPart}.${payloadPart}`,
    signature,
  };
}

function parseClaims(payload: JsonObject): WebIdentityClaims {
  for (const name of REQUIRED_CLAIMS) {
    if (payload[name] === undefined || payload[name] === null) {
      throw new StsError("missing-claim", `Missing a required claim: ${name}`);
    }
  }
  const { aud, azp, nbf, jti, email, amr } = payload;
  return {
    iss: parseText(payload, "iss"),
    sub: parseText(payload, "sub"),
    aud: typeof aud === "string" ? [aud] : parseTexts(payload, "aud"),
    exp: parseInstant(payload, "exp"),
    iat: parseInstant(payload, "iat"),
    ...(azp === undefined ? {} : { azp: parseText(payload, "azp") }),
    ...(nbf === undefined ? {} : { nbf: parseInstant(payload, "nbf") }),
    ...(typeof jti === "string" ? { jti } : {}),
    ...(typeof email === "string" ? { email } : {}),
    ...(amr === undefined ? {} : { amr: typeof amr === "string" ? [amr] : parseTexts(payload, "amr") }),
    ...parseTags(payload["https://aws.amazon.com/tags"]),
    ...parseSourceIdentity(payload["https://aws.amazon.com/source_identity"]),
  };
}

function parseText(payload: JsonObject, name: string): string {
  const value = payload[name];
  if (typeof value !== "string" || value === "") throw invalidClaim(name);
  return value;
}

function parseTexts(payload: JsonObject, name: string): readonly string[] {
  const value = payload[name];
  if (!isTexts(value)) throw invalidClaim(name);
  return value;
}

/** Timestamps are JSON integers (IAM guide on OIDC providers), never text and never fractions. */
function parseInstant(payload: JsonObject, name: string): number {
  const value = payload[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw invalidClaim(name);
  return value;
}

/** Session tags of a token: `{principal_tags: {k: [v]}, transitive_tag_keys: [k]}`. */
function parseTags(value: unknown): Pick<WebIdentityClaims, "tags" | "transitiveTagKeys"> {
  if (value === undefined) return { tags: {}, transitiveTagKeys: [] };
  const name = "https://aws.amazon.com/tags";
  if (!isObject(value)) throw invalidClaim(name);
  const { principal_tags: principalTags = {}, transitive_tag_keys: transitiveTagKeys = [] } = value;
  if (!isObject(principalTags) || !isTexts(transitiveTagKeys)) throw invalidClaim(name);
  const entries = Object.entries(principalTags).map(([key, values]): [string, string] => {
    const single = isTexts(values) && values.length === 1 ? values[0] : undefined;
    if (single === undefined || key.length < 1 || key.length > 128 || single.length > 256) throw invalidClaim(name);
    return [key, single];
  });
  if (entries.length > 50) throw invalidClaim(name);
  return { tags: Object.fromEntries(entries), transitiveTagKeys };
}

function parseSourceIdentity(value: unknown): Pick<WebIdentityClaims, "sourceIdentity"> {
  if (value === undefined) return {};
  if (typeof value === "string" && /^[\w+=,.@-]{2,64}$/.test(value)) return { sourceIdentity: value };
  throw invalidClaim("https://aws.amazon.com/source_identity");
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decodeObject(part: string): JsonObject {
  try {
    const value: unknown = JSON.parse(UTF8.decode(decodePart(part)));
    if (isObject(value)) return value;
  } catch (cause) {
    throw notAJwt(cause);
  }
  throw notAJwt();
}

/** Base64url without padding (RFC 7515 §2); Node's own decoder would accept anything. */
function decodePart(part: string): Buffer {
  if (!/^[A-Za-z0-9_-]+$/.test(part) || part.length % 4 === 1) throw notAJwt();
  return Buffer.from(part, "base64url");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function notAJwt(cause?: unknown): StsError {
  return new StsError("not-a-jwt", NOT_A_JWT, { cause });
}

function invalidClaim(name: string): StsError {
  return new StsError("invalid-claim", UNVERIFIED_TEXTS.invalidClaim(name));
}
