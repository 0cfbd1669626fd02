// Which events a question asks for, and which decision settled a pull.
import type { PullproofEvent } from "../../shared/event.ts";
import type { EventFilter } from "../types.ts";

const EQUAL_FIELDS = ["trace", "lineage", "operation", "principal", "decision"] as const;

/** True if the event has every field that the filter names. */
export function isSelected(event: PullproofEvent, filter: EventFilter): boolean {
  return EQUAL_FIELDS.every((field) => filter[field] === undefined || event[field] === filter[field]);
}

/** The simulator's closing event of a pull. */
const VERDICT = "kubelet:PullImage";
/** What can allow a pull, most telling first: the node's record, then the registry's answer for the manifest. */
const ALLOWING = ["kubelet:DecidePull", "registry:GetManifest", "registry:HeadManifest"];

/** What a registry says to a client that has not shown a credential yet: telling only if nothing else was refused. */
const CHALLENGES = new Set(["no-credentials", "anonymous-not-allowed"]);

/**
 * The decision that settled a pull: of a denied one the first refusal, since everything after it is its consequence;
 * of an allowed one the record or the policy statement that let it through. Null for no events at all.
 */
export function decideWhy(events: readonly PullproofEvent[]): PullproofEvent | null {
  const verdict = events.findLast((event) => event.operation === VERDICT);
  const hops = events.filter((event) => event !== verdict);
  const denials = hops.filter((event) => event.decision === "deny");
  const denied = denials.find((event) => !CHALLENGES.has(event.reason ?? "")) ?? denials[0] ?? null;
  if (verdict?.decision === "deny" || (!verdict && denied)) return denied ?? verdict ?? null;
  const allowed = (operation: string) =>
    hops.findLast((event) => event.operation === operation && event.decision === "allow");
  for (const operation of ALLOWING) {
    const event = allowed(operation);
    if (event) return event;
  }
  return verdict ?? hops.findLast((event) => event.decision === "allow") ?? hops.at(-1) ?? null;
}
