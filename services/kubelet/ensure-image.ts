// `EnsureImageExists`: from a container's image to "here and allowed", "pulled" or a refusal (kubelet.md 0.1).
import { type Clock, monotonicMs } from "../shared/clock.ts";
import type { BackOff } from "./core/back-off.ts";
import type { PullDecision } from "./core/decide-pull.ts";
import { parseImageName, renderRepository } from "./core/image-name.ts";
import { renderPresent, renderPulled, renderPullFailure } from "./core/image-texts.ts";
import type { Credential } from "./core/keyring.ts";
import type { KubeletSettings } from "./core/kubelet-configuration.ts";
import type { Pod, PodImage } from "./core/pod.ts";
import type { Profile } from "./core/profiles.ts";
import { reportComparison } from "./credential-reports.ts";
import type { CredentialSources, FoundCredentials, PullSecrets } from "./credentials.ts";
import { ImageRefusal, KubeletCrash, type RegistryPullError } from "./errors.ts";
import type { ImageRecords } from "./image-records.ts";
import type { PullSlots } from "./pull-slots.ts";
import { refuseBackOff, refuseIntent, refuseNever, tagImage } from "./refusals.ts";
import { describeUse, explainFailures, joinErrors, type PullDeps, tryCredentials } from "./try-credentials.ts";
import type { CredentialReport, PodEvent, ProviderReport, Reason, RuntimeImage } from "./types.ts";

export interface EnsureDeps extends PullDeps {
  readonly profile: Profile;
  readonly settings: KubeletSettings;
  readonly records: ImageRecords;
  readonly credentials: CredentialSources;
  readonly backOff: BackOff;
  readonly slots: PullSlots;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The kubelet dies at this very point if the Pod says so. */
  readonly crashPoint: (pod: Pod) => void;
  /** Previous failures by back-off key, for the message during back-off. */
  readonly failures: Map<string, { readonly podReason: string; readonly message: string }>;
}

export interface EnsureQuery {
  readonly pod: Pod;
  readonly target: PodImage;
  readonly secrets: PullSecrets;
  readonly trace: string;
}

/** What happened to one image; `refusal` is set if it may not be used. */
export interface EnsureOutcome {
  readonly allowed?: {
    readonly how: "pulled" | "present";
    readonly reason: Reason;
    readonly decidedBy: string;
    readonly imageRef: string;
  };
  readonly refusal?: ImageRefusal;
  readonly events: readonly PodEvent[];
  readonly credentials: readonly CredentialReport[];
  readonly providers: readonly ProviderReport[];
  readonly decision?: PullDecision;
  /** Labels of `kubelet_image_manager_ensure_image_requests_total`. */
  readonly labels: { readonly presentLocally: Label; readonly pullRequired: Label };
}

type Label = "true" | "false" | "unknown";

/** Ensures one image. Never throws for a refusal. @throws KubeletCrash if the kubelet dies or stops meanwhile */
export async function ensureImage(deps: EnsureDeps, query: EnsureQuery): Promise<EnsureOutcome> {
  const attempt = new Attempt(deps, query);
  try {
    return attempt.outcome(await attempt.run());
  } catch (error) {
    if (error instanceof ImageRefusal) return attempt.outcome(error);
    throw error;
  }
}

type Allowed = NonNullable<EnsureOutcome["allowed"]>;

class Attempt {
  readonly #deps: EnsureDeps;
  readonly #query: EnsureQuery;
  readonly #events: PodEvent[] = [];
  #credentials: readonly CredentialReport[] = [];
  #found: FoundCredentials | undefined;
  #decision: PullDecision | undefined;
  #labels: EnsureOutcome["labels"] = { presentLocally: "unknown", pullRequired: "unknown" };

  constructor(deps: EnsureDeps, query: EnsureQuery) {
    this.#deps = deps;
    this.#query = query;
  }

