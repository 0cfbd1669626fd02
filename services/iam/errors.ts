// What IAM refuses, and with which code and status.
import { ProtocolError } from "../shared/errors.ts";

const IAM_ERRORS = {
  MalformedPolicyDocument: 400,
  ValidationError: 400,
  NoSuchEntity: 404,
  EntityAlreadyExists: 409,
  LimitExceeded: 409,
} as const;

export type IamErrorCode = keyof typeof IAM_ERRORS;

/** One mistake in a document: where (keys and indexes from the root) and what was expected and found. */
export interface PolicyProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A refusal of IAM; for a malformed policy `problems` lists every mistake at once. */
export class IamError extends ProtocolError {
  declare readonly code: IamErrorCode;
  readonly problems: readonly PolicyProblem[];

  constructor(code: IamErrorCode, message: string, problems: readonly PolicyProblem[] = []) {
    super(code, IAM_ERRORS[code], message);
    this.problems = problems;
  }
}
