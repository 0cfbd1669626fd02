// The events that one ensured image leaves in the log: how present it was, what the record said, and the final verdict.
import type { EventDraft, EventSink } from "../shared/event.ts";
import type { Pod, PodImage } from "./core/pod.ts";
import type { EnsureOutcome } from "./ensure-image.ts";
import type { ContainerVerdict } from "./types.ts";

export interface OutcomeFacts {
  readonly node: string;
  readonly trace: string;
  readonly pod: Pod;
  readonly target: PodImage;
  readonly outcome: EnsureOutcome;
  readonly container: ContainerVerdict;
}

/** Reports kubelet:EnsureImage, kubelet:DecidePull (if a record was asked) and kubelet:PullImage, in this order. */
export function recordOutcome(events: EventSink, facts: OutcomeFacts): void {
  const { pod, target, outcome, container } = facts;
  const common: EventDraft & { room: string } = {
    room: "kubelet",
    trace: facts.trace,
    principal: `system:serviceaccount:${pod.namespace}:${pod.serviceAccountName ?? ""}`,
    resource: target.image,
    status: 0,
    durationMs: 0,
  };
  const where = { node: facts.node, pod: `${pod.namespace}/${pod.name}`, container: target.name };
  const labels = { pullPolicy: target.policy.toLowerCase(), ...outcome.labels };
  events.record({ ...common, operation: "kubelet:EnsureImage", decision: "none", notes: { ...where, ...labels } });
  const { decision } = outcome;
  if (decision) {
    events.record({
      ...common,
      operation: "kubelet:DecidePull",
      decision: decision.mustPull ? "deny" : "allow",
      reason: decision.mustPull ? "must-pull" : decision.reason,
      decidedBy: decision.mustPull ? decision.because : decision.decidedBy,
      notes: { ...where, result: decision.result },
    });
  }
  events.record({
    ...common,
    operation: "kubelet:PullImage",
    decision: container.verdict === "denied" ? "deny" : "allow",
    reason: container.reason,
    decidedBy: container.decidedBy,
    notes: {
      ...where,
      verdict: container.verdict,
      ...(container.podReason ? { podReason: container.podReason } : {}),
      ...(container.message ? { message: container.message } : {}),
      ...(container.imageRef ? { imageRef: container.imageRef } : {}),
      credentials: container.credentials,
      providers: container.providers,
    },
  });
}
