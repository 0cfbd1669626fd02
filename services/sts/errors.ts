// The refusals of STS: wire codes with their statuses, the closed set of reasons that events and tests read,
// and the one renderer of errors.

import { QueryRefusal, renderQueryError } from "../shared/aws/query.ts";
import { SignatureError } from "../shared/aws/sigv4-refusals.ts";
import { ProtocolError } from "../shared/errors.ts";
import type { RenderedRefusal } from "../shared/http.ts";
import { BodyTooLargeError } from "../shared/http.ts";

/** Wire code → HTTP status. Mind the mixed naming: some end in `Exception`, most do not (STS API 2011-06-15). */
const STS_CODES = {
  ValidationError: 400,
  InvalidIdentityToken: 400,
  ExpiredTokenException: 400,
  IDPCommunicationError: 400,
  MalformedPolicyDocument: 400,
  PackedPolicyTooLarge: 400,
  InvalidAction: 400,
  AccessDenied: 403,
} as const;

/** Reason → wire code. */
export const STS_REFUSALS = {
  "invalid-parameter": "ValidationError",
  "not-a-role-arn": "ValidationError",
  "not-a-jwt": "InvalidIdentityToken",
  "missing-claim": "InvalidIdentityToken",
  "invalid-claim": "InvalidIdentityToken",
  "issuer-not-https": "InvalidIdentityToken",
  "unregistered-issuer": "InvalidIdentityToken",
  "wrong-audience": "InvalidIdentityToken",
  "no-verification-key": "InvalidIdentityToken",
  "unknown-key": "InvalidIdentityToken",
  "issuer-unreachable": "IDPCommunicationError",
  "wrong-thumbprint": "InvalidIdentityToken",
  "wrong-signature": "InvalidIdentityToken",
  "expired-token": "ExpiredTokenException",
  "token-too-old": "ExpiredTokenException",
  "not-yet-valid": "InvalidIdentityToken",
  "not-authorized": "AccessDenied",
  "duration-over-maximum": "ValidationError",
  "malformed-session-policy": "MalformedPolicyDocument",
  "packed-policy-too-large": "PackedPolicyTooLarge",
  "unknown-action": "InvalidAction",
} as const satisfies Record<string, keyof typeof STS_CODES>;

export type StsRefusal = keyof typeof STS_REFUSALS;

/** A refusal with its wire code, its status and the reason that events carry. */
export class StsError extends ProtocolError {
  readonly reason: string;

  constructor(reason: StsRefusal, message: string, options?: { cause?: unknown }) {
    const code = STS_REFUSALS[reason];
    super(code, STS_CODES[code], message, options);
    this.reason = reason;
  }
}

/** Any error in STS's wire form; what is not a refusal becomes an internal failure that says nothing. */
export function renderError(error: unknown, answer: { namespace: string; requestId: string }): RenderedRefusal {
  const known = error instanceof ProtocolError;
  const status = known ? error.status : 500;
  const code = known ? error.code : "InternalFailure";
  const message = known ? error.message : "The request processing has failed because of an unknown error.";
  return { status, body: renderQueryError({ code, status, message, ...answer }), reason: reasonOf(error) };
}

function reasonOf(error: unknown): string {
  if (error instanceof StsError || error instanceof SignatureError) return error.reason;
  if (error instanceof QueryRefusal) return "malformed-query";
  return error instanceof BodyTooLargeError ? "body-too-large" : "internal-failure";
}