  outcome(result: Allowed | ImageRefusal): EnsureOutcome {
    const refused = result instanceof ImageRefusal;
    if (refused) this.#events.push(...result.events);
    return {
      ...(refused ? { refusal: result } : { allowed: result }),
      events: this.#events,
      credentials: this.#credentials,
      providers: this.#found?.providers ?? [],
      ...(this.#decision ? { decision: this.#decision } : {}),
      labels: this.#labels,
    };
  }

  async run(): Promise<Allowed> {
    const { image, policy } = this.#query.target;
    const tagged = tagImage(image);
    const { credentialLookup } = this.#deps.profile;
    const present = policy === "Always" ? undefined : this.#deps.runtime.find(tagged);
    if (policy === "Always") this.#labels = { presentLocally: "unknown", pullRequired: "true" };
    const needless = credentialLookup === "lazy" || (!this.#gate && present && credentialLookup !== "always");
    if (!needless) await this.#find();
    if (present) {
      const allowed = await this.#judgePresent(image, present);
      if (allowed) return allowed;
    } else if (policy === "Never") {
      this.#labels = { presentLocally: "false", pullRequired: "unknown" };
      throw refuseNever(image, "never-absent", "the image is not on the node");
    } else if (policy === "IfNotPresent") this.#labels = { presentLocally: "false", pullRequired: "true" };
    return this.#pull(image, tagged);
  }

  get #gate(): boolean {
    return this.#deps.settings.ensureSecretPulledImages;
  }

  /** Computed at most once per call; lookup errors are refusals. */
  async #find(): Promise<readonly Credential[]> {
    const { pod, target, trace, secrets } = this.#query;
    const image = renderRepository(parseImageName(target.image));
    this.#found ??= await this.#deps.credentials.find({ pod, image, trace, secrets });
    this.#checkAlive();
    return this.#found.credentials;
  }

  async #judgePresent(image: string, present: RuntimeImage): Promise<Allowed | undefined> {
    this.#labels = { presentLocally: "true", pullRequired: "false" };
    const { imageRef } = present;
    if (!this.#gate) {
      this.#events.push(renderPresent(image, false));
      return {
        how: "present",
        reason: "verification-off",
        decidedBy: "gate KubeletEnsureSecretPulledImages",
        imageRef,
      };
    }
    this.#labels = { presentLocally: "true", pullRequired: "unknown" };
    const decision = await this.#deps.records.decide(image, imageRef, () => this.#find());
    this.#decision = decision;
    this.#credentials = reportComparison(this.#found?.credentials ?? [], decision);
    this.#labels = { presentLocally: "true", pullRequired: decision.mustPull ? "true" : "false" };
    if (!decision.mustPull) {
      this.#events.push(renderPresent(image, true));
      return { how: "present", reason: decision.reason, decidedBy: decision.decidedBy, imageRef };
    }
    if (this.#query.target.policy === "Never") throw refuseNever(image, "never-not-permitted", decision.because);
    return undefined;
  }

  async #pull(image: string, tagged: string): Promise<Allowed> {
    const credentials = await this.#find();
    this.#beginPull(image);
    const key = `${this.#query.pod.uid}_${image}`;
    if (this.#deps.backOff.isActive(key, this.#deps.clock.now())) {
      if (this.#gate) this.#deps.records.failPull(image);
      throw refuseBackOff(image, this.#deps.failures.get(key));
    }
    this.#events.push({ type: "Normal", reason: "Pulling", message: `Pulling image "${image}"` });
    const asked = monotonicMs();
    const pull = { image: tagged, credentials, trace: this.#query.trace };
    const pulled = await this.#deps.slots.run(() => tryCredentials(this.#deps, pull));
    this.#checkAlive();
    this.#credentials = pulled.reports;
    if ("failures" in pulled) throw this.#fail(image, key, pulled.failures);
    this.#deps.crashPoint(this.#query.pod);
    const { imageRef, size } = pulled.image;
    const took = { pullMs: pulled.tookMs, totalMs: monotonicMs() - asked, sizeBytes: size };
    this.#events.push(renderPulled(image, took));
    this.#deps.backOff.collect(this.#deps.clock.now());
    if (this.#gate) this.#deps.records.finishPull(image, imageRef, pulled.used);
    return { how: "pulled", imageRef, ...describeUse(pulled.used) };
  }

  #beginPull(image: string): void {
    if (!this.#gate) return;
    try {
      this.#deps.records.beginPull(image);
    } catch (error) {
      throw refuseIntent(image, error);
    }
  }

  #fail(image: string, key: string, failures: readonly RegistryPullError[]): ImageRefusal {
    if (this.#gate) this.#deps.records.failPull(image);
    this.#deps.backOff.fail(key, this.#deps.clock.now());
    const text = joinErrors(failures.map((failure) => failure.message));
    const { podReason, message } = renderPullFailure(image, text);
    this.#deps.failures.set(key, { podReason, message });
    const facts = explainFailures(failures, this.#found?.providers ?? []);
    const event: PodEvent = {
      type: "Warning",
      reason: "Failed",
      message: `Failed to pull image "${image}": ${message}`,
    };
    return new ImageRefusal(podReason, message, { ...facts, events: [event] });
  }

  #checkAlive(): void {
    if (this.#deps.signal.aborted) throw new KubeletCrash();
  }
}
