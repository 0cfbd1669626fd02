// Refusals that need no registry: bad names, policy Never, back-off, intents that cannot be written (kubelet.md 7.1).
import { InvalidImageNameError } from "./core/image-name.ts";
import { applyDefaultTag } from "./core/image-tag.ts";
import { renderNeverPull } from "./core/image-texts.ts";
import { ImageRefusal } from "./errors.ts";
import type { PodEvent, Reason } from "./types.ts";

/**
 * The spec string with its default tag.
 * @throws ImageRefusal `InvalidImageName`
 */
export function tagImage(image: string): string {
  try {
    return applyDefaultTag(image);
  } catch (error) {
    if (!(error instanceof InvalidImageNameError)) throw error;
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": ${error.message}`;
    const event: PodEvent = { type: "Warning", reason: "InspectFailed", message };
    throw new ImageRefusal("InvalidImageName", message, { reason: "invalid-image-name", events: [event] });
  }
}

/** Policy Never: the Pod sees the same for "absent" and "not permitted"; only our own reason differs. */
export function refuseNever(image: string, reason: Reason, decidedBy: string): ImageRefusal {
  const event = renderNeverPull(image);
  return new ImageRefusal("ErrImageNeverPull", event.message, { reason, decidedBy, events: [event] });
}

/** Within back-off: the previous failure is repeated in the message. */
export function refuseBackOff(
  image: string,
  before: { readonly podReason: string; readonly message: string } | undefined,
): ImageRefusal {
  const message = `Back-off pulling image "${image}"`;
  const full = before ? `${message}: ${before.podReason}: ${before.message}` : message;
  const events: PodEvent[] = [{ type: "Normal", reason: "BackOff", message }];
  return new ImageRefusal("ImagePullBackOff", full, { reason: "back-off", decidedBy: before?.message, events });
}

/** The intent could not be written: the start fails with a raw text instead of a named reason. */
export function refuseIntent(image: string, cause: unknown): ImageRefusal {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = `Failed to record image pull intent for container image "${image}": failed to record image pull intent: ${why}`;
  return new ImageRefusal(text, text, { reason: "intent-not-written" });
}
