// The refusals of the ECR API: codes (all 400), the reasons that events carry, and the one renderer of errors.

import { JsonRefusal, renderJsonError } from "../shared/aws/json.ts";
import { SignatureError } from "../shared/aws/sigv4-refusals.ts";
import { ProtocolError } from "../shared/errors.ts";
import type { RenderedRefusal } from "../shared/http.ts";
import { BodyTooLargeError } from "../shared/http.ts";

/** Wire code → the reason in events. ECR answers every client error with 400, denials included (API 2015-09-21). */
const ECR_CODES = {
  AccessDeniedException: "not-authorized",
  InvalidParameterException: "invalid-parameter",
  InvalidTagParameterException: "invalid-tag",
  TooManyTagsException: "too-many-tags",
  RepositoryNotFoundException: "no-such-repository",
  RepositoryAlreadyExistsException: "repository-exists",
  RepositoryNotEmptyException: "repository-not-empty",
  RepositoryPolicyNotFoundException: "no-repository-policy",
  SerializationException: "malformed-input",
  UnknownOperationException: "unknown-operation",
} as const;

export type EcrCode = keyof typeof ECR_CODES;

/** A refusal with its wire code and the reason that events carry. */
export class EcrError extends ProtocolError {
  readonly reason: string;

  constructor(code: EcrCode, message: string, options?: { cause?: unknown }) {
    super(code, 400, message, options);
    this.reason = ECR_CODES[code];
  }
}

/** Any error in ECR's wire form; what is not a refusal becomes a server error that says nothing. */
export function renderError(error: unknown): RenderedRefusal {
  const known = error instanceof ProtocolError;
  const code = known ? error.code : "ServerException";
  const message = known ? error.message : "The request processing has failed because of an unknown error.";
  return { status: known ? error.status : 500, body: renderJsonError({ code, message }), reason: reasonOf(error) };
}

function reasonOf(error: unknown): string {
  if (error instanceof EcrError || error instanceof SignatureError) return error.reason;
  if (error instanceof JsonRefusal) return "malformed-input";
  return error instanceof BodyTooLargeError ? "body-too-large" : "internal-failure";
}
