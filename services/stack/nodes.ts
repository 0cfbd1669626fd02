// The simulated nodes of a stack: started when first used, each with its own kubelet, folder and environment (design 13.3).
import { ControlError, type NodeController } from "../control/index.ts";
import type { Kubelet, NodeIdentity, RuntimeImage } from "../kubelet/index.ts";
import type { Clock } from "../shared/clock.ts";
import type { Dialer } from "../shared/dial.ts";
import { ConfigurationError } from "../shared/errors.ts";
import type { EventSink } from "../shared/event.ts";
import type { Random } from "../shared/random.ts";
import type { ApiClient } from "./api-client.ts";
import { API_SERVER_URL } from "./hosts.ts";
import { parseNodeSpec } from "./node-spec.ts";
import type { WorldNode } from "./types.ts";

export interface NodesDeps {
  readonly world: readonly WorldNode[];
  readonly api: ApiClient;
  /** The node's bearer token; registers the node if it is new. */
  nodeToken(node: string): string;
  nodeDirectory(node: string): string;
  /** A directory whose `ecr-credential-provider` is the bundled plugin. */
  builtinPlugins(): Promise<string>;
  /** Endpoints and CA of the stack, as plugins see them. */
  environment(): Promise<Readonly<Record<string, string>>>;
  /** Credentials of the role that a node has of its own. */
  identity(roleArn: string, node: string): Promise<NodeIdentity>;
  isIntended(namespace: string, image: string): boolean;
  spoilToken(token: string, kind: string): Promise<string>;
  fetchPreloaded(image: string): Promise<RuntimeImage>;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventSink;
  readonly pluginTimeoutMs?: number;
}

/** The nodes, and what closing a stack needs of them. */
export interface Nodes extends NodeController {
  kubelet(node: string): Promise<Kubelet>;
  /** Stops every kubelet and forgets nodes that were added. */
  reset(): Promise<void>;
}

export function createNodes(deps: NodesDeps): Nodes {
  const specs = new Map(deps.world.map((node) => [node.name, node]));
  const running = new Map<string, Promise<Kubelet>>();

  const specOf = (name: string): WorldNode => {
    const spec = specs.get(name);
    if (spec) return spec;
    throw new ControlError("NotFound", `expected a node (${[...specs.keys()].join(", ")}), found "${name}"`);
  };
  const kubelet = (name: string): Promise<Kubelet> => {
    const spec = specOf(name);
    const started = running.get(name) ?? startKubelet(deps, spec);
    running.set(name, started);
    started.catch(() => running.delete(name)); // a kubelet that refuses its configuration is tried again next time
    return started;
  };

  return {
    kubelet,
    list: () => [...specs.values()].map(({ name, version }) => ({ name, version })),
    async create(body) {
      const spec = parseNodeSpec(body, (name) => specs.get(name));
      if (specs.has(spec.name))
        throw new ControlError("Conflict", `expected a new node name, found "${spec.name}", which is in use`);
      specs.set(spec.name, spec);
      try {
        await kubelet(spec.name);
      } catch (cause) {
        specs.delete(spec.name);
        if (!(cause instanceof ConfigurationError)) throw cause;
        throw new ControlError("BadRequest", `node ${spec.name}: ${cause.message}`, { cause });
      }
      return { name: spec.name };
    },
    async runPod(node, manifest, wait) {
      const target = await kubelet(node);
      const pod = await createPod(deps.api, node, manifest);
      const verdict = target.runPod(pod);
      if (wait) return verdict;
      verdict.catch(() => undefined); // told by the event; nobody waits for it here
      return pod;
    },
    pods: async (node) => (await kubelet(node)).pods(),
    findPod: async (node, namespace, name) => (await kubelet(node)).findPod(namespace, name),
    async deletePod(node, namespace, name) {
      const known = (await kubelet(node)).deletePod(namespace, name);
      if (known) await deps.api.request("DELETE", `/api/v1/namespaces/${namespace}/pods/${name}`);
      return known;
    },
    restart: async (node) => (await kubelet(node)).restart(),
    records: async (node) => (await kubelet(node)).records(),
    async reset() {
      const kubelets = await Promise.allSettled(running.values());
      running.clear();
      await Promise.all(kubelets.map((settled) => (settled.status === "fulfilled" ? settled.value.stop() : undefined)));
      specs.clear();
      for (const node of deps.world) specs.set(node.name, node);
    },
  };
}

/** The kubelet of a node, its code loaded when the first one starts. */
async function startKubelet(deps: NodesDeps, spec: WorldNode): Promise<Kubelet> {
  const { createKubelet } = await import("../kubelet/index.ts");
  const { identity } = spec;
  const kubelet = createKubelet({
    nodeName: spec.name,
    version: spec.version,
    configuration: spec.kubeletConfiguration,
    credentialProviderConfig: spec.credentialProviderConfig,
    pluginDirectory: spec.pluginDirectory === "builtin" ? await deps.builtinPlugins() : spec.pluginDirectory,
    rootDirectory: deps.nodeDirectory(spec.name),
    environment: { ...(await deps.environment()), ...spec.environment },
    identity: identity === undefined ? undefined : () => deps.identity(identity, spec.name),
    apiServerUrl: API_SERVER_URL,
    apiServerToken: deps.nodeToken(spec.name),
    dialer: deps.dialer,
    clock: deps.clock,
    random: deps.random,
    events: deps.events,
    isIntended: deps.isIntended,
    spoilToken: deps.spoilToken,
    preloadedImages: spec.preloadedImages.map((image) => ({ image })),
    fetchPreloaded: deps.fetchPreloaded,
    pluginTimeoutMs: deps.pluginTimeoutMs,
  });
  await kubelet.start();
  return kubelet;
}

/** The Pod as the API server accepts it: scheduled to the node, ServiceAccount and pull secrets filled in by admission. */
async function createPod(api: ApiClient, node: string, manifest: Readonly<Record<string, unknown>>): Promise<unknown> {
  const metadata = objectIn(manifest, "metadata");
  const namespace = typeof metadata.namespace === "string" ? metadata.namespace : "default";
  const spec = { ...objectIn(manifest, "spec"), nodeName: node };
  return api.request("POST", `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`, { ...manifest, spec });
}

function objectIn(manifest: Readonly<Record<string, unknown>>, member: string): Record<string, unknown> {
  const value = manifest[member];
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ControlError(
    "BadRequest",
    `expected a Pod manifest with an object ${member}, found ${JSON.stringify(value) ?? "none"}`,
  );
}
