// The kubelet's dealings with intents and records (kubelet.md 6.4–6.8): the only code that reads and writes them.
import type { Clock } from "../shared/clock.ts";
import {
  decideWithCredentials,
  decideWithoutCredentials,
  type OpenDecision,
  type PullDecision,
} from "./core/decide-pull.ts";
import type { Credential } from "./core/keyring.ts";
import { findMappingKey } from "./core/mapping-key.ts";
import type { Profile } from "./core/profiles.ts";
import { applyPull, createEmptyRecord, withEntry } from "./core/record-update.ts";
import type { VerificationPolicy } from "./core/verification-policy.ts";
import type { ImagePulledRecord, RecordStore, RuntimeImage } from "./types.ts";

export interface ImageRecordsDeps {
  readonly store: RecordStore;
  readonly policy: VerificationPolicy;
  readonly profile: Profile;
  readonly clock: Clock;
}

/** Intents and records of one run of the kubelet; the counts are lost at restart, the store's content is not. */
export class ImageRecords {
  readonly #deps: ImageRecordsDeps;
  readonly #counts = new Map<string, number>();

  constructor(deps: ImageRecordsDeps) {
    this.#deps = deps;
  }

  /** Start-up conversion (6.7): an image that an intent names verbatim counts as pulled by the kubelet. */
  convertIntents(images: readonly RuntimeImage[]): string[] {
    const { store, clock } = this.#deps;
    const converted: string[] = [];
    for (const intent of store.listIntents().intents) {
      const named = images.filter((image) => image.repoTags.includes(intent) || image.repoDigests.includes(intent));
      if (named.length === 0) continue;
      for (const { imageRef } of named) {
        if (readOrBroken(() => store.readRecord(imageRef)) === undefined) {
          store.writeRecord(createEmptyRecord(imageRef, clock.now()));
        }
      }
      store.deleteIntent(intent);
      converted.push(intent);
    }
    return converted;
  }

  /**
   * May the image on the node be used (6.6)? `findCredentials` is asked only if the answer depends on it.
   * @throws what `findCredentials` throws
   */
  async decide(
    image: string,
    imageRef: string,
    findCredentials: () => Promise<readonly Credential[]>,
  ): Promise<PullDecision> {
    const first = this.#open(image, imageRef);
    if ("mustPull" in first) return first;
    const credentials = await findCredentials();
    // Plugins may have run for a minute: what the record says now is what counts, and what may be extended.
    const again = this.#open(image, imageRef);
    if ("mustPull" in again) return again;
    const decision = decideWithCredentials(again, credentials);
    if (!decision.mustPull && decision.update) {
      const { store, clock } = this.#deps;
      const target = { imageRef, name: again.name, now: clock.now() };
      store.writeRecord(withEntry(store.readRecord(imageRef), target, decision.update));
    }
    return decision;
  }

  /** Steps 1 to 8 on what the store holds at this moment. */
  #open(image: string, imageRef: string): PullDecision | OpenDecision {
    const { store, policy, profile } = this.#deps;
    const record = readOrBroken(() => store.readRecord(imageRef));
    const counted = (this.#counts.get(image) ?? 0) > 0;
    const intent = counted || readOrBroken(() => store.hasIntent(image));
    return decideWithoutCredentials({ image, imageRef, policy, profile, record, intent });
  }

  /** Before every attempt. @throws if the intent cannot be written: the start then fails. */
  beginPull(image: string): void {
    this.#deps.store.writeIntent(image);
    this.#counts.set(image, (this.#counts.get(image) ?? 0) + 1);
  }

  /** After a failure or back-off. */
  failPull(image: string): void {
    this.#endPull(image);
  }

  /**
   * After a success: the record first, then the intent goes. If the record cannot be written the intent stays, so the
   * image keeps counting as pulled by the kubelet.
   * @returns the problem, if there was one; the container starts all the same (case 66)
   */
  finishPull(image: string, imageRef: string, used: Credential | undefined): string | undefined {
    const { store, profile, clock } = this.#deps;
    try {
      const existing = readOrBroken(() => store.readRecord(imageRef));
      const name = findMappingKey(image, profile) ?? image;
      const next = applyPull(existing === "broken" ? undefined : existing, { imageRef, name, now: clock.now() }, used);
      if (next) store.writeRecord(next);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    this.#endPull(image);
    return undefined;
  }

  /** Deletes records of images that are gone and were not touched since `startedAt` (6.8). */
  prune(images: readonly RuntimeImage[], startedAt: Date): string[] {
    const present = new Set(images.map((image) => image.imageRef));
    const gone = this.#deps.store
      .listRecords()
      .records.filter((record) => !present.has(record.imageRef) && record.lastUpdatedTime < startedAt);
    for (const { imageRef } of gone) this.#deps.store.deleteRecord(imageRef);
    return gone.map(({ imageRef }) => imageRef);
  }

  #endPull(image: string): void {
    const count = this.#counts.get(image) ?? 0;
    if (count <= 1) this.#deps.store.deleteIntent(image);
    this.#counts.set(image, Math.max(0, count - 1));
  }
}

/** A file that is there but cannot be read is neither presence nor absence. */
function readOrBroken<T extends ImagePulledRecord | undefined | boolean>(read: () => T): T | "broken" {
  try {
    return read();
  } catch {
    return "broken";
  }
}
