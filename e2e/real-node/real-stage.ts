// The stage with the real kubelet: containerd, an API server that signs with our issuer's key, the unmodified plugin.
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningStack } from "../../services/stack/index.ts";
import { isIntended } from "../../services/stack/world.ts";
import { startCluster } from "./cluster.ts";
import { startContainerd } from "./containerd.ts";
import { type Enclosure, openEnclosure } from "./enclosure.ts";
import { createObjects, type KubeClient } from "./kube-client.ts";
import { type RealKubelet, startKubelet } from "./kubelet.ts";
import type { Programs } from "./programs.ts";
import { callsSince, type Observation, type PodEvent, type Stage, UidNames } from "./stage.ts";
import { type PodStep, renderPod, type Verdict } from "./stories.ts";
import { NODES, type NodeName, SANDBOX_IMAGE } from "./world.ts";

export interface RealStage extends Stage, AsyncDisposable {}

export interface RealStageOptions {
  readonly stack: RunningStack;
  readonly issuer: { readonly url: string; readonly pem: string };
  readonly programs: Programs;
}

/** Starts everything but the kubelets, which are started when a story first needs one. @throws RealNodeError */
export async function openRealStage(options: RealStageOptions): Promise<RealStage> {
  const enclosure = await openEnclosure();
  try {
    return await fillStage(enclosure, options);
  } catch (error) {
    await enclosure.close();
    throw error;
  }
}

async function fillStage(enclosure: Enclosure, options: RealStageOptions): Promise<RealStage> {
  const { stack, programs, issuer } = options;
  await stack.caPem();
  const images = { hosts: Object.values(stack.registries), address: stack.https, caFile: stack.ca };
  const [cluster, containerd] = await Promise.all([
    startCluster({ enclosure, programs, issuer, nodes: Object.keys(NODES) }),
    startContainerd({ enclosure, programs, ...images, sandboxImage: SANDBOX_IMAGE }),
  ]);
  const { client } = cluster;
  await createObjects(client, stack.world.cluster.objects);
  const uids = new UidNames();
  await uids.learn(client);
  let current: RealKubelet | undefined;
  const kubeletOf = async (node: NodeName): Promise<RealKubelet> => {
    if (current?.node === node) return current;
    await current?.stop();
    current = undefined;
    const { preloadedImages, ...documents } = NODES[node];
    for (const image of preloadedImages) await containerd.preload(image, "team-a:team-a-password");
    const environment = await findEnvironment(stack, node);
    const at = { enclosure, programs, cluster, runtimeEndpoint: containerd.endpoint };
    current = await startKubelet({ ...at, node, ...documents, environment });
    return current;
  };
  return {
    client,
    uids,
    restart: async (node) => (await kubeletOf(node)).restart(),
    pod: async (node, step, name) => {
      const kubelet = await kubeletOf(node);
      const since = stack.events.page({ limit: 1_000_000 }).next;
      const intended = isIntended(stack.world, step.namespace, step.image);
      const seen = await runPod(client, node, { step, name, intended });
      return { ...seen, files: await settledFiles(kubelet), calls: callsSince(stack.events, since) };
    },
    [Symbol.asyncDispose]: () => enclosure.close(),
  };
}

