// Texts of the Pod's events and statuses about images, as the kubelet writes them (kubelet.md 7.1, 12, 13.2).
import type { PodEvent } from "../types.ts";
import { renderGoDuration } from "./go-duration.ts";

/** Normal `Pulled` for an image that is already here; the second half is the documented sign of KEP-2535 at work. */
export function renderPresent(image: string, verified: boolean): PodEvent {
  const access = verified ? " and can be accessed by the pod" : "";
  return {
    type: "Normal",
    reason: "Pulled",
    message: `Container image "${image}" already present on machine${access}`,
  };
}

/** Normal `Pulled` after a pull; times in milliseconds. */
export function renderPulled(image: string, took: { pullMs: number; totalMs: number; sizeBytes: number }): PodEvent {
  const pull = renderGoDuration(Math.floor(took.pullMs));
  const total = renderGoDuration(Math.floor(took.totalMs));
  const message = `Successfully pulled image "${image}" in ${pull} (${total} including waiting). Image size: ${took.sizeBytes} bytes.`;
  return { type: "Normal", reason: "Pulled", message };
}

/** The same words for "absent" and "present but not permitted": presence must not be revealed. */
export function renderNeverPull(image: string): PodEvent {
  const message = `Container image "${image}" is not present with pull policy of Never`;
  return { type: "Warning", reason: "ErrImageNeverPull", message };
}

/** Warning about imagePullSecrets that could not be read. */
export function renderMissingSecrets(names: readonly string[]): PodEvent {
  const message = `Unable to retrieve some image pull secrets (${names.join(", ")}); attempting to pull the image may not succeed.`;
  return { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message };
}

/** Waiting reason and message for a runtime's error text. */
export function renderPullFailure(image: string, text: string): { podReason: string; message: string } {
  for (const [word, why] of SPECIAL_FAILURES) {
    if (text.startsWith(word)) {
      return {
        podReason: word,
        message: `image pull failed for ${image} because the ${why}${text.slice(word.length)}`,
      };
    }
  }
  return { podReason: "ErrImagePull", message: text };
}

const SPECIAL_FAILURES = [
  ["RegistryUnavailable", "registry is unavailable"],
  ["SignatureValidationFailed", "signature validation failed"],
] as const;
