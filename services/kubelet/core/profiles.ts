// What differs between Kubernetes minors, as data: one row a version, nothing elsewhere asks for a version number.
import type { KubeletVersion } from "../types.ts";

/** One minor's behaviour. Facts from kubelet.md sections 1–8 and 13. */
export interface Profile {
  /** Gate defaults (8.1). */
  readonly serviceAccountTokens: boolean;
  readonly ensureSecretPulledImages: boolean;
  /** Is a directory accepted as provider configuration (1.2), and is there a configuration hash (1.7)? */
  readonly configDirectory: boolean;
  /** Does `tokenAttributes.cacheType` exist (1.4)? Without it the ServiceAccount form of the key is used (3.4). */
  readonly cacheType: boolean;
  /** The constant part of a `Global` cache key (2.4). */
  readonly globalCacheKey: string;
  /** Do ServiceAccount credentials have a source, so that records can name them (2.6, 6.6)? */
  readonly serviceAccountSources: boolean;
  /** Is the ServiceAccount's uid part of the token request and of its cache key (3.2, 3.3)? */
  readonly tokenRequestUid: boolean;
  /** Version written into record files, and versions read (6.2). */
  readonly recordVersion: "v1alpha1" | "v1beta1";
  readonly readableRecordVersions: readonly string[];
  readonly recordServiceAccounts: boolean;
  /** Are old record files rewritten at start (6.2)? */
  readonly migratesRecords: boolean;
  /** Memory above the record files (6.3). */
  readonly recordCache: boolean;
  /** Key of a record's mapping: the spec string cut off textually, or the normalised name (6.2). */
  readonly mappingKey: "textual" | "normalized";
  /** What the allowlist compares: the spec's name, or the raw spec string with its tag (6.1). */
  readonly allowlistCompares: "name" | "raw";
  /** When credentials are looked up although the decision may not need them (0.1). */
  readonly credentialLookup: "always" | "unless-gate-off-and-present" | "lazy";
  /** When missing pull secrets are reported (13.1). */
  readonly missingSecretEvent: "every-sync" | "after-pull-failure";
}

const V1_33: Profile = {
  serviceAccountTokens: false,
  ensureSecretPulledImages: false,
  configDirectory: false,
  cacheType: false,
  globalCacheKey: "global",
  serviceAccountSources: false,
  tokenRequestUid: false,
  recordVersion: "v1alpha1",
  readableRecordVersions: ["v1alpha1"],
  recordServiceAccounts: false,
  migratesRecords: false,
  recordCache: false,
  mappingKey: "normalized",
  allowlistCompares: "raw",
  credentialLookup: "always",
  missingSecretEvent: "every-sync",
};

const V1_34: Profile = {
  ...V1_33,
  serviceAccountTokens: true,
  configDirectory: true,
  cacheType: true,
  globalCacheKey: "<global>",
  serviceAccountSources: true,
  tokenRequestUid: true,
  recordServiceAccounts: true,
  recordCache: true,
  credentialLookup: "unless-gate-off-and-present",
};

const V1_35: Profile = {
  ...V1_34,
  ensureSecretPulledImages: true,
  recordVersion: "v1beta1",
  readableRecordVersions: ["v1alpha1", "v1beta1"],
  migratesRecords: true,
  credentialLookup: "lazy",
};

const V1_36: Profile = { ...V1_35, mappingKey: "textual", allowlistCompares: "name" };

const V1_37: Profile = { ...V1_36, missingSecretEvent: "after-pull-failure" };

/** The profiles by minor. */
export const PROFILES: Readonly<Record<KubeletVersion, Profile>> = {
  "1.33": V1_33,
  "1.34": V1_34,
  "1.35": V1_35,
  "1.36": V1_36,
  "1.37": V1_37,
};
