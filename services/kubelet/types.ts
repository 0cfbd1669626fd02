// The nouns of the simulated kubelet: its options, what a Pod ends in, and what is told about the way there.
import type { Clock } from "../shared/clock.ts";
import type { Dialer } from "../shared/dial.ts";
import type { EventSink } from "../shared/event.ts";
import type { Random } from "../shared/random.ts";

/** The minors whose behaviour differs; see core/profiles.ts. */
export type KubeletVersion = "1.33" | "1.34" | "1.35" | "1.36" | "1.37";

/** Who the node itself is to a cloud SDK's default chain. */
export interface NodeIdentity {
  /** Variables that the SDK finds, e.g. `AWS_ACCESS_KEY_ID`; never shown in events. */
  readonly environment: Readonly<Record<string, string>>;
  /** The credential chain these credentials belong to (an access key id). */
  readonly lineage: string;
}

/** An image as the container runtime lists it. */
export interface RuntimeImage {
  /** The image id: digest of the configuration, `sha256:<hex>`. */
  readonly imageRef: string;
  /** Bytes of manifest, configuration and layers. */
  readonly size: number;
  /** Normalised `name:tag`. */
  readonly repoTags: readonly string[];
  /** Normalised `name@digest`. */
  readonly repoDigests: readonly string[];
}

export interface KubeletOptions {
  readonly nodeName: string;
  readonly version: KubeletVersion;
  /** A KubeletConfiguration manifest. */
  readonly configuration: unknown;
  /** A CredentialProviderConfig manifest; undefined for a node without providers. */
  readonly credentialProviderConfig?: unknown;
  /** A file or (≥ 1.34) a directory, instead of `credentialProviderConfig`. */
  readonly credentialProviderConfigPath?: string;
  readonly pluginDirectory: string;
  /** The kubelet's root: records go below `image_manager`, `home` is the plugins' HOME, `config.json` is the node's docker config. */
  readonly rootDirectory: string;
  /** The node's own environment, all of it: nothing of the calling process is added but a default PATH and HOME. */
  readonly environment: Readonly<Record<string, string>>;
  /** Asked before each plugin run. */
  readonly identity?: (() => Promise<NodeIdentity>) | undefined;
  readonly apiServerUrl: string;
  readonly apiServerToken: string;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventSink;
  /** What the tenants intend; an allowed pull against it is a leak. Absent: everything is intended. */
  readonly isIntended?: ((namespace: string, image: string) => boolean) | undefined;
  /** Makes the bad twin of a fresh token for the Pod annotation `pullproof.dev/bad-token`. */
  readonly spoilToken?: ((token: string, kind: string) => Promise<string>) | undefined;
  /** Images that are on the node before the kubelet first starts. */
  readonly preloadedImages?: readonly { readonly image: string }[] | undefined;
  /** Needed when there are preloaded images. */
  readonly fetchPreloaded?: ((image: string) => Promise<RuntimeImage>) | undefined;
  /** Where intents and records live; files below `rootDirectory` unless told. */
  readonly records?: RecordStore | undefined;
  /** The kubelet's fixed minute unless told; milliseconds. */
  readonly pluginTimeoutMs?: number | undefined;
  /** How long after that the pipes of a plugin's children are waited for; 2 000 ms unless told. */
  readonly pluginGraceMs?: number | undefined;
}

export type Verdict = "pulled" | "present" | "denied" | "leaked";

/** A Kubernetes event of the Pod. */
export interface PodEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** One credential that could be used for the image, in the order it was (or would have been) tried. */
export interface CredentialReport {
  /** `none`: no Pod owns it (node configuration, plugin without a ServiceAccount). */
  readonly source: "secret" | "service-account" | "none" | "anonymous";
  /** `<namespace>/<name>` of the Secret or ServiceAccount, or where a source-less one comes from. */
  readonly name?: string;
  readonly username?: string;
  readonly outcome: "accepted" | "refused" | "not-tried" | "in-record" | "not-in-record";
  readonly because?: string;
}

/** What one credential provider did for the image. */
export interface ProviderReport {
  readonly name: string;
  readonly outcome: "not-matched" | "skipped" | "cached" | "executed" | "failed";
  /** Why it was skipped or failed: `annotation-missing`, `audience-forbidden`, `plugin-exit`, … */
  readonly reason?: string;
  /** The real kubelet's log line where it has one. */
  readonly because: string;
}

/** The verdict on one container or image volume. */
export interface ContainerVerdict {
  readonly name: string;
  readonly kind: "init" | "container" | "ephemeral" | "volume";
  readonly image: string;
  readonly verdict: Verdict;
  /** Short and deciding; see REASONS. */
  readonly reason: Reason;
  /** The record, credential or policy that decided. */
  readonly decidedBy?: string;
  readonly podReason?: string;
  readonly message?: string;
  readonly imageRef?: string;
  readonly credentials: readonly CredentialReport[];
  readonly providers: readonly ProviderReport[];
}

/** What one look at a Pod ended in, with everything that led there. */
export interface PodVerdict {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  /** The image that decided. */
  readonly image: string;
  readonly verdict: Verdict;
  readonly reason: Reason;
  readonly decidedBy?: string;
  /** As in `kubectl get pods`: `ErrImagePull`, `ImagePullBackOff`, … */
  readonly podReason?: string;
  readonly message?: string;
  readonly imageRef?: string;
  readonly trace: string;
  readonly events: readonly PodEvent[];
  readonly credentials: readonly CredentialReport[];
  readonly providers: readonly ProviderReport[];
  readonly containers: readonly ContainerVerdict[];
}

