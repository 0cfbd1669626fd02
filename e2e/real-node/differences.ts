// What the real node shows and the simulated one does not, or in other words: each with its reason (docs/coverage.md).
// What is in here is taken out on both sides before they are compared; whatever remains different is a bug.
import type { Normalised } from "./normalise.ts";

/** Both sides of one Pod. */
export interface Pair {
  readonly simulated: Normalised;
  readonly real: Normalised;
}

export interface Difference {
  readonly id: string;
  readonly why: string;
  /** For which containerd it must be seen; an explanation that explains nothing is wrong. */
  readonly containerd: RegExp;
  /** The pair without this difference. */
  settle(pair: Pair): Pair;
}

/** The words of containerd 1.x and 2.x about one refusal, and what both mean. */
const WORDINGS: readonly { readonly old: RegExp; readonly current: RegExp; readonly meaning: string }[] = [
  {
    // 1.x does not say whether there was a credential to send.
    old: /failed to resolve reference "[^"]+": pulling from host \S+ failed with status code \[manifests [^\]]+\]: 401 Unauthorized/g,
    current:
      /failed to resolve image: (?:pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials|unexpected status from HEAD request to \S+: 401 Unauthorized)/g,
    meaning: "<refused with 401>",
  },
  {
    old: /failed to resolve reference "[^"]+": pulling from host \S+ failed with status code \[manifests [^\]]+\]: 403 Forbidden/g,
    current: /failed to resolve image: unexpected status from HEAD request to \S+: 403 Forbidden/g,
    meaning: "<refused with 403>",
  },
  {
    old: /failed to resolve reference "[^"]+": (?=\S+: not found)/g,
    current: /failed to resolve image: (?=\S+: not found)/g,
    meaning: "<not found> ",
  },
];

export const DIFFERENCES: readonly Difference[] = [
  {
    id: "containers-are-not-started",
    why: "the simulated kubelet ends where the image path ends: it creates no containers, so their events Created and Started are missing",
    containerd: /./,
    settle: ({ simulated, real }) => ({
      simulated,
      real: { ...real, events: real.events.filter((event) => !/^Normal (Created|Started): /.test(event)) },
    }),
  },
  {
    id: "containerd-1-wording",
    why: "the simulated runtime has the words of containerd 2.2; 1.x says the same refusal in other words, and does not tell a missing credential from a wrong one",
    containerd: /^1\./,
    settle: ({ simulated, real }) => {
      const unify = (side: Normalised, key: "old" | "current") =>
        replaceTexts(side, (text) => WORDINGS.reduce((result, to) => result.replace(to[key], to.meaning), text));
      const unified = unify(real, "old");
      return unified === real ? { simulated, real } : { simulated: unify(simulated, "current"), real: unified };
    },
  },
];

/** The same object if nothing changes. */
function replaceTexts(side: Normalised, replace: (text: string) => string): Normalised {
  const { message } = side;
  const events = side.events.map(replace);
  const changed = { ...side, events, ...(message === undefined ? {} : { message: replace(message) }) };
  return JSON.stringify(changed) === JSON.stringify(side) ? side : changed;
}

/** The pair with every explained difference settled, and which ones there were. */
export function settle(pair: Pair): { readonly pair: Pair; readonly seen: readonly string[] } {
  let settled = pair;
  const seen: string[] = [];
  for (const difference of DIFFERENCES) {
    const next = difference.settle(settled);
    if (JSON.stringify(next) !== JSON.stringify(settled)) seen.push(difference.id);
    settled = next;
  }
  return { pair: settled, seen };
}
