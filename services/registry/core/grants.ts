// Grants of a plain registry: who may pull, push and delete where (spec registry 3.1). Patterns: `*` within a component,
// `**` across components.
import type { AccessDecision } from "../types.ts";

export type GrantAction = "pull" | "push" | "delete" | "*";

/** What a repository (or a pattern of names) gives to whom. */
export interface RepositoryGrants {
  readonly anonymous?: readonly ("pull" | "push")[];
  readonly grants?: Readonly<Record<string, readonly GrantAction[]>>;
}

/** A key of the repositories table as a test for names; exact names are looked up, not tested. */
export function compilePattern(pattern: string): RegExp | undefined {
  if (!pattern.includes("*")) return undefined;
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  return new RegExp(`^${source}$`);
}

/** Reasons of decisions of plain registries. */
export type GrantReason = "granted" | "granted-to-anyone" | "no-grant" | "anonymous-not-allowed";

/**
 * Decides by grants alone. A name that no entry covers is denied like a foreign one.
 * @param user undefined for anonymous callers
 */
export function decideGrant(
  entries: readonly (readonly [key: string, grants: RepositoryGrants])[],
  user: string | undefined,
  action: "pull" | "push" | "delete",
): AccessDecision {
  for (const [key, { anonymous, grants }] of entries) {
    if (action !== "delete" && anonymous?.includes(action)) {
      return decision("allow", "granted-to-anyone", `repositories[${key}].anonymous`);
    }
    const own = user !== undefined && grants && Object.hasOwn(grants, user) ? grants[user] : undefined;
    if (own?.includes(action) || own?.includes("*")) {
      return decision("allow", "granted", `repositories[${key}].grants.${user}`);
    }
  }
  const reason = user === undefined ? "anonymous-not-allowed" : "no-grant";
  const key = entries[0]?.[0];
  return decision("deny", reason, key === undefined ? "repositories" : `repositories[${key}]`);
}

function decision(effect: "allow" | "deny", reason: GrantReason, decidedBy: string): AccessDecision {
  return { effect, reason, decidedBy };
}
