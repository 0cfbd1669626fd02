// Every refusal of the registry by name, its code and status, and what a profile says instead. Nothing else knows the
// wire form (distribution-spec v1.1.1, "Error codes"; spec registry 1.4).
import { ProtocolError } from "../shared/errors.ts";

/** Refusal → code and status. The names are the reasons in events. */
const REFUSALS = {
  "name-invalid": { code: "NAME_INVALID", status: 400 },
  "name-unknown": { code: "NAME_UNKNOWN", status: 404 },
  "unknown-registry": { code: "NAME_UNKNOWN", status: 404 },
  "unknown-path": { code: "UNSUPPORTED", status: 404 },
  "manifest-unknown": { code: "MANIFEST_UNKNOWN", status: 404 },
  "reference-invalid": { code: "MANIFEST_UNKNOWN", status: 404 },
  "manifest-invalid": { code: "MANIFEST_INVALID", status: 400 },
  "manifest-too-large": { code: "SIZE_INVALID", status: 413 },
  "manifest-blob-unknown": { code: "MANIFEST_BLOB_UNKNOWN", status: 400 },
  "tag-invalid": { code: "MANIFEST_INVALID", status: 400 },
  "tag-immutable": { code: "TAG_INVALID", status: 400 },
  "blob-unknown": { code: "BLOB_UNKNOWN", status: 404 },
  "range-unsatisfiable": { code: "RANGE_INVALID", status: 416 },
  "digest-invalid": { code: "DIGEST_INVALID", status: 400 },
  "digest-mismatch": { code: "DIGEST_INVALID", status: 400 },
  "size-invalid": { code: "SIZE_INVALID", status: 400 },
  "upload-unknown": { code: "BLOB_UPLOAD_UNKNOWN", status: 404 },
  "upload-invalid": { code: "BLOB_UPLOAD_INVALID", status: 400 },
  "upload-out-of-order": { code: "BLOB_UPLOAD_INVALID", status: 416 },
  "too-many-uploads": { code: "TOOMANYREQUESTS", status: 429 },
  "page-invalid": { code: "PAGINATION_NUMBER_INVALID", status: 400 },
  "page-too-large": { code: "UNSUPPORTED", status: 400 },
  "method-unsupported": { code: "UNSUPPORTED", status: 405 },
  "option-unsupported": { code: "UNSUPPORTED", status: 400 },
  unauthorized: { code: "UNAUTHORIZED", status: 401 },
  denied: { code: "DENIED", status: 403 },
  internal: { code: "UNKNOWN", status: 500 },
} as const satisfies Record<string, RefusalShape>;

export type RefusalName = keyof typeof REFUSALS;

export interface RefusalShape {
  readonly code: string;
  readonly status: number;
}

/** What a refusal may carry beside its message: `detail` goes to the client, `headers` into the answer. */
export interface RefusalFacts {
  readonly detail?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the texts of a profile. */
  readonly digests?: readonly string[];
  readonly tag?: string;
  readonly cause?: unknown;
}

/** A refusal with a name. Messages hold only what the caller sent, or what they may see anyway. */
export class RegistryError extends ProtocolError {
  readonly refusal: RefusalName;
  readonly facts: RefusalFacts;

  constructor(refusal: RefusalName, message: string, facts: RefusalFacts = {}) {
    const { code, status } = REFUSALS[refusal];
    super(code, status, message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.refusal = refusal;
    this.facts = facts;
  }
}

/** The error document. `detail` is left out where there is nothing to add. */
export function renderErrorDocument(code: string, message: string, detail: unknown): string {
  return JSON.stringify({ errors: [{ code, message, ...(detail === undefined ? {} : { detail }) }] });
}
