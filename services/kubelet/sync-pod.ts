// One sync of a Pod: all its images in the kubelet's order, its events, and the verdict (kubelet.md 0.1, 7.1, 13.1).
import type { EventSink } from "../shared/event.ts";
import { renderMissingSecrets } from "./core/image-texts.ts";
import type { Pod, PodImage } from "./core/pod.ts";
import { type EnsureOutcome, ensureImage } from "./ensure-image.ts";
import { KubeletCrash } from "./errors.ts";
import { recordOutcome } from "./pull-events.ts";
import type { Session } from "./session.ts";
import type { ContainerVerdict, PodEvent, PodVerdict, Verdict } from "./types.ts";

export interface SyncContext {
  readonly session: Session;
  readonly node: string;
  readonly trace: string;
  readonly events: EventSink;
  readonly isIntended: (namespace: string, image: string) => boolean;
}

/** The kubelet starts ephemeral containers first, then init containers one by one, then the rest; volumes before all. */
const ORDER: readonly PodImage["kind"][] = ["volume", "ephemeral", "init", "container"];

/** Ensures every image of the Pod once. Never throws for a refusal. */
export async function syncPod(context: SyncContext, pod: Pod): Promise<PodVerdict> {
  const sync = new Sync(context, pod);
  try {
    await sync.run();
  } catch (error) {
    if (!(error instanceof KubeletCrash)) throw error;
    sync.abort();
  }
  return sync.verdict();
}

class Sync {
  readonly #context: SyncContext;
  readonly #pod: Pod;
  readonly #events: PodEvent[] = [];
  readonly #containers: ContainerVerdict[] = [];

  constructor(context: SyncContext, pod: Pod) {
    this.#context = context;
    this.#pod = pod;
  }

  async run(): Promise<void> {
    const { session, trace } = this.#context;
    const secrets = await session.ensure.credentials.readSecrets(this.#pod, trace);
    const late = session.profile.missingSecretEvent === "after-pull-failure";
    if (secrets.missing.length > 0 && !late) this.#events.push(renderMissingSecrets(secrets.missing));
    const targets = ORDER.flatMap((kind) => this.#pod.images.filter((image) => image.kind === kind));
    for (const target of targets) {
      const blocked = this.#findBlocker(target);
      if (blocked) this.#containers.push(blocked);
      else {
        const query = { pod: this.#pod, target, secrets, trace };
        const outcome = await ensureImage(session.ensure, query);
        this.#take(target, outcome);
      }
    }
    const failed = this.#containers.some((container) => container.podReason === "ErrImagePull");
    if (secrets.missing.length > 0 && late && failed) this.#events.push(renderMissingSecrets(secrets.missing));
  }

  /** The kubelet died: the image at hand and all after it get no verdict but this. */
  abort(): void {
    const crashed = this.#context.session.crashed();
    const done = new Set(this.#containers.map((container) => container.name));
    const reason = crashed ? "kubelet-crashed" : "kubelet-not-running";
    for (const { name, kind, image } of this.#pod.images) {
      if (done.has(name)) continue;
      this.#containers.push({ name, kind, image, verdict: "denied", reason, credentials: [], providers: [] });
    }
  }

  verdict(): PodVerdict {
    const { namespace, name, uid } = this.#pod;
    const deciding = findDeciding(this.#containers);
    const { node, trace } = this.#context;
    const { name: _name, kind: _kind, ...facts } = deciding ?? EMPTY;
    return { namespace, name, uid, node, trace, ...facts, events: this.#events, containers: this.#containers };
  }

  /** A container that cannot start because a volume's image or an init container failed. */
  #findBlocker(target: PodImage): ContainerVerdict | undefined {
    const { name, kind, image } = target;
    const base = { name, kind, image, verdict: "denied" as const, credentials: [], providers: [] };
    const volume = this.#containers.findLast(
      (other) => other.kind === "volume" && other.verdict === "denied" && target.mounts.includes(other.name),
    );
    if (volume?.podReason !== undefined) {
      this.#events.push({ type: "Warning", reason: "Failed", message: `Error: ${volume.podReason}` });
      const message = volume.message === undefined ? {} : { message: volume.message };
      return {
        ...base,
        reason: "volume-failed",
        decidedBy: `volume ${volume.name}`,
        podReason: volume.podReason,
        ...message,
      };
    }
    if (kind !== "init" && kind !== "container") return undefined;
    const init = this.#containers.find((other) => other.kind === "init" && other.verdict === "denied");
    if (!init) return undefined;
    return {
      ...base,
      reason: "init-not-finished",
      decidedBy: `init container ${init.name}`,
      podReason: "PodInitializing",
    };
  }

  #take(target: PodImage, outcome: EnsureOutcome): void {
    const { isIntended, events, node, trace } = this.#context;
    this.#events.push(...outcome.events);
    if (outcome.refusal && target.kind !== "volume") {
      this.#events.push({ type: "Warning", reason: "Failed", message: `Error: ${outcome.refusal.podReason}` });
    }
    const verdict: Verdict = !outcome.allowed
      ? "denied"
      : isIntended(this.#pod.namespace, target.image)
        ? outcome.allowed.how
        : "leaked";
    const container = renderContainer(target, outcome, verdict);
    this.#containers.push(container);
    recordOutcome(events, { node, trace, pod: this.#pod, target, outcome, container });
  }
}

function renderContainer(target: PodImage, outcome: EnsureOutcome, verdict: Verdict): ContainerVerdict {
  const { name, kind, image } = target;
  const base = { name, kind, image, verdict, credentials: outcome.credentials, providers: outcome.providers };
  const { allowed, refusal } = outcome;
  if (allowed) return { ...base, reason: allowed.reason, decidedBy: allowed.decidedBy, imageRef: allowed.imageRef };
  return {
    ...base,
    reason: refusal?.reason ?? "pull-failed",
    ...(refusal?.decidedBy === undefined ? {} : { decidedBy: refusal.decidedBy }),
    ...(refusal ? { podReason: refusal.podReason, message: refusal.message } : {}),
  };
}

const EMPTY: Omit<ContainerVerdict, "name" | "kind"> & { name?: string; kind?: string } = {
  image: "",
  verdict: "present",
  reason: "verification-off",
  credentials: [],
  providers: [],
};

/** The worst verdict counts; what merely followed from another failure does not. */
function findDeciding(containers: readonly ContainerVerdict[]): ContainerVerdict | undefined {
  const causes = containers.filter(({ reason }) => reason !== "volume-failed" && reason !== "init-not-finished");
  for (const verdict of ["denied", "leaked", "pulled", "present"] as const) {
    const found = causes.find((container) => container.verdict === verdict);
    if (found) return found;
  }
  return containers[0];
}
