// The simulated kubelet of one node: what lasts over restarts (runtime, records, Pods) and the run that is lost with them.
import { ConfigurationError } from "../shared/errors.ts";
import { type Pod, parsePod } from "./core/pod.ts";
import { createFileRecords } from "./records-files.ts";
import { Runtime } from "./runtime.ts";
import { type Session, startSession } from "./session.ts";
import { createPodStore } from "./store.ts";
import { syncPod } from "./sync-pod.ts";
import { createTraceId } from "./trace.ts";
import type { Kubelet, KubeletOptions, KubeletVersion, PodVerdict, RecordStore } from "./types.ts";

/**
 * A kubelet that is not yet started.
 * @param options the node's configuration and everything it reaches the world through
 */
export function createKubelet(options: KubeletOptions): Kubelet {
  return new NodeKubelet(options);
}

class NodeKubelet implements Kubelet {
  readonly nodeName: string;
  readonly version: KubeletVersion;
  readonly #options: KubeletOptions;
  readonly #records: RecordStore;
  readonly #runtime = new Runtime();
  readonly #pods = createPodStore();
  #session: Session | undefined;
  #preloaded = false;

  constructor(options: KubeletOptions) {
    const { nodeName, version, rootDirectory } = options;
    this.nodeName = nodeName;
    this.version = version;
    this.#options = options;
    this.#records = options.records ?? createFileRecords({ version, rootDirectory });
  }

  async start(): Promise<void> {
    if (!this.#preloaded) await preload(this.#options, this.#runtime);
    this.#preloaded = true;
    this.#session = await startSession(this.#options, this.#records, this.#runtime);
  }

  async runPod(manifest: unknown, options: { readonly trace?: string } = {}): Promise<PodVerdict> {
    const pod = parsePod(manifest);
    const { random, events, isIntended = () => true } = this.#options;
    const trace = options.trace ?? createTraceId(random);
    const node = this.nodeName;
    return this.#pods.sync(pod, async () => {
      const session = this.#running();
      if (!session) return renderNotRunning(pod, { node, trace, crashed: this.#session?.crashed() ?? false });
      return syncPod({ session, node, trace, events, isIntended }, pod);
    });
  }

  pods(): readonly PodVerdict[] {
    return this.#pods.list();
  }

  findPod(namespace: string, name: string): PodVerdict | undefined {
    return this.#pods.find(namespace, name);
  }

  deletePod(namespace: string, name: string): boolean {
    const found = this.#pods.find(namespace, name);
    if (found) this.#running()?.tokens.forgetPod(found.uid);
    return this.#pods.delete(namespace, name);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  records() {
    const { intents } = this.#records.listIntents();
    return { intents, records: this.#records.listRecords().records };
  }

  images() {
    return this.#runtime.list();
  }

  removeImage(image: string): boolean {
    return this.#runtime.remove(image);
  }

  pruneRecords(startedAt = this.#options.clock.now()): readonly string[] {
    return this.#running()?.ensure.records.prune(this.#runtime.list(), startedAt) ?? [];
  }

  configHash(): string | undefined {
    return this.#session?.configHash;
  }

  async stop(): Promise<void> {
    this.#session?.life.abort();
    await this.#pods.settled();
  }

  #running(): Session | undefined {
    return this.#session?.life.signal.aborted ? undefined : this.#session;
  }
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
