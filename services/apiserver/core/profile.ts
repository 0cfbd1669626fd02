// What differs between Kubernetes versions here, as data (spec kubelet 8.1, 13.1).
import { ConfigurationError } from "../../shared/errors.ts";

export const API_VERSIONS = ["1.33", "1.34", "1.35", "1.36", "1.37"] as const;

export type KubernetesVersion = (typeof API_VERSIONS)[number];

/** Minor in which a gate appeared, and in which it became on by default. */
const GATES = {
  KubeletServiceAccountTokenForCredentialProviders: { since: 33, onSince: 34 },
  ServiceAccountNodeAudienceRestriction: { since: 32, onSince: 33 },
  TokenRequestServiceAccountUIDValidation: { since: 34, onSince: 34 },
  PodCertificateRequest: { since: 34, onSince: 37 },
  APIServerWebhookAuthenticationToken: { since: 37, onSince: 99 },
} as const;

export type Gate = keyof typeof GATES;

/** One version's behaviour with its gates. */
export interface Profile {
  readonly version: KubernetesVersion;
  readonly gates: Readonly<Record<Gate, boolean>>;
  /** `metadata.uid` of a TokenRequest is kept, compared and answered. */
  readonly tokenRequestUid: boolean;
  /** The texts of 1.37 where a node may not have an audience. */
  readonly shortAudienceRefusal: boolean;
  /** `spec.attestations` of a TokenRequest exists. */
  readonly attestations: boolean;
}

/**
 * The profile of a version with some gates set by hand.
 * @throws ConfigurationError for an unknown version, or a gate that the version does not have.
 */
export function createProfile(version: string, overrides: Readonly<Record<string, boolean>> = {}): Profile {
  const known = API_VERSIONS.find((candidate) => candidate === version);
  if (!known) throw new ConfigurationError(`expected a version out of ${API_VERSIONS.join(", ")}, found ${version}`);
  const minor = Number(known.slice(2));
  for (const gate of Object.keys(overrides)) {
    if (!isGate(gate) || GATES[gate].since > minor) {
      throw new ConfigurationError(`expected a feature gate of Kubernetes ${version}, found ${gate}`);
    }
  }
  const isOn = (gate: Gate) => overrides[gate] ?? GATES[gate].onSince <= minor;
  return {
    version: known,
    gates: {
      KubeletServiceAccountTokenForCredentialProviders: isOn("KubeletServiceAccountTokenForCredentialProviders"),
      ServiceAccountNodeAudienceRestriction: isOn("ServiceAccountNodeAudienceRestriction"),
      TokenRequestServiceAccountUIDValidation: isOn("TokenRequestServiceAccountUIDValidation"),
      PodCertificateRequest: isOn("PodCertificateRequest"),
      APIServerWebhookAuthenticationToken: isOn("APIServerWebhookAuthenticationToken"),
    },
    tokenRequestUid: minor >= 34,
    shortAudienceRefusal: minor >= 37,
    attestations: minor >= 37,
  };
}

function isGate(text: string): text is Gate {
  return Object.hasOwn(GATES, text);
}