/** Why a container's image was allowed or not. */
export const REASONS = {
  "pulled-with-secret": "the registry accepted an imagePullSecret",
  "pulled-with-service-account": "the registry accepted what a plugin got for the Pod's ServiceAccount",
  "pulled-with-node-credential": "the registry accepted a credential that no Pod owns",
  "pulled-anonymously": "the registry asked for no credential",
  "record-node-accessible": "the pull record opens the image to every Pod of the node",
  "record-secret-hash": "the pull record holds a secret with the same content",
  "record-secret-coordinates": "the pull record holds this very secret, with other content",
  "record-service-account": "the pull record holds the Pod's ServiceAccount",
  preloaded: "the image was not pulled by the kubelet, and the policy trusts such images",
  allowlisted: "the policy's allowlist names the image",
  "never-verify": "the policy verifies nothing",
  "verification-off": "the gate KubeletEnsureSecretPulledImages is off",
  "registry-refused": "the registry refused every credential",
  "no-credentials": "there was no credential to send and the registry wants one",
  "image-not-found": "the registry has no such image",
  "registry-unreachable": "the registry did not answer",
  "pull-failed": "the image could not be taken over",
  "never-absent": "pull policy Never, and the image is not on the node",
  "never-not-permitted": "pull policy Never, and the Pod may not use the image on the node",
  "back-off": "an earlier failure is too recent to try again",
  "invalid-image-name": "the image name cannot be parsed",
  "credential-lookup-failed": "an imagePullSecret is broken",
  "intent-not-written": "the pull intent could not be written",
  "qps-exceeded": "more pulls than registryPullQPS",
  "volume-failed": "an image volume that the container mounts failed",
  "init-not-finished": "an init container before it did not start",
  "kubelet-crashed": "the kubelet died between pull and record",
  "kubelet-not-running": "the kubelet is not running",
} as const;

export type Reason = keyof typeof REASONS;

/** A Pod's coordinates in a pull record: an imagePullSecret. */
export interface RecordedSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly credentialHash: string;
}

/** A Pod's coordinates in a pull record: a ServiceAccount. */
export interface RecordedServiceAccount {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Who may use one image name of a record. */
export interface RecordedCredentials {
  readonly kubernetesSecrets?: readonly RecordedSecret[];
  readonly kubernetesServiceAccounts?: readonly RecordedServiceAccount[];
  readonly nodePodsAccessible?: boolean;
}

/** KEP-2535's memory of one image id. */
export interface ImagePulledRecord {
  readonly lastUpdatedTime: Date;
  readonly imageRef: string;
  /** Image name without tag and digest → who may use it. */
  readonly credentialMapping: Readonly<Record<string, RecordedCredentials>>;
}

/** What a store does on disk or in memory. All methods may throw: a broken file is an error, not an absence. */
export interface RecordStore {
  /** Creates what is needed and rewrites files of older versions (≥ 1.35); a broken file is only reported. */
  prepare(): readonly string[];
  /** Spec strings with an intent, and the files that could not be read. */
  listIntents(): { readonly intents: readonly string[]; readonly problems: readonly string[] };
  hasIntent(image: string): boolean;
  writeIntent(image: string): void;
  deleteIntent(image: string): void;
  /** @throws if there is a file and it cannot be decoded. */
  readRecord(imageRef: string): ImagePulledRecord | undefined;
  writeRecord(record: ImagePulledRecord): void;
  deleteRecord(imageRef: string): void;
  listRecords(): { readonly records: readonly ImagePulledRecord[]; readonly problems: readonly string[] };
}

/** The simulated kubelet of one node. */
export interface Kubelet {
  readonly nodeName: string;
  readonly version: KubeletVersion;
  /**
   * Checks the configuration, preloads images, converts left-over intents.
   * @throws ConfigurationError with the real kubelet's start-up text.
   */
  start(): Promise<void>;
  /**
   * One sync of the Pod: first verdict for each of its images. Called again for the same uid it is the next sync (back-off applies).
   * @throws ConfigurationError if `pod` is no Pod manifest with a uid.
   */
  runPod(pod: unknown, options?: { readonly trace?: string }): Promise<PodVerdict>;
  pods(): readonly PodVerdict[];
  findPod(namespace: string, name: string): PodVerdict | undefined;
  /** Forgets the Pod and its tokens; images and records stay. */
  deletePod(namespace: string, name: string): boolean;
  /** Memory is lost, files and the runtime's images stay; also gets a crashed kubelet going again. */
  restart(): Promise<void>;
  records(): { readonly intents: readonly string[]; readonly records: readonly ImagePulledRecord[] };
  images(): readonly RuntimeImage[];
  /** Takes an image from the runtime, as `crictl rmi`: records stay. */
  removeImage(image: string): boolean;
  /** Deletes the records of images that are gone and were not updated since `startedAt` (kubelet image GC). */
  pruneRecords(startedAt?: Date): readonly string[];
  /** `sha256:<hex>` of the provider configuration (≥ 1.34). */
  configHash(): string | undefined;
  stop(): Promise<void>;
}
