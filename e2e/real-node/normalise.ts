// The one place where what changes from run to run is taken out: times, uids and what is ordered by them, ports.
import type { Observation, UidNames } from "./stage.ts";

/** An observation in terms that are the same on both stages and in every run. */
export interface Normalised {
  readonly verdict: string;
  readonly podReason?: string;
  readonly message?: string;
  /** `<type> <reason>: <message>` */
  readonly events: readonly string[];
  /** Pull records and intents by file name, parsed. */
  readonly files: Readonly<Record<string, unknown>>;
  /** What STS and ECR were asked for this Pod, and what they said. */
  readonly calls: readonly string[];
}

export function normalise(observation: Observation, uids: UidNames): Normalised {
  const text = (value: string) => uids.replaceIn(normaliseText(value));
  const { verdict, podReason, message, events, files, calls } = observation;
  return {
    verdict,
    ...(podReason === undefined ? {} : { podReason }),
    ...(message === undefined ? {} : { message: text(message) }),
    // The API keeps one event of those that say the same, and counts the later ones.
    events: [...new Set(events.map((event) => text(`${event.type} ${event.reason}: ${event.message}`)))],
    files: Object.fromEntries(
      Object.entries(files).map(([name, content]) => [name, JSON.parse(uids.replaceIn(content), normaliseMember)]),
    ),
    calls,
  };
}

function normaliseText(text: string): string {
  return (
    text
      .replace(/ in \S+ \(\S+ including waiting\)/, " in <t> (<t> including waiting)")
      // The mirror of hosts.toml: the real node asks one loopback address for all names, and says which in `ns`.
      .replace(/https:\/\/127\.0\.0\.1:\d+(\/\S*?)\?ns=([\w.-]+)/g, "https://$2$1")
  );
}

/** Records carry the time of their last change; of two with the same name the one with the lower uid comes first. */
function normaliseMember(key: string, value: unknown): unknown {
  if (key === "lastUpdatedTime") return "<time>";
  if (!Array.isArray(value)) return value;
  return value.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}
