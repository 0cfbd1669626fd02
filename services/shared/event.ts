// What every hop reports: one event per operation, the same value for CLI, dashboard and tests.

/** How an operation was decided; `none` where nothing had to be decided. */
export type EventDecision = "allow" | "deny" | "none";

/** One hop, as listed by `GET /_pullproof/events`. Never holds a secret. */
export interface PullproofEvent {
  readonly seq: number;
  /** RFC 3339, on the stack's clock. */
  readonly time: string;
  /** One pull. */
  readonly trace?: string;
  /** One credential chain: jti → access key id → password. */
  readonly lineage?: string;
  /** `room:Operation`, the operation's one name everywhere. */
  readonly operation: string;
  readonly room: string;
  readonly principal?: string;
  readonly resource?: string;
  readonly status: number;
  readonly decision: EventDecision;
  /** From the closed set of the deciding room. */
  readonly reason?: string;
  /** The statement, record or rule that decided. */
  readonly decidedBy?: string;
  readonly durationMs: number;
  readonly fault?: string;
  /** Free facts that help to understand: never secrets. */
  readonly notes?: Readonly<Record<string, unknown>>;
}

/** An event before the log numbers it. Rooms fill it while they work. */
export type EventDraft = {
  -readonly [K in keyof Omit<PullproofEvent, "seq" | "time">]?: PullproofEvent[K] | undefined;
};

/** Where rooms report to. Reporting never fails and never blocks. */
export interface EventSink {
  record(draft: EventDraft & { operation: string; room: string }): void;
  /** From now on, events of this lineage without a trace of their own belong to `trace`. */
  join?(lineage: string, trace: string): void;
}

/** A sink for tests and for rooms used alone. */
export function createMemorySink(): EventSink & { readonly events: EventDraft[] } {
  const events: EventDraft[] = [];
  return { events, record: (draft) => void events.push(draft) };
}
