// One real kubelet at a time: its files, its start and end, and the pull records it leaves.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cluster, findPort } from "./cluster.ts";
import type { Daemon, Enclosure } from "./enclosure.ts";
import type { Fields } from "./kube-client.ts";
import type { Programs } from "./programs.ts";

export interface KubeletOptions {
  readonly enclosure: Enclosure;
  readonly programs: Programs;
  readonly cluster: Cluster;
  readonly runtimeEndpoint: string;
  readonly node: string;
  /** A KubeletConfiguration; what this machine needs is added. */
  readonly configuration: Fields;
  /** A CredentialProviderConfig; `environment` is added to each provider. */
  readonly credentialProviderConfig: Fields;
  /** What plugins need to find the stack. */
  readonly environment: Readonly<Record<string, string>>;
  /** The real plugin's folder unless told. */
  readonly pluginDirectory?: string | undefined;
}

export interface RealKubelet {
  readonly node: string;
  /** Files of KEP-2535, `pulled/<name>` and `pulling/<name>`, with their text. */
  recordFiles(): Readonly<Record<string, string>>;
  /** Ends it and starts it again with the same files. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  readLog(): string;
}

/** Starts the kubelet and waits until its node is registered. @throws RealNodeError with the kubelet's own last words */
export async function startKubelet(options: KubeletOptions): Promise<RealKubelet> {
  const { enclosure, node } = options;
  const root = join(enclosure.folder, "kubelets", node);
  mkdirSync(root, { recursive: true });
  const command = await writeCommand(options, root);
  let daemon = await start(options, command);
  return {
    node,
    recordFiles: () => readRecordFiles(join(root, "image_manager")),
    async restart() {
      await daemon.stop();
      daemon = await start(options, command);
    },
    stop: () => daemon.stop(),
    readLog: () => daemon.readLog(),
  };
}

async function start(options: KubeletOptions, command: readonly string[]): Promise<Daemon> {
  const { enclosure, cluster, node } = options;
  const before = existsSync(join(enclosure.folder, "logs", `kubelet-${node}.log`));
  const daemon = enclosure.start(`kubelet-${node}`, command);
  const known = daemon.readLog().length;
  const isRegistered = async () => {
    await cluster.client.request("GET", `/api/v1/nodes/${node}`);
    // A node that is there from an earlier start says nothing: only a loop that syncs does.
    return !before || daemon.readLog().slice(known).includes("Starting kubelet main sync loop");
  };
  await daemon.until(`node ${node} is registered`, isRegistered, 60);
  return daemon;
}

async function writeCommand(options: KubeletOptions, root: string): Promise<readonly string[]> {
  const { programs, cluster, node } = options;
  const write = (name: string, value: unknown) => {
    const file = join(root, name);
    writeFileSync(file, JSON.stringify(value, undefined, 2));
    return file;
  };
  const configuration = { ...options.configuration, ...(await describeMachine(options, root)) };
  return [
    programs.kubelet,
    ...["--config", write("kubelet.json", configuration), "--kubeconfig", cluster.kubeconfig(node)],
    ...["--hostname-override", node, "--root-dir", root, "--cert-dir", join(root, "pki")],
    ...["--image-credential-provider-config", write("providers.json", withEnvironment(options))],
    ...["--image-credential-provider-bin-dir", options.pluginDirectory ?? programs.pluginDirectory],
  ];
}

/** Fields that say nothing about images: where things are, and what cgroup v1 or a container in place of a machine asks for. */
async function describeMachine({ enclosure, runtimeEndpoint }: KubeletOptions, root: string): Promise<Fields> {
  return {
    address: "127.0.0.1",
    port: await findPort(),
    healthzPort: 0,
    containerRuntimeEndpoint: runtimeEndpoint,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
    authorization: { mode: "Webhook" },
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    oomScoreAdj: 0,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    localStorageCapacityIsolation: false,
    // Nothing is collected or evicted in the middle of a story.
    imageGCHighThresholdPercent: 100,
    evictionHard: { "memory.available": "100Mi" },
    resolvConf: "",
    podLogsDir: join(enclosure.folder, "pod-logs"),
    volumePluginDir: join(root, "volume-plugins"),
    fileCheckFrequency: "0s",
    logging: { verbosity: 2 },
  };
}

function withEnvironment({ credentialProviderConfig, environment }: KubeletOptions): Fields {
  const providers = credentialProviderConfig.providers as readonly (Fields & { env?: readonly Fields[] })[];
  const common = Object.entries(environment).map(([name, value]) => ({ name, value }));
  return {
    ...credentialProviderConfig,
    providers: providers.map((provider) => ({ ...provider, env: [...common, ...(provider.env ?? [])] })),
  };
}

/** Reads `pulled/…` and `pulling/…` below an image manager's folder; a simulated kubelet's looks the same. */
export function readRecordFiles(folder: string): Readonly<Record<string, string>> {
  const files = ["pulled", "pulling"].flatMap((kind) =>
    existsSync(join(folder, kind)) ? readdirSync(join(folder, kind)).map((name) => `${kind}/${name}`) : [],
  );
  return Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}
