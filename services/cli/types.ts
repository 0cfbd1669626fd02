// What every command is handed, and the answers of the control API as far as the commands read them.
import type { Environment } from "./client.ts";
import type { Output } from "./output.ts";

/** The process as the commands see it. */
export interface Cli {
  readonly output: Output;
  readonly environment: Environment;
  /** Resolves when the user or the system asks the process to end (SIGINT, SIGTERM). */
  untilStopped(): Promise<void>;
}

/** `POST nodes/{node}/pods?wait=true` */
export interface PodAnswer {
  readonly image: string;
  readonly verdict: "pulled" | "present" | "denied" | "leaked";
  readonly reason: string;
  readonly decidedBy?: string;
  readonly podReason?: string;
  readonly message?: string;
  readonly imageRef?: string;
  readonly trace: string;
  readonly credentials: readonly CredentialAnswer[];
  readonly providers: readonly ProviderAnswer[];
}

export interface CredentialAnswer {
  readonly source: string;
  readonly name?: string;
  readonly username?: string;
  readonly outcome: string;
  readonly because?: string;
}

export interface ProviderAnswer {
  readonly name: string;
  readonly outcome: string;
  readonly because: string;
}

/** One event of the log. */
export interface EventAnswer {
  readonly seq: number;
  readonly time: string;
  readonly operation: string;
  readonly status: number;
  readonly decision: string;
  readonly principal?: string;
  readonly resource?: string;
  readonly reason?: string;
  readonly decidedBy?: string;
  readonly trace?: string;
  readonly notes?: Readonly<Record<string, unknown>>;
}
