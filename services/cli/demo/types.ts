// The nouns of the demo: rows, the steps they take, and what comes out.
import type { Backstage } from "./backstage.ts";

/** What happened to one attempt (design 11); a closed set. */
export const VERDICTS = {
  pulled: "the registry was asked and agreed",
  present: "already on the node and allowed",
  denied: "refused",
  leaked: "allowed, and should not have been",
} as const;

export type Verdict = keyof typeof VERDICTS;

/** One attempt, as it came out. */
export interface Step {
  readonly what: string;
  readonly verdict: Verdict;
  /** The deciding reason, from the closed set of the room that decided. */
  readonly reason: string;
  /** The statement, record or rule that decided. */
  readonly decidedBy?: string;
  /** The reason in a sentence: expected and found. */
  readonly because?: string;
  /** `ErrImagePull` and its like. */
  readonly podReason?: string;
  readonly trace?: string;
}

/** What a row's run hands back. */
export interface Story {
  /** What the row judges; verdicts are compared with `expected`. */
  readonly steps: readonly Step[];
  /** The allowed twin of a denial: the same attempt with one fact changed. */
  readonly twin?: Step;
  /** What had to happen first, each with the verdict it had to have. */
  readonly before?: readonly (Step & { readonly expected: Verdict })[];
  /** Further facts that must hold; each failed one is told. */
  readonly claims?: readonly { readonly what: string; readonly holds: boolean }[];
}

/** One line of the demo. */
export interface Row {
  readonly id: string;
  readonly title: string;
  /** One verdict per step. */
  readonly expected: readonly Verdict[];
  /** Verdicts that the twin may have; `pulled` or `present`. */
  readonly twin?: Verdict;
  /** What the world must have: see fixtures.ts. */
  readonly needs: readonly string[];
  /** Rotates keys, moves the clock or changes what other rows use: gets a stack of its own. */
  readonly disruptive?: boolean;
  run(backstage: Backstage): Promise<Story>;
}

/** One row's outcome: the machine form of `demo --json`. */
export interface RowResult {
  readonly id: string;
  readonly title: string;
  readonly applicable: boolean;
  readonly expected: string;
  readonly got: string;
  readonly ok: boolean;
  readonly reason: string;
  readonly decidedBy: string;
  readonly because?: string;
  readonly podReason?: string;
  readonly trace: string;
  readonly ms: number;
  readonly steps: readonly { readonly what: string; readonly verdict: string; readonly reason: string }[];
  readonly twin?: {
    readonly what: string;
    readonly verdict: string;
    readonly expected: string;
    readonly reason: string;
  };
  readonly before?: readonly { readonly what: string; readonly verdict: string; readonly reason: string }[];
  /** Why the row is not ok, where verdicts alone do not say it. */
  readonly problems?: readonly string[];
}

/** The whole demo. */
export interface DemoResult {
  readonly ok: boolean;
  readonly rows: readonly RowResult[];
}
