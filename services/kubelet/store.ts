// The Pods of a node and their latest verdicts; syncs of one Pod never overlap.
import type { Pod } from "./core/pod.ts";
import type { PodVerdict } from "./types.ts";

export interface PodStore {
  /** Runs one sync after those already waiting for this Pod and keeps its verdict; events add up over syncs. */
  sync(pod: Pod, work: () => Promise<PodVerdict>): Promise<PodVerdict>;
  list(): readonly PodVerdict[];
  find(namespace: string, name: string): PodVerdict | undefined;
  delete(namespace: string, name: string): boolean;
  /** Resolves once no sync is running. */
  settled(): Promise<void>;
}

/** An empty store. */
export function createPodStore(): PodStore {
  const verdicts = new Map<string, PodVerdict>();
  const queues = new Map<string, Promise<unknown>>();
  return {
    async sync(pod, work) {
      const key = `${pod.namespace}/${pod.name}`;
      const before = queues.get(pod.uid);
      const mine = (async () => {
        await before?.catch(() => {}); // an earlier sync's failure is its own caller's
        const verdict = await work();
        const earlier = verdicts.get(key);
        const events = earlier?.uid === pod.uid ? [...earlier.events, ...verdict.events] : verdict.events;
        const kept = { ...verdict, events };
        verdicts.set(key, kept);
        return kept;
      })();
      queues.set(pod.uid, mine);
      try {
        return await mine;
      } finally {
        if (queues.get(pod.uid) === mine) queues.delete(pod.uid);
      }
    },
    list: () => [...verdicts.values()],
    find: (namespace, name) => verdicts.get(`${namespace}/${name}`),
    delete: (namespace, name) => verdicts.delete(`${namespace}/${name}`),
    async settled() {
      await Promise.allSettled(queues.values());
    },
  };
}
