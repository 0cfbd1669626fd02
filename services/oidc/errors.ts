// What an issuer refuses, in the JSON shape of OAuth 2.0 (RFC 6749 §5.2).
import { ProtocolError } from "../shared/errors.ts";

const OIDC_ERRORS = {
  invalid_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  server_error: 500,
} as const;

export type OidcErrorCode = keyof typeof OIDC_ERRORS;

/** A refusal of an issuer. */
export class OidcError extends ProtocolError {
  constructor(code: OidcErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, OIDC_ERRORS[code], message, options);
  }
}

/** The wire form of any error: refusals as they are, everything else as `server_error` without details. */
export function renderOidcError(error: unknown): {
  status: number;
  body: { error: string; error_description: string };
} {
  const refusal = error instanceof ProtocolError ? error : new OidcError("server_error", "internal error");
  return { status: refusal.status, body: { error: refusal.code, error_description: refusal.message } };
}
