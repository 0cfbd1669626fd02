// KubeletConfiguration: the fields that decide pulls, checked as the kubelet checks them at start (kubelet.md 6.1, 7.3, 13.2).
import { ConfigurationError } from "../../shared/errors.ts";
import { KUBELET_CONFIGURATION_FIELDS } from "./kubelet-configuration-fields.ts";
import type { Profile } from "./profiles.ts";
import { findAllowlistProblem, VERIFICATION_POLICIES, type VerificationPolicy } from "./verification-policy.ts";

/** The settings of one node after defaulting. */
export interface KubeletSettings {
  readonly serviceAccountTokens: boolean;
  readonly ensureSecretPulledImages: boolean;
  readonly policy: VerificationPolicy;
  readonly maxPods: number;
  /** Pulls at a time. */
  readonly pullSlots: number;
  readonly maxParallelImagePulls: number | undefined;
  /** Undefined: no limit. */
  readonly pullRate: { readonly perSecond: number; readonly burst: number } | undefined;
}

const API_VERSION = "kubelet.config.k8s.io/v1beta1";

/**
 * Reads and checks a KubeletConfiguration manifest.
 * @throws ConfigurationError with the kubelet's start-up text
 */
export function parseKubeletConfiguration(manifest: unknown, profile: Profile): KubeletSettings {
  const fields = fieldsOf(manifest ?? {});
  const unknown = Object.keys(fields).filter((key) => !KUBELET_CONFIGURATION_FIELDS.has(key));
  if (unknown.length > 0) {
    throw new ConfigurationError(`strict decoding error: ${unknown.map((key) => `unknown field "${key}"`).join(", ")}`);
  }
  checkKind(fields);
  const gates = gatesOf(fields);
  const ensure = gates.KubeletEnsureSecretPulledImages ?? profile.ensureSecretPulledImages;
  const maxParallelImagePulls = optionalNumber(fields, "maxParallelImagePulls");
  const rate = optionalNumber(fields, "registryPullQPS") ?? 0;
  return {
    serviceAccountTokens: gates.KubeletServiceAccountTokenForCredentialProviders ?? profile.serviceAccountTokens,
    ensureSecretPulledImages: ensure,
    policy: parsePolicy(fields, { ensure, profile }),
    maxPods: optionalNumber(fields, "maxPods") ?? 110,
    maxParallelImagePulls,
    pullSlots: parsePullSlots(fields, maxParallelImagePulls),
    // Differs: the real default is 5 a second; here a limit applies only where the configuration names one.
    pullRate: rate > 0 ? { perSecond: rate, burst: optionalNumber(fields, "registryBurst") ?? 10 } : undefined,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function checkKind(fields: Fields): void {
  const { kind = "KubeletConfiguration", apiVersion = API_VERSION } = fields;
  if (kind === "KubeletConfiguration" && apiVersion === API_VERSION) return;
  throw new ConfigurationError(
    `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}: expected KubeletConfiguration of ${API_VERSION}`,
  );
}

function gatesOf(fields: Fields): Readonly<Record<string, boolean>> {
  const gates = fieldsOf(fields.featureGates ?? {});
  return Object.fromEntries(
    Object.entries(gates).map(([name, value]) => {
      if (typeof value !== "boolean")
        throw invalid(`featureGates.${name}: expected true or false, found ${JSON.stringify(value)}`);
      return [name, value];
    }),
  );
}

function parsePolicy(fields: Fields, context: { ensure: boolean; profile: Profile }): VerificationPolicy {
  const named = fields.imagePullCredentialsVerificationPolicy;
  const allowlist = fields.preloadedImagesVerificationAllowlist;
  if (!context.ensure) {
    for (const field of ["imagePullCredentialsVerificationPolicy", "preloadedImagesVerificationAllowlist"]) {
      if (fields[field] === undefined) continue;
      throw invalid(`\`${field}\` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled`);
    }
    return { name: "NeverVerifyPreloadedImages", allowlist: [] };
  }
  const name = VERIFICATION_POLICIES.find((policy) => policy === (named ?? "NeverVerifyPreloadedImages"));
  if (!name) throw invalid(`unknown imagePullCredentialsVerificationPolicy: ${String(named)}`);
  if (allowlist !== undefined && name !== "NeverVerifyAllowlistedImages") {
    // The misspelt field name is the kubelet's own.
    throw invalid(
      'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"',
    );
  }
  return { name, allowlist: parseAllowlist(allowlist ?? [], context.profile) };
}

function parseAllowlist(value: unknown, profile: Profile): string[] {
  if (!Array.isArray(value)) throw invalid("preloadedImagesVerificationAllowlist: expected a list of strings");
  return value.map((entry) => {
    const problem = typeof entry === "string" ? findAllowlistProblem(entry, profile) : "expected a string";
    if (problem) throw invalid(`invalid image pattern in \`preloadedImagesVerificationAllowlist\`: ${problem}`);
    return String(entry);
  });
}

function parsePullSlots(fields: Fields, parallel: number | undefined): number {
  const serialize = fields.serializeImagePulls;
  if (serialize !== undefined && typeof serialize !== "boolean")
    throw invalid("serializeImagePulls: expected true or false");
  if (parallel !== undefined && parallel < 1) {
    throw invalid(`maxParallelImagePulls ${parallel} must be a positive number`);
  }
  if (parallel !== undefined && parallel > 1 && serialize === true) {
    throw invalid(
      "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) set to false",
    );
  }
  const serial = serialize ?? !(parallel !== undefined && parallel >= 2);
  return serial ? 1 : (parallel ?? Number.POSITIVE_INFINITY);
}

function optionalNumber(fields: Fields, key: string): number | undefined {
  const value = fields[key] ?? undefined;
  if (value === undefined || typeof value === "number") return value;
  throw invalid(`${key}: expected a number, found ${JSON.stringify(value)}`);
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value));
  throw new ConfigurationError(`expected a KubeletConfiguration object, found ${JSON.stringify(value)}`);
}

function invalid(why: string): ConfigurationError {
  return new ConfigurationError(`invalid configuration: ${why}`);
}
