// The only place that reads the system's clock. Everything else is handed a Clock.

/** Where every room takes the time from; never `Date.now()`. */
export interface Clock {
  now(): Date;
}

/** The state a movable clock reports (`GET /_pullproof/clock`). */
export interface ClockState {
  readonly now: Date;
  readonly frozen: boolean;
  /** Seconds that this clock is ahead of the system's. */
  readonly offsetSeconds: number;
}

/** The system's own clock. Also used where real clients bring their own time (SigV4, TLS validity). */
export const systemClock: Clock = { now: () => new Date() };

/** A clock that can be set, advanced and frozen; it starts as the system's clock. */
export class MovableClock implements Clock {
  readonly #base: Clock;
  #offsetMs = 0;
  #frozenAt: Date | undefined;

  constructor(base: Clock = systemClock) {
    this.#base = base;
  }

  now(): Date {
    return this.#frozenAt ?? new Date(this.#base.now().getTime() + this.#offsetMs);
  }

  /** True while this clock differs from the one below it. */
  get moved(): boolean {
    return this.#frozenAt !== undefined || this.#offsetMs !== 0;
  }

  state(): ClockState {
    const now = this.now();
    const offsetSeconds = Math.round((now.getTime() - this.#base.now().getTime()) / 1000);
    return { now, frozen: this.#frozenAt !== undefined, offsetSeconds };
  }

  set(instant: Date): void {
    if (this.#frozenAt) this.#frozenAt = instant;
    this.#offsetMs = instant.getTime() - this.#base.now().getTime();
  }

  advance(seconds: number): void {
    this.set(new Date(this.now().getTime() + seconds * 1000));
  }

  freeze(frozen: boolean): void {
    const now = this.now();
    this.#frozenAt = frozen ? now : undefined;
    this.#offsetMs = now.getTime() - this.#base.now().getTime();
  }

  /** Back to the system's time. */
  reset(): void {
    this.#frozenAt = undefined;
    this.#offsetMs = 0;
  }
}

/** Milliseconds from some fixed point, for durations only; unaffected by moving the clock. */
export function monotonicMs(): number {
  return performance.now();
}
