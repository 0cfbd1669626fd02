// What a provider leaves in the event log: plugins that were not run, and runs with their environment's names, never values.
import type { EventDraft, EventSink } from "../shared/event.ts";
import { redact } from "../shared/redact.ts";
import type { Pod } from "./core/pod.ts";
import type { PluginResult } from "./exec.ts";
import type { ProviderAccount, ProviderRefusal } from "./provider-account.ts";

/** For whom and for what a provider worked. */
export interface ProviderOccasion {
  readonly provider: string;
  readonly pod: Pod;
  readonly image: string;
  readonly trace: string;
}

const MAX_STDERR = 4000;

/** What a plugin said on stderr, as far as it may be told: without secrets, and no more of it than anybody reads. */
export function renderStderr(stderr: string): string {
  const text = redact(stderr);
  return text.length <= MAX_STDERR ? text : `${text.slice(0, MAX_STDERR)}… (${text.length} characters)`;
}

/** kubelet:SkipProvider. */
export function recordSkip(events: EventSink, occasion: ProviderOccasion, refusal: ProviderRefusal): void {
  events.record({
    ...commonOf(occasion),
    operation: "kubelet:SkipProvider",
    decision: "deny",
    reason: refusal.reason,
    durationMs: 0,
    notes: { because: refusal.message },
  });
}

export interface ExecFacts {
  readonly account: ProviderAccount | undefined;
  readonly result: PluginResult;
  readonly environment: Readonly<Record<string, string>>;
  /** Set if the run or its answer is refused. */
  readonly refusal?: ProviderRefusal;
}

/** kubelet:ExecPlugin. */
export function recordExec(events: EventSink, occasion: ProviderOccasion, facts: ExecFacts): void {
  const { account, result, environment, refusal } = facts;
  events.record({
    ...commonOf(occasion),
    operation: "kubelet:ExecPlugin",
    ...(account?.jti ? { lineage: account.jti } : {}),
    decision: refusal ? "deny" : "none",
    ...(refusal ? { reason: refusal.reason } : {}),
    durationMs: result.durationMs,
    notes: {
      environment: Object.keys(environment).sort(),
      ...(refusal ? { because: refusal.message } : {}),
      ...(result.stderr ? { stderr: renderStderr(result.stderr) } : {}),
    },
  });
}

function commonOf({ provider, pod, image, trace }: ProviderOccasion): EventDraft & { room: string } {
  return {
    room: "kubelet",
    trace,
    principal: `system:serviceaccount:${pod.namespace}:${pod.serviceAccountName ?? ""}`,
    resource: image,
    status: 0,
    decidedBy: `provider ${provider}`,
  };
}
