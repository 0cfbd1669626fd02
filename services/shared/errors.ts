// A refusal that a protocol has a name for. Each room extends this class and renders it in one place.

/** What a caller is told: the protocol's code, the HTTP status and a message; `cause` is for the log only. */
export class ProtocolError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.status = status;
  }
}

/** A mistake in what the user gave us (world file, options, command line): exit code 2, no stack trace. */
export class ConfigurationError extends Error {
  /** What to do about it, if there is one thing to do. */
  readonly hint: string | undefined;

  constructor(message: string, options?: { cause?: unknown; hint?: string }) {
    super(message, options);
    this.name = "ConfigurationError";
    this.hint = options?.hint;
  }
}
