// The event log: bounded, numbered from 1, followed by listeners; joins lineages to the pull they belong to.
import type { Clock } from "../shared/clock.ts";
import type { EventDraft, EventSink, PullproofEvent } from "../shared/event.ts";
import { decideWhy, isSelected } from "./core/filter.ts";
import type { EventFilter, EventPage, Trace } from "./types.ts";

/** How many events are kept; older ones are dropped, and `GET events` says so. */
const DEFAULT_CAPACITY = 50_000;
const DEFAULT_LIMIT = 1_000;

/** The log behind `GET /_pullproof/events` and `traces`. */
export class EventLog implements EventSink {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #ring: PullproofEvent[] = [];
  readonly #traceOfLineage = new Map<string, string>();
  readonly #listeners = new Set<(event: PullproofEvent) => void>();
  #nextSeq = 1;

  constructor(clock: Clock, capacity: number = DEFAULT_CAPACITY) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  record(draft: EventDraft & { operation: string; room: string }): void {
    const trace = draft.trace ?? (draft.lineage ? this.#traceOfLineage.get(draft.lineage) : undefined);
    const event: PullproofEvent = {
      ...withoutUndefined(draft),
      seq: this.#nextSeq,
      time: this.#clock.now().toISOString(),
      ...(trace ? { trace } : {}),
      operation: draft.operation,
      room: draft.room,
      status: draft.status ?? 0,
      decision: draft.decision ?? "none",
      durationMs: draft.durationMs ?? 0,
    };
    this.#ring[(this.#nextSeq - 1) % this.#capacity] = event;
    this.#nextSeq += 1;
    for (const listener of this.#listeners) listener(event);
  }

  join(lineage: string, trace: string): void {
    // Re-inserting keeps the map in order of use, so that the oldest can be dropped.
    this.#traceOfLineage.delete(lineage);
    this.#traceOfLineage.set(lineage, trace);
    if (this.#traceOfLineage.size > this.#capacity) {
      const oldest = this.#traceOfLineage.keys().next().value;
      if (oldest !== undefined) this.#traceOfLineage.delete(oldest);
    }
  }

  /** Events in order. `limit` (default 1000) cuts the page at its newer end, so that `next` loses nothing. */
  page(filter: EventFilter = {}): EventPage {
    const since = Math.max(0, filter.since ?? 0);
    const first = Math.max(1, this.#nextSeq - this.#capacity);
    const events: PullproofEvent[] = [];
    let seq = Math.max(since + 1, first);
    for (; seq < this.#nextSeq && events.length < (filter.limit ?? DEFAULT_LIMIT); seq += 1) {
      const event = this.#ring[(seq - 1) % this.#capacity];
      if (event && isSelected(event, filter)) events.push(event);
    }
    const dropped = Math.max(0, first - (since + 1));
    return { events, next: Math.max(since, seq - 1), ...(dropped > 0 ? { dropped } : {}) };
  }

  /** All hops with this trace id, or of this lineage. */
  trace(id: string): Trace {
    const { events } = this.page({ limit: this.#capacity });
    const hops = events.filter((event) => event.trace === id || event.lineage === id);
    return { trace: id, events: hops, why: decideWhy(hops) };
  }

  /** Calls `listener` for every further event, until the returned function is called. */
  follow(listener: (event: PullproofEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Absent members stay absent: the machine form has no nulls. */
function withoutUndefined(draft: EventDraft): Partial<PullproofEvent> {
  const event: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(draft)) if (value !== undefined) event[name] = value;
  return event;
}
