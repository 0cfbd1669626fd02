// Range and conditional requests on content that never changes (RFC 9110 §13.1, §14; spec registry 1.5).

/** Bytes `start` to `end`, both included, as `Content-Range` counts them. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** `whole`: answer 200. `parts`: answer 206 (several parts: multipart). `unsatisfiable`: answer 416. */
export type RangeDecision =
  | { readonly kind: "whole" }
  | { readonly kind: "parts"; readonly ranges: readonly [ByteRange, ...ByteRange[]] }
  | { readonly kind: "unsatisfiable" };

const RANGE_LIMIT = 100;
const SPEC = /^[ \t]*(\d*)-(\d*)[ \t]*$/;
const WHOLE: RangeDecision = { kind: "whole" };
const UNSATISFIABLE: RangeDecision = { kind: "unsatisfiable" };

/**
 * What a `Range` header asks of content of `size` bytes. Units other than bytes and text that is no range are ignored;
 * a range that runs backwards is refused, as conformance suites and distribution have it.
 */
export function decideRange(header: string | undefined, size: number): RangeDecision {
  if (header === undefined || !/^bytes[ \t]*=/i.test(header)) return WHOLE;
  const specs = header.slice(header.indexOf("=") + 1).split(",");
  if (specs.length > RANGE_LIMIT) return UNSATISFIABLE;
  const ranges: ByteRange[] = [];
  for (const spec of specs) {
    const match = SPEC.exec(spec);
    if (!match || (match[1] === "" && match[2] === "")) return WHOLE;
    const range = resolve(match[1] ?? "", match[2] ?? "", size);
    if (range === "backwards") return UNSATISFIABLE;
    if (range) ranges.push(range);
  }
  const [first, ...others] = ranges;
  return first ? { kind: "parts", ranges: [first, ...others] } : UNSATISFIABLE;
}

function resolve(from: string, to: string, size: number): ByteRange | "backwards" | undefined {
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length > 0 ? { start: size - length, end: size - 1 } : undefined;
  }
  const start = Number(from);
  if (to !== "" && Number(to) < start) return "backwards";
  if (start >= size) return undefined;
  return { start, end: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}

/** True if `If-None-Match` (a list, `*`, weak tags included) matches the entity tag of a digest. */
export function matchesEtag(header: string | undefined, digest: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === `"${digest}"`);
}

/** True if `If-Range` is absent or equals our strong entity tag; otherwise the range must be ignored. */
export function allowsRange(ifRange: string | undefined, digest: string): boolean {
  return ifRange === undefined || ifRange.trim() === `"${digest}"`;
}
