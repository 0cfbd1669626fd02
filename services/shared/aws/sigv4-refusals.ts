// How a refused signature looks on the wire, per protocol (spec aws 6.3).
import type { SignatureRefusal } from "./sigv4-claim.ts";

interface WireRefusal {
  readonly code: string;
  readonly status: number;
}

/** STS and IAM (XML). */
export const QUERY_SIGNATURE_REFUSALS: Readonly<Record<SignatureRefusal, WireRefusal>> = {
  missing: { code: "MissingAuthenticationToken", status: 403 },
  incomplete: { code: "IncompleteSignature", status: 400 },
  "unknown-key": { code: "InvalidClientTokenId", status: 403 },
  "expired-session": { code: "ExpiredToken", status: 403 },
  "wrong-signature": { code: "SignatureDoesNotMatch", status: 403 },
  expired: { code: "SignatureDoesNotMatch", status: 403 },
  "not-yet": { code: "SignatureDoesNotMatch", status: 403 },
  scope: { code: "SignatureDoesNotMatch", status: 403 },
};

/** ECR (JSON). */
export const JSON_SIGNATURE_REFUSALS: Readonly<Record<SignatureRefusal, WireRefusal>> = {
  missing: { code: "MissingAuthenticationTokenException", status: 400 },
  incomplete: { code: "IncompleteSignatureException", status: 400 },
  "unknown-key": { code: "UnrecognizedClientException", status: 400 },
  "expired-session": { code: "ExpiredTokenException", status: 400 },
  "wrong-signature": { code: "InvalidSignatureException", status: 400 },
  expired: { code: "InvalidSignatureException", status: 400 },
  "not-yet": { code: "InvalidSignatureException", status: 400 },
  scope: { code: "InvalidSignatureException", status: 400 },
};