/** What the plugin needs to find the stack; with a role of the node's own, what an SDK finds on that machine. */
async function findEnvironment(stack: RunningStack, node: NodeName): Promise<Readonly<Record<string, string>>> {
  const common = {
    AWS_ENDPOINT_URL: stack.https,
    AWS_ENDPOINT_URL_STS: stack.https,
    AWS_CA_BUNDLE: stack.ca,
    AWS_REGION: stack.world.region,
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const { identity } = NODES[node];
  if (identity === undefined) return common;
  const session = { roleArn: identity, sessionName: node, durationSeconds: 3600, lineage: node };
  const { accessKeyId, secretAccessKey, sessionToken } = stack.rooms.sts.mintSession(session);
  return {
    ...common,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  };
}

interface ContainerState {
  readonly running?: object;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
}

const UNDECIDED = new Set(["", "ContainerCreating", "PodInitializing"]);

async function runPod(
  client: KubeClient,
  node: NodeName,
  at: { step: PodStep; name: string; intended: boolean },
): Promise<Omit<Observation, "files" | "calls">> {
  const { step, name, intended } = at;
  const pods = `/api/v1/namespaces/${step.namespace}/pods`;
  const manifest = renderPod(step, name) as { spec: object };
  const started = performance.now();
  const pod = await client.request("POST", pods, { ...manifest, spec: { ...manifest.spec, nodeName: node } });
  const { uid } = pod.metadata as { uid: string };
  await stateOf(client, `${pods}/${name}`, isDecided);
  const milliseconds = performance.now() - started;
  const isWanted = (found: ContainerState) => step.podReason !== "ImagePullBackOff" || isAtRest(found);
  const state = await stateOf(client, `${pods}/${name}`, (found) => isDecided(found) && isWanted(found));
  const { reason, message } = state.waiting ?? {};
  const last = state.running ? "Started" : `Error: ${reason === "ErrImagePull" ? "ImagePullBackOff" : reason}`;
  const events = await eventsOf(client, { namespace: step.namespace, uid, last });
  // Deleted at once: what it proved is in the image store and in the records.
  await client.request("DELETE", `${pods}/${name}?gracePeriodSeconds=0`);
  return {
    verdict: state.running ? judge(events, intended) : "denied",
    ...(reason === undefined ? {} : { podReason: reason }),
    ...(message === undefined ? {} : { message }),
    events,
    milliseconds,
  };
}

function isDecided(state: ContainerState): boolean {
  return state.running !== undefined || !UNDECIDED.has(state.waiting?.reason ?? "");
}

/** How a look at the Pod ended is written by the next one; the third comes after a dozen seconds. */
function isAtRest(state: ContainerState): boolean {
  return state.waiting?.reason !== "ErrImagePull";
}

function judge(events: readonly PodEvent[], intended: boolean): Verdict {
  if (!intended) return "leaked";
  return events.some(({ reason, message }) => reason === "Pulled" && message.startsWith("Successfully pulled"))
    ? "pulled"
    : "present";
}

async function stateOf(
  client: KubeClient,
  path: string,
  isWanted: (state: ContainerState) => boolean,
): Promise<ContainerState> {
  for (let left = 600; left > 0; left--) {
    const { status } = (await client.request("GET", path)) as {
      status: { containerStatuses?: { state: ContainerState }[] };
    };
    const state = status.containerStatuses?.[0]?.state ?? {};
    if (isWanted(state)) return state;
    await sleep(50);
  }
  throw new Error(`no verdict on ${path} within 30 s`);
}

interface ListedEvent extends PodEvent {
  readonly metadata: { readonly name: string };
}

/** The Pod's events in their order, once the last one has come. */
async function eventsOf(
  client: KubeClient,
  at: { namespace: string; uid: string; last: string },
): Promise<readonly PodEvent[]> {
  const path = `/api/v1/namespaces/${at.namespace}/events?fieldSelector=involvedObject.uid%3D${at.uid}`;
  for (let left = 900; left > 0; left--) {
    const { items } = (await client.request("GET", path)) as { items?: readonly ListedEvent[] };
    const events = [...(items ?? [])].sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
    const plain = events.map(({ type, reason, message }) => ({ type, reason, message }));
    if (plain.some(({ reason, message }) => reason === at.last || message === at.last)) return plain;
    await sleep(50);
  }
  throw new Error(`no event "${at.last}" of ${at.uid} within 45 s`);
}

/** An event's name ends in the nanosecond it was made, in hexadecimal. */
function timeOf(event: ListedEvent): string {
  return event.metadata.name.slice(event.metadata.name.lastIndexOf(".") + 1).padStart(16, "0");
}

/** An intent is dropped just after the event of a failed pull, and may go while it is read. */
async function settledFiles(kubelet: RealKubelet): Promise<Observation["files"]> {
  let files: Observation["files"] = {};
  for (let left = 40; left > 0; left--) {
    try {
      files = kubelet.recordFiles();
      if (!Object.keys(files).some((name) => name.startsWith("pulling/"))) return files;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    await sleep(50);
  }
  return files;
}
