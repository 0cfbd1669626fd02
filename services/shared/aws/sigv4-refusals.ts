// Why a signature is refused, and how that looks on the wire, per protocol (spec aws 6.3).

import { ProtocolError } from "../errors.ts";

/** Why a signature is refused; a closed set. */
export type SignatureRefusal =
  | "missing"
  | "incomplete"
  | "unknown-key"
  | "expired-session"
  | "wrong-signature"
  | "expired"
  | "not-yet"
  | "scope";

/** Leaves the verifier as a value, never as an exception. */
export class SignatureProblem extends Error {
  readonly refusal: SignatureRefusal;

  constructor(refusal: SignatureRefusal, message: string) {
    super(message);
    this.refusal = refusal;
  }
}

/** Credentials that cannot be read. */
export function incomplete(message: string): SignatureProblem {
  return new SignatureProblem("incomplete", message);
}

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

/** A request whose signature is missing or refused, in the protocol's terms; reasons in events are `signature-<refusal>`. */
export class SignatureError extends ProtocolError {
  readonly reason: string;

  constructor(wire: Readonly<Record<SignatureRefusal, WireRefusal>>, refusal: SignatureRefusal, message: string) {
    super(wire[refusal].code, wire[refusal].status, message);
    this.reason = `signature-${refusal}`;
  }
}
