// The simulated kubelet of one node: what lasts over restarts (runtime, records, Pods) and the run that is lost with them.
import { ConfigurationError } from "../shared/errors.ts";
import { type Pod, parsePod } from "./core/pod.ts";
import { createFileRecords } from "./records-files.ts";
import { Runtime } from "./runtime.ts";
import { type Session, startSession } from "./session.ts";
import { createPodStore } from "./store.ts";
import { syncPod } from "./sync-pod.ts";
import { createTraceId } from "./trace.ts";
import type { Kubelet, KubeletOptions, PodVerdict } from "./types.ts";

/**
 * A kubelet that is not yet started.
 * @param options the node's configuration and everything it reaches the world through
 */
export function createKubelet(options: KubeletOptions): Kubelet {
  const { nodeName, version, rootDirectory } = options;
  const records = options.records ?? createFileRecords({ version, rootDirectory });
  const runtime = new Runtime();
  const pods = createPodStore();
  let session: Session | undefined;
  let preloaded = false;
  const running = (): Session | undefined => (session?.life.signal.aborted ? undefined : session);
  const start = async () => {
    if (!preloaded) await preload(options, runtime);
    preloaded = true;
    session = await startSession(options, records, runtime);
  };
  return {
    nodeName,
    version,
    start,
    async runPod(manifest, { trace = createTraceId(options.random) } = {}) {
      const pod = parsePod(manifest);
      return pods.sync(pod, async () => {
        const current = running();
        if (!current) return renderNotRunning(pod, { node: nodeName, trace, crashed: session?.crashed() ?? false });
        const isIntended = options.isIntended ?? (() => true);
        return syncPod({ session: current, node: nodeName, trace, events: options.events, isIntended }, pod);
      });
    },
    pods: () => pods.list(),
    findPod: (namespace, name) => pods.find(namespace, name),
    deletePod(namespace, name) {
      const found = pods.find(namespace, name);
      if (found) running()?.tokens.forgetPod(found.uid);
      return pods.delete(namespace, name);
    },
    async restart() {
      session?.life.abort();
      await start();
    },
    records() {
      const { intents } = records.listIntents();
      return { intents, records: records.listRecords().records };
    },
    images: () => runtime.list(),
    removeImage: (image) => runtime.remove(image),
    pruneRecords: (startedAt = options.clock.now()) => running()?.ensure.records.prune(runtime.list(), startedAt) ?? [],
    configHash: () => session?.configHash,
    async stop() {
      session?.life.abort();
      await pods.settled();
    },
  };
}

/** Images that were on the node before the kubelet: the runtime has them, no record knows them. */
async function preload(options: KubeletOptions, runtime: Runtime): Promise<void> {
  for (const { image } of options.preloadedImages ?? []) {
    if (!options.fetchPreloaded) {
      throw new ConfigurationError(
        `node ${options.nodeName} has the preloaded image ${image}, and nowhere to get it from`,
      );
    }
    runtime.add(await options.fetchPreloaded(image));
  }
}

function renderNotRunning(pod: Pod, where: { node: string; trace: string; crashed: boolean }): PodVerdict {
  const { namespace, name, uid, images } = pod;
  const { node, trace, crashed } = where;
  return {
    namespace,
    name,
    uid,
    node,
    trace,
    image: images[0]?.image ?? "",
    verdict: "denied",
    reason: "kubelet-not-running",
    message: `the kubelet of ${node} ${crashed ? "crashed" : "is not started"}: restart the node`,
    events: [],
    credentials: [],
    providers: [],
    containers: [],
  };
}
