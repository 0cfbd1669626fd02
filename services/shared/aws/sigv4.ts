// Verifies AWS Signature Version 4, in the Authorization header and in the query (presigned), in the order of spec aws 6.1.
// Knows no keys: a resolver looks them up. How a refusal looks on the wire is in sigv4-refusals.ts.
import { timingSafeEqual } from "node:crypto";
import type { CredentialResolver, SigningCredential } from "./credential-resolver.ts";
import type { AwsPrincipal } from "./principal.ts";
import { computeSignature, renderCanonicalRequest, sha256Hex } from "./sigv4-canonical.ts";
import { parseAuthorization, type SignatureClaim, type SignedRequest } from "./sigv4-claim.ts";
import { SignatureProblem, type SignatureRefusal } from "./sigv4-refusals.ts";

export type { SignedRequest } from "./sigv4-claim.ts";
export type { SignatureRefusal } from "./sigv4-refusals.ts";

export interface VerifyOptions {
  /** The service that the scope must name: `sts`, `ecr` … */
  readonly service: string;
  readonly resolver: CredentialResolver;
  /** The stack's clock. */
  readonly now: Date;
  /** The system's clock, given only while the stack's is moved: real clients keep their own time. */
  readonly systemNow?: Date | undefined;
  /** Says which regions exist; unless given, whatever is spelt like a region. */
  readonly isRegion?: (region: string) => boolean;
  /** False for S3-style paths, which are signed as they are. */
  readonly normalizePath?: boolean;
}

/** Who signed, or why the request is refused; `message` is the text that AWS uses. */
export type Verification =
  | {
      readonly ok: true;
      readonly principal: AwsPrincipal;
      readonly lineage: string;
      readonly accessKeyId: string;
      readonly region: string;
      /** True if the signature's time fits the system's clock but not the stack's. */
      readonly usedSystemClock: boolean;
    }
  | { readonly ok: false; readonly refusal: SignatureRefusal; readonly message: string };

const INVALID_TOKEN = "The security token included in the request is invalid.";
const EXPIRED_TOKEN = "The security token included in the request is expired";
const MISMATCH =
  "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key " +
  "and signing method. Consult the service documentation for details.";
const REGION = /^[a-z]{2,}(-[a-z]+)+-\d+$/;

/** Decides who signed a request. Never throws for what a client sent. */
export function verifySignature(request: SignedRequest, options: VerifyOptions): Verification {
  try {
    return verify(request, options);
  } catch (error) {
    if (error instanceof SignatureProblem) return { ok: false, refusal: error.refusal, message: error.message };
    throw error;
  }
}

function verify(request: SignedRequest, options: VerifyOptions): Verification {
  const claim = parseAuthorization(request);
  checkScope(claim, options);
  const credential = options.resolver.resolve(claim.accessKeyId, claim.sessionToken);
  if (credential === "unknown") throw new SignatureProblem("unknown-key", INVALID_TOKEN);
  if (credential === "expired") throw new SignatureProblem("expired-session", EXPIRED_TOKEN);
  const usedSystemClock = checkTime(claim, options);
  checkSignedHeaders(claim);
  checkPayloadHash(claim, request);
  if (!matches(request, { claim, credential, normalizePath: options.normalizePath ?? true })) {
    throw new SignatureProblem("wrong-signature", MISMATCH);
  }
  const { principal, lineage } = credential;
  return { ok: true, principal, lineage, accessKeyId: claim.accessKeyId, region: claim.region, usedSystemClock };
}

function checkScope(
  claim: SignatureClaim,
  { service, isRegion = (region) => REGION.test(region) }: VerifyOptions,
): void {
  const fail = (message: string) => new SignatureProblem("scope", message);
  if (claim.day !== claim.amzDate.slice(0, 8)) {
    throw fail(
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: " +
        `'${claim.day}' != '${claim.amzDate.slice(0, 8)}', from '${claim.amzDate}'.`,
    );
  }
  if (claim.terminator !== "aws4_request") {
    throw fail(`Credential should be scoped with a valid terminator: 'aws4_request', not '${claim.terminator}'.`);
  }
  if (claim.service !== service) throw fail(`Credential should be scoped to correct service: '${service}'.`);
  if (!isRegion(claim.region)) {
    throw fail(`Credential should be scoped to a valid Region, not '${claim.region}'.`);
  }
}

const SKEW_MS = 15 * 60_000;

/** True if only the system's clock accepts the time (design 13.7). */
function checkTime(claim: SignatureClaim, { now, systemNow }: VerifyOptions): boolean {
  const problem = timeProblem(claim, now);
  if (!problem) return false;
  if (systemNow && !timeProblem(claim, systemNow)) return true;
  throw problem;
}

function timeProblem(claim: SignatureClaim, now: Date): SignatureProblem | undefined {
  const signed = claim.instant.getTime();
  // a presigned request brings its own life, a header is good for the skew alone
  const lifeMs = claim.expiresSeconds === undefined ? SKEW_MS : claim.expiresSeconds * 1000;
  const [date, current] = [claim.amzDate, renderAmzDate(now)];
  if (now.getTime() > signed + lifeMs) {
    const limit = renderAmzDate(new Date(now.getTime() - lifeMs));
    const life = lifeMs % 60_000 === 0 ? `${lifeMs / 60_000} min.` : `${lifeMs / 1000} sec.`;
    return new SignatureProblem(
      "expired",
      `Signature expired: ${date} is now earlier than ${limit} (${current} - ${life})`,
    );
  }
  if (signed > now.getTime() + SKEW_MS) {
    const limit = renderAmzDate(new Date(now.getTime() + SKEW_MS));
    const text = `Signature not yet current: ${date} is still later than ${limit} (${current} + 15 min.)`;
    return new SignatureProblem("not-yet", text);
  }
  return undefined;
}

function renderAmzDate(instant: Date): string {
  return instant.toISOString().replace(/[-:]|\.\d{3}/g, "");
}

/** Headers that change what a request means must be under the signature (spec aws 6.1, step 4). */
function checkSignedHeaders(claim: SignatureClaim): void {
  for (const name of ["host", "x-amz-target"]) {
    if (claim.signedHeaders.includes(name) || (name !== "host" && !claim.headers.has(name))) continue;
    const text = `'${name}' must be a 'SignedHeader' in the AWS Authorization.`;
    throw new SignatureProblem("wrong-signature", text);
  }
  for (const name of claim.signedHeaders) {
    if (!claim.headers.has(name)) throw new SignatureProblem("wrong-signature", MISMATCH);
  }
}

function checkPayloadHash(claim: SignatureClaim, request: SignedRequest): void {
  const declared = claim.headers.get("x-amz-content-sha256")?.join(",").trim();
  if (declared === undefined || declared === sha256Hex(request.body)) return;
  throw new SignatureProblem("wrong-signature", MISMATCH);
}

function matches(
  request: SignedRequest,
  facts: { claim: SignatureClaim; credential: SigningCredential; normalizePath: boolean },
): boolean {
  const { claim, credential, normalizePath } = facts;
  const payloadHash = sha256Hex(request.body);
  return claim.canonicalQueries.some((query) => {
    const canonicalRequest = renderCanonicalRequest({
      method: request.method,
      path: claim.path,
      query,
      headers: claim.headers,
      signedHeaders: claim.signedHeaders,
      payloadHash,
      normalizePath,
    });
    const expected = computeSignature(credential.secretAccessKey, claim, { amzDate: claim.amzDate, canonicalRequest });
    return timingSafeEqual(Buffer.from(expected, "hex"), Buffer.from(claim.signature, "hex"));
  });
}
