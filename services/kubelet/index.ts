// The only door of the simulated kubelet.
export { findMatchingPattern, type PatternMatch } from "./core/match-images.ts";
export { createKubelet } from "./kubelet.ts";
export { createFileRecords } from "./records-files.ts";
export { createMemoryRecords } from "./records-memory.ts";
export {
  type ContainerVerdict,
  type CredentialReport,
  type ImagePulledRecord,
  type Kubelet,
  type KubeletOptions,
  type KubeletVersion,
  type NodeIdentity,
  type PodEvent,
  type PodVerdict,
  type ProviderReport,
  REASONS,
  type Reason,
  type RecordStore,
  type RuntimeImage,
  type Verdict,
} from "./types.ts";
