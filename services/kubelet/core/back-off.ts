// Back-off between failed pulls of one image by one Pod (kubelet.md 7.2).

const FIRST_MS = 10_000;
const CAP_MS = 300_000;
const FORGET_MS = 2 * CAP_MS;

interface Entry {
  readonly delayMs: number;
  readonly failedAt: number;
}

/** Remembers failures by Pod uid and spec string; success does not reset a delay early. */
export class BackOff {
  readonly #entries = new Map<string, Entry>();

  /** Is the last failure too recent to try again? */
  isActive(key: string, now: Date): boolean {
    const entry = this.#find(key, now);
    return entry !== undefined && now.getTime() - entry.failedAt < entry.delayMs;
  }

  /** Notes a failure: 10 s, then doubled, at most 300 s. */
  fail(key: string, now: Date): void {
    const entry = this.#find(key, now);
    const delayMs = entry ? Math.min(entry.delayMs * 2, CAP_MS) : FIRST_MS;
    this.#entries.set(key, { delayMs, failedAt: now.getTime() });
  }

  /** Drops entries that are out of date; called after a success. */
  collect(now: Date): void {
    for (const key of this.#entries.keys()) this.#find(key, now);
  }

  #find(key: string, now: Date): Entry | undefined {
    const entry = this.#entries.get(key);
    if (!entry || now.getTime() - entry.failedAt <= FORGET_MS) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}
