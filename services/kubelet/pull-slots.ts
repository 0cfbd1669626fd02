// How many pulls run at a time, and how fast they may follow each other (kubelet.md 7.3).
import { monotonicMs } from "../shared/clock.ts";

/** A first-come queue for `size` workers. */
export class PullSlots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  /** Runs `work` when a worker is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/** A token bucket on real time: a frozen clock must not stop all pulls for good. */
export class PullRate {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at = monotonicMs();

  constructor(limit: { readonly perSecond: number; readonly burst: number }) {
    this.#perMs = limit.perSecond / 1000;
    this.#burst = limit.burst;
    this.#tokens = limit.burst;
  }

  /** Takes one pull; false if there is none left right now. */
  take(): boolean {
    const now = monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
