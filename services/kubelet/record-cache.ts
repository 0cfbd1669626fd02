// The memory above the record files (kubelet.md 6.3, ≥ 1.34): written through, so files edited behind a running kubelet
// are not noticed until it restarts.
import type { ImagePulledRecord, RecordStore } from "./types.ts";

/** A least-recently-used map that knows whether a miss is final. */
class Remembered<V> {
  readonly #entries = new Map<string, V>();
  readonly #capacity: number;
  /** True while everything on disk is known to be here. */
  authoritative: boolean;

  constructor(capacity: number, entries: readonly (readonly [string, V])[], clean: boolean) {
    this.#capacity = capacity;
    this.authoritative = clean && entries.length < capacity;
    for (const [key, value] of entries) this.set(key, value);
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.authoritative = false;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  values(): V[] {
    return [...this.#entries.values()];
  }
}

/** Capacities as the kubelet derives them. */
export interface RecordCacheLimits {
  readonly maxPods: number;
  readonly maxParallelImagePulls: number | undefined;
}

/** `store` behind a memory that is filled once, now. */
export function createRecordCache(store: RecordStore, limits: RecordCacheLimits): RecordStore {
  const intentCapacity = Math.min(1024, Math.max(2 * limits.maxPods, 2 * (limits.maxParallelImagePulls ?? 0)));
  const recordCapacity = Math.min(2000, 5 * limits.maxPods);
  const onDisk = { intents: store.listIntents(), records: store.listRecords() };
  const intents = new Remembered(
    intentCapacity,
    onDisk.intents.intents.map((image) => [image, true] as const),
    onDisk.intents.problems.length === 0,
  );
  const records = new Remembered<ImagePulledRecord>(
    recordCapacity,
    onDisk.records.records.map((record) => [record.imageRef, record] as const),
    onDisk.records.problems.length === 0,
  );
  return {
    ...store,
    hasIntent: (image) => intents.get(image) ?? (intents.authoritative ? false : store.hasIntent(image)),
    writeIntent(image) {
      store.writeIntent(image);
      intents.set(image, true);
    },
    deleteIntent(image) {
      store.deleteIntent(image);
      intents.delete(image);
    },
    readRecord(imageRef) {
      const known = records.get(imageRef);
      if (known || records.authoritative) return known;
      const read = store.readRecord(imageRef);
      if (read) records.set(imageRef, read);
      return read;
    },
    writeRecord(record) {
      store.writeRecord(record);
      records.set(record.imageRef, record);
    },
    deleteRecord(imageRef) {
      store.deleteRecord(imageRef);
      records.delete(imageRef);
    },
    // Times in memory are exact, those on disk have whole seconds.
    listRecords: () => (records.authoritative ? { records: records.values(), problems: [] } : store.listRecords()),
  };
}
