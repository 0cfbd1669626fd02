// matchImages: does a pattern of a credential provider (or a key of its answer) cover an image (kubelet.md 1.6)?
import { type GoUrl, GoUrlError, parseGoUrl, splitHostPort } from "./go-url.ts";

/** Whether a pattern covers an image, and the first thing that kept it from doing so. */
export type PatternMatch =
  | { readonly matches: true; readonly pattern: string }
  | { readonly matches: false; readonly because: string };

/**
 * The first of `patterns` that covers `target`, or why none does.
 * @param target normalised repository name without tag and digest
 */
export function findMatchingPattern(patterns: readonly string[], target: string): PatternMatch {
  const reasons: string[] = [];
  for (const pattern of patterns) {
    const because = explainMismatch(pattern, target);
    if (because === undefined) return { matches: true, pattern };
    reasons.push(`${pattern}: ${because}`);
  }
  return { matches: false, because: reasons.join("; ") || "no pattern" };
}

/** True if the pattern covers the target. Upstream: pkg/credentialprovider/keyring.go `URLsMatch`. */
export function matchesImage(pattern: string, target: string): boolean {
  return explainMismatch(pattern, target) === undefined;
}

/** Undefined for a match, else the deciding difference in words. */
function explainMismatch(pattern: string, target: string): string | undefined {
  const parsed = parseBoth(pattern, target);
  if (typeof parsed === "string") return parsed;
  const want = splitHostPort(parsed.pattern.authority);
  const have = splitHostPort(parsed.target.authority);
  if (want.port !== have.port) return `port ${want.port || "(none)"} is not the image's port ${have.port || "(none)"}`;
  const labels = want.host.split(".");
  const found = have.host.split(".");
  if (labels.length !== found.length) return `${labels.length} host labels, the image has ${found.length}`;
  if (!parsed.target.path.startsWith(parsed.pattern.path)) {
    const globs = parsed.pattern.path.includes("*") ? " (globs do not work in paths)" : "";
    return `path ${parsed.pattern.path} is no prefix of ${parsed.target.path}${globs}`;
  }
  const index = labels.findIndex((label, i) => !matchesGlob(label, found[i] ?? ""));
  return index < 0 ? undefined : `host label ${labels[index]} does not match ${found[index]}`;
}

function parseBoth(pattern: string, target: string): { pattern: GoUrl; target: GoUrl } | string {
  try {
    return { pattern: parseGoUrl(`https://${pattern}`), target: parseGoUrl(`https://${target}`) };
  } catch (error) {
    if (error instanceof GoUrlError) return error.message; // upstream: an unparsable side is no match, not a failure
    throw error;
  }
}

/** Go's `filepath.Match` for the patterns that a host label can hold: `*` and literals (`?` and `[` cannot occur). */
function matchesGlob(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  if (parts.length === 1) return pattern === name;
  const last = parts[parts.length - 1] ?? "";
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= name.length - last.length;
}
