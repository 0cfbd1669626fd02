// Fetches an identity provider's documents over HTTP: discovery, then the key set it names.
import type { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import { type Dialer, type DialResponse, readResponse } from "../shared/dial.ts";
import { checkDiscovery, parseDocument, UnusableDocumentError } from "./core/discovery.ts";
import { parseVerificationKey, type VerificationKey } from "./core/signature.ts";
import { UNVERIFIED_LIMITS } from "./core/unverified.ts";

/** What is known about an issuer's keys. */
export interface KeySet {
  readonly keys: readonly VerificationKey[];
  /** SHA-1 fingerprints (40 hex digits) of the certificates that the key set's server showed; empty on plain http. */
  readonly thumbprints: readonly string[];
}

/**
 * Both documents within one time limit of real time.
 * @throws UnusableDocumentError for what was obtained and is wrong; the dialer's error for what could not be obtained
 */
export async function fetchKeySet(
  issuer: string,
  deps: { readonly dialer: Dialer; readonly httpIssuers: boolean },
): Promise<KeySet> {
  const signal = AbortSignal.timeout(UNVERIFIED_LIMITS.discoveryTimeoutMs);
  // OpenID Connect Discovery §4.1: a terminating slash is removed before the well-known path is added.
  const discoveryUrl = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const discovery = await fetchDocument(discoveryUrl, deps.dialer, signal);
  const jwksUri = checkDiscovery(discovery.document, issuer, deps.httpIssuers);
  const jwks = await fetchDocument(jwksUri, deps.dialer, signal);
  const entries = jwks.document.keys;
  if (!Array.isArray(entries)) throw new UnusableDocumentError(`${jwksUri}: expected a list "keys"`);
  const keys = entries.map(parseVerificationKey).filter((key) => key !== undefined);
  return { keys, thumbprints: jwks.thumbprints };
}

async function fetchDocument(
  url: string,
  dialer: Dialer,
  signal: AbortSignal,
): Promise<{ document: Readonly<Record<string, unknown>>; thumbprints: readonly string[] }> {
  const response = await dialer.request(url, { headers: { accept: "application/json" }, signal });
  const thumbprints = listThumbprints(response);
  const bytes = await readResponse(response, UNVERIFIED_LIMITS.documentBytes);
  // Redirects are not followed: the real service wants a plain 200 as well.
  if (response.status !== 200) throw new UnusableDocumentError(`${url}: expected status 200, found ${response.status}`);
  return { document: parseDocument(url, bytes), thumbprints };
}

/** Fingerprints of the whole chain that the server showed, in lower case without colons. */
function listThumbprints(response: DialResponse): readonly string[] {
  const { socket } = response.body;
  if (!(socket instanceof TLSSocket)) return [];
  const found: string[] = [];
  let certificate: X509Certificate | undefined = socket.getPeerX509Certificate();
  while (certificate) {
    const thumbprint = certificate.fingerprint.replaceAll(":", "").toLowerCase();
    if (found.includes(thumbprint)) break;
    found.push(thumbprint);
    certificate = certificate.issuerCertificate;
  }
  return found;
}
