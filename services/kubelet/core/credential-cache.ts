// The cache of one provider's answers (kubelet.md 2.4): in memory, no negative entries, no size limit.
import { renderCacheKey, type ServiceAccountKey } from "./cache-keys.ts";
import type { AuthMap, PluginResponse } from "./plugin-response.ts";

const PURGE_INTERVAL_MS = 15 * 60_000;

type CacheKeyType = PluginResponse["cacheKeyType"];

interface Entry {
  readonly auth: AuthMap;
  readonly expiresAt: number;
}

/** Answers of one provider. Times are passed in: the clock belongs to the caller. */
export class CredentialCache {
  readonly #entries = new Map<string, Entry>();
  readonly #globalKey: string;
  #purgedAt: number;

  constructor(globalKey: string, now: Date) {
    this.#globalKey = globalKey;
    this.#purgedAt = now.getTime();
  }

  /** The first live entry for the image, its registry or everything; undefined if there is none. */
  find(
    image: string,
    account: ServiceAccountKey | undefined,
    now: Date,
  ): { auth: AuthMap; keyType: CacheKeyType } | undefined {
    const instant = now.getTime();
    if (instant - this.#purgedAt > PURGE_INTERVAL_MS) this.#purge(instant);
    for (const keyType of ["Image", "Registry", "Global"] as const) {
      const key = renderCacheKey(this.#base(keyType, image), account);
      const entry = this.#entries.get(key);
      if (!entry) continue;
      // Strictly after: at the very instant of expiry the entry still serves.
      if (instant > entry.expiresAt) this.#entries.delete(key);
      else return { auth: entry.auth, keyType };
    }
    return undefined;
  }

  /** Keeps an answer until `expiresAt`. */
  store(
    at: { keyType: CacheKeyType; image: string; account: ServiceAccountKey | undefined; expiresAt: Date },
    auth: AuthMap,
  ): void {
    const key = renderCacheKey(this.#base(at.keyType, at.image), at.account);
    this.#entries.set(key, { auth, expiresAt: at.expiresAt.getTime() });
  }

  #base(keyType: CacheKeyType, image: string): string {
    if (keyType === "Image") return image;
    return keyType === "Global" ? this.#globalKey : image.split("/", 1).join("");
  }

  #purge(instant: number): void {
    this.#purgedAt = instant;
    for (const [key, entry] of this.#entries) if (instant > entry.expiresAt) this.#entries.delete(key);
  }
}

/** When an answer of `cacheDuration` expires, or undefined if it is not kept at all. */
export function decideExpiry(durationMs: number | undefined, defaultMs: number, now: Date): Date | undefined {
  const kept = durationMs ?? defaultMs;
  return kept === 0 ? undefined : new Date(now.getTime() + kept);
}
