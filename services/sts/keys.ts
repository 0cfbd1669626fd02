// Verification keys of an identity provider, over HTTP as the real service gets them: discovery, then the key set.
// Knows nothing of tokens beyond issuer and key id.
import type { Clock } from "../shared/clock.ts";
import type { Dialer } from "../shared/dial.ts";
import { UnusableDocumentError } from "./core/discovery.ts";
import type { VerificationKey } from "./core/signature.ts";
import { UNVERIFIED_LIMITS } from "./core/unverified.ts";
import { fetchKeySet, type KeySet } from "./discovery.ts";

export type KeyLookup =
  | { readonly kind: "found"; readonly keySet: KeySet; readonly candidates: readonly VerificationKey[] }
  /** The key set is there and lacks the key. `bounded` if it was not fetched again because that happened too often. */
  | { readonly kind: "unknown-key"; readonly bounded: boolean }
  | { readonly kind: "unreachable" | "unusable"; readonly cause: unknown };

export interface KeySourceDeps {
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** Milliseconds of real time: the bound on refetches protects a real server, also while the stack's clock stands still. */
  readonly elapsedMs: () => number;
  readonly jwksCacheSeconds: number;
  readonly httpIssuers: boolean;
}

/** Looks keys up by issuer and key id. */
export interface KeySource {
  /**
   * @param issuer the token's `iss`, already known to be registered
   * @param kid the token's key id; without one, the only key of the set
   */
  findKeys(issuer: string, kid: string | undefined): Promise<KeyLookup>;
  reset(): void;
}

interface CachedKeySet extends KeySet {
  readonly fetchedAtMs: number;
}

/** A key source with a cache per issuer; calls at the same time share one fetch. */
export function createKeySource(deps: KeySourceDeps): KeySource {
  const cache = new Map<string, CachedKeySet>();
  const running = new Map<string, Promise<CachedKeySet>>();
  const buckets = new Map<string, RefetchBucket>();
  let generation = 0;

  function fetchOnce(issuer: string): Promise<CachedKeySet> {
    const pending = running.get(issuer);
    if (pending) return pending;
    const born = generation;
    const started = fetchKeySet(issuer, deps)
      .then((keySet) => ({ ...keySet, fetchedAtMs: deps.clock.now().getTime() }))
      .then((cached) => {
        if (born === generation) cache.set(issuer, cached);
        return cached;
      })
      .finally(() => {
        if (born === generation) running.delete(issuer);
      });
    running.set(issuer, started);
    return started;
  }

  function findFresh(issuer: string): CachedKeySet | undefined {
    const cached = cache.get(issuer);
    const ageMs = cached ? deps.clock.now().getTime() - cached.fetchedAtMs : 0;
    // A clock that was turned back makes the age negative: that set is not fresh either.
    return cached && ageMs >= 0 && ageMs < deps.jwksCacheSeconds * 1000 ? cached : undefined;
  }

  function takeRefetch(issuer: string): boolean {
    const bucket = buckets.get(issuer) ?? new RefetchBucket(deps.elapsedMs);
    buckets.set(issuer, bucket);
    return bucket.take();
  }

  return {
    async findKeys(issuer, kid) {
      try {
        const known = findFresh(issuer);
        // What this very call fetches is as new as can be; a fetch that others began may predate the key.
        const ownFetch = known === undefined && !running.has(issuer);
        const keySet = known ?? (await fetchOnce(issuer));
        const candidates = selectKeys(keySet, kid);
        if (candidates.length > 0) return { kind: "found", keySet, candidates };
        if (ownFetch) return { kind: "unknown-key", bounded: false };
        if (!takeRefetch(issuer)) return { kind: "unknown-key", bounded: true };
        const again = await fetchOnce(issuer);
        const later = selectKeys(again, kid);
        if (later.length > 0) return { kind: "found", keySet: again, candidates: later };
        return { kind: "unknown-key", bounded: false };
      } catch (cause) {
        return { kind: cause instanceof UnusableDocumentError ? "unusable" : "unreachable", cause };
      }
    },
    reset() {
      generation += 1;
      cache.clear();
      running.clear();
      buckets.clear();
    },
  };
}

/** A token without `kid` is served only where there is no choice to make. */
function selectKeys(keySet: KeySet, kid: string | undefined): readonly VerificationKey[] {
  if (kid !== undefined) return keySet.keys.filter((key) => key.kid === kid);
  return keySet.keys.length === 1 ? keySet.keys : [];
}

/** So many refetches at once, then one per interval of real time. */
class RefetchBucket {
  readonly #elapsedMs: () => number;
  #tokens: number = UNVERIFIED_LIMITS.refetchBurst;
  #filledAtMs: number;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.#filledAtMs = elapsedMs();
  }

  take(): boolean {
    const { refetchBurst, refetchIntervalMs } = UNVERIFIED_LIMITS;
    const earned = Math.floor((this.#elapsedMs() - this.#filledAtMs) / refetchIntervalMs);
    this.#tokens = Math.min(refetchBurst, this.#tokens + earned);
    this.#filledAtMs += earned * refetchIntervalMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
