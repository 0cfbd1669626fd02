// What an identity provider's discovery document must say before its keys are used (spec aws 2.3).

/** A document of the identity provider that was obtained and cannot be used. */
export class UnusableDocumentError extends Error {}

const REQUIRED_LISTS = [
  "response_types_supported",
  "subject_types_supported",
  "id_token_signing_alg_values_supported",
] as const;

/**
 * The members that the real service insists on.
 * @param httpIssuers true accepts a key set on plain http
 * @returns the URL of the key set
 * @throws UnusableDocumentError naming the member
 */
export function checkDiscovery(
  document: Readonly<Record<string, unknown>>,
  issuer: string,
  httpIssuers: boolean,
): string {
  if (document.issuer !== issuer) {
    throw new UnusableDocumentError(`discovery: expected issuer ${issuer}, found ${String(document.issuer)}`);
  }
  for (const name of REQUIRED_LISTS) {
    const list = document[name];
    if (!Array.isArray(list) || list.length === 0) throw new UnusableDocumentError(`discovery: missing ${name}`);
  }
  const jwksUri = document.jwks_uri;
  const usable = typeof jwksUri === "string" && URL.canParse(jwksUri);
  if (!usable || !(jwksUri.startsWith("https://") || (httpIssuers && jwksUri.startsWith("http://")))) {
    throw new UnusableDocumentError("discovery: expected an https jwks_uri");
  }
  return jwksUri;
}

/** The JSON object in a provider's answer. @throws UnusableDocumentError */
export function parseDocument(url: string, bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new UnusableDocumentError(`${url}: expected JSON`, { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UnusableDocumentError(`${url}: expected a JSON object`);
  }
  return value as Record<string, unknown>;
}
