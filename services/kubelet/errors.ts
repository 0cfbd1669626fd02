// What can keep a container from its image, as the kubelet names it in the Pod's status (kubelet.md 7.1).
import type { PodEvent, Reason } from "./types.ts";

/** Waiting reasons that the kubelet has a name for. */
export type PodReason =
  | "InvalidImageName"
  | "ImageInspectError"
  | "ErrImageNeverPull"
  | "ErrImagePull"
  | "RegistryUnavailable"
  | "SignatureValidationFailed"
  | "ImagePullBackOff";

/** An image that may not or cannot be used: what the Pod shows, and our own deciding reason. */
export class ImageRefusal extends Error {
  /** The closed set, or a raw error text where the kubelet has no name (broken secret, unwritable intent). */
  readonly podReason: string;
  readonly reason: Reason;
  readonly decidedBy: string | undefined;
  /** Events before the closing `Error: <reason>`. */
  readonly events: readonly PodEvent[];

  constructor(
    podReason: string,
    message: string,
    facts: { readonly reason: Reason; readonly decidedBy?: string | undefined; readonly events?: readonly PodEvent[] },
  ) {
    super(message);
    this.name = "ImageRefusal";
    this.podReason = podReason;
    this.reason = facts.reason;
    this.decidedBy = facts.decidedBy;
    this.events = facts.events ?? [];
  }
}

/** How a pull at the registry failed; the text is containerd's as the kubelet passes it on. */
export class RegistryPullError extends Error {
  readonly kind: "registry-refused" | "no-credentials" | "image-not-found" | "registry-unreachable" | "pull-failed";
  /** What the registry said, if it said more than a status. */
  readonly detail: string | undefined;

  constructor(kind: RegistryPullError["kind"], message: string, detail?: string) {
    super(message);
    this.name = "RegistryPullError";
    this.kind = kind;
    this.detail = detail;
  }
}

/** The API server's answer to the kubelet when it is no success; the text is the Status message. */
export class ApiServerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "ApiServerError";
    this.status = status;
  }
}

/** The kubelet died in the middle of something; nothing after that happens. */
export class KubeletCrash extends Error {
  constructor() {
    super("the kubelet died");
    this.name = "KubeletCrash";
  }
}
