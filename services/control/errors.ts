// Refusals of the control API: one JSON shape that says what was expected and what was found.
import type { Response } from "express";
import { ConfigurationError, ProtocolError } from "../shared/errors.ts";

/** Code → status. */
export const CONTROL_ERRORS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  Conflict: 409,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  MisdirectedRequest: 421,
  InternalError: 500,
} as const;

export class ControlError extends ProtocolError {
  constructor(code: keyof typeof CONTROL_ERRORS, message: string, options?: { cause?: unknown }) {
    super(code, CONTROL_ERRORS[code], message, options);
  }
}

/** `{error: {code, message, hint?}}` with the error's status. What is no ProtocolError stays generic outside. */
export function renderError(error: unknown, response: Response): void {
  const known = asProtocolError(error);
  const hint = error instanceof ConfigurationError && error.hint ? { hint: error.hint } : {};
  response.status(known.status).json({ error: { code: known.code, message: known.message, ...hint } });
}

function asProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof ConfigurationError) return new ControlError("BadRequest", error.message, { cause: error });
  return new ControlError("InternalError", "internal error", { cause: error });
}
