// Paging of sorted lists with `n` and `last` (distribution-spec v1.1.1, "Listing tags"; spec registry 1.12, 1.13).
import { RegistryError } from "../errors.ts";

export interface PageRequest {
  readonly n: number | undefined;
  readonly last: string | undefined;
}

export interface Page {
  readonly items: readonly string[];
  /** The query of the next page, if there is more. */
  readonly next: string | undefined;
}

export interface PageLimits {
  /** The most items of one page when `n` is given. */
  readonly max: number;
  /** What `n` above `max` means: fewer items than asked for, or a refusal. */
  readonly tooLarge: "clamp" | "refuse";
  /** Items of a page when `n` is absent. */
  readonly withoutN: number;
}

/**
 * Reads `n` and `last`.
 * @throws RegistryError page-invalid, page-too-large
 */
export function parsePage(query: URLSearchParams, limits: PageLimits): PageRequest {
  const last = query.get("last") ?? undefined;
  const raw = query.get("n");
  if (raw === null) return { n: undefined, last };
  if (!/^\d{1,15}$/.test(raw)) {
    throw new RegistryError("page-invalid", `expected n to be a non-negative integer, found ${JSON.stringify(raw)}`);
  }
  const n = Number(raw);
  if (n > limits.max && limits.tooLarge === "refuse") {
    throw new RegistryError("page-too-large", `expected n of at most ${limits.max}, found ${n}`);
  }
  return { n: Math.min(n, limits.max), last };
}

/** Cuts one page out of a list in byte order; `last` is exclusive and need not be in the list. */
export function cutPage(sorted: readonly string[], request: PageRequest, limits: PageLimits): Page {
  const start = request.last === undefined ? 0 : firstAfter(sorted, request.last);
  const n = request.n ?? limits.withoutN;
  const items = sorted.slice(start, start + n);
  const end = items.at(-1);
  const more = end !== undefined && start + items.length < sorted.length;
  return { items, next: more ? `n=${n}&last=${encodeURIComponent(end)}` : undefined };
}

/** Binary search: lists of 100,000 tags are paged without being walked. */
function firstAfter(sorted: readonly string[], last: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") <= last) low = middle + 1;
    else high = middle;
  }
  return low;
}
