// Refusals of the API server and their wire form, the Status object (API conventions, "Response Status Kind").
import { ProtocolError } from "../shared/errors.ts";
import type { RefusalReason } from "./types.ts";

const STATUS_REASONS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  AlreadyExists: 409,
  Conflict: 409,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  InternalError: 500,
} as const;

export type StatusReason = keyof typeof STATUS_REASONS;

/** One bad field. `path` as written in messages: `spec.containers[0].image`. */
export interface FieldProblem {
  readonly path: string;
  /** `Required value`, `Invalid value: 599: …`, … */
  readonly message: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
}

/** A group and the plural resource (or, where Kubernetes does so, the kind) inside it. */
interface Qualified {
  readonly group: string;
  readonly resource: string;
}

/** A refusal that becomes a Status object. `because` names it in the event. */
export class StatusError extends ProtocolError {
  readonly details: StatusDetails | undefined;
  readonly because: RefusalReason;

  constructor(reason: StatusReason, because: RefusalReason, message: string, details?: StatusDetails) {
    super(reason, STATUS_REASONS[reason], message);
    this.because = because;
    this.details = details;
  }

  static badRequest(message: string, because: RefusalReason = "bad-request"): StatusError {
    return new StatusError("BadRequest", because, message);
  }

  static notFound(of: Qualified, name: string, because: RefusalReason = "not-found"): StatusError {
    const details = { name, group: of.group, kind: of.resource };
    return new StatusError("NotFound", because, `${qualify(of)} ${quote(name)} not found`, details);
  }

  static conflict(of: Qualified, name: string, cause: { text: string; because: RefusalReason }): StatusError {
    const message = `Operation cannot be fulfilled on ${qualify(of)} ${quote(name)}: ${cause.text}`;
    return new StatusError("Conflict", cause.because, message, { name, group: of.group, kind: of.resource });
  }

  static forbidden(of: Qualified, name: string, cause: { text: string; because: RefusalReason }): StatusError {
    const subject = of.resource === "" ? "forbidden" : `${qualify(of)}${name ? ` ${quote(name)}` : ""} is forbidden`;
    const details = of.resource === "" ? {} : { name, group: of.group, kind: of.resource };
    return new StatusError("Forbidden", cause.because, `${subject}: ${cause.text}`, details);
  }

  static invalid(of: { group: string; kind: string }, name: string, problems: readonly FieldProblem[]): StatusError {
    const texts = problems.map((problem) => `${problem.path}: ${problem.message}`);
    const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
    const message = `${qualify({ group: of.group, resource: of.kind })} ${quote(name)} is invalid: ${list}`;
    const causes = problems.map(({ path, message }) => ({ reason: causeReason(message), message, field: path }));
    return new StatusError("Invalid", "invalid", message, { name, group: of.group, kind: of.kind, causes });
  }
}

/** The Status object and code of any error; what is no refusal becomes `InternalError` without details. */
export function renderStatus(error: unknown): { code: number; because: RefusalReason; body: unknown } {
  const refusal = asStatusError(error);
  const { message, code: reason, status: code, because } = refusal;
  const details = refusal.details && withoutEmpty(refusal.details);
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason };
  return { code, because, body: { ...head, ...(details ? { details } : {}), code } };
}

function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof ProtocolError && error.status === 413) {
    return new StatusError("RequestEntityTooLarge", "too-large", `Request entity too large: ${error.message}`);
  }
  return new StatusError("InternalError", "internal-error", "Internal error occurred");
}

function withoutEmpty(details: StatusDetails): StatusDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== ""));
}

function qualify({ group, resource }: Qualified): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

const CAUSE_REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  ["Required value", "FieldValueRequired"],
  ["Unsupported value", "FieldValueNotSupported"],
  ["Forbidden", "FieldValueForbidden"],
];

function causeReason(message: string): string {
  return CAUSE_REASONS.find(([prefix]) => message.startsWith(prefix))?.[1] ?? "FieldValueInvalid";
}
