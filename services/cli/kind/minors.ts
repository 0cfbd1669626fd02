// What differs between Kubernetes minors in kind's files, as data (spec wiring 1.1, 1.2; spec kubelet 8.1, 13.1).
import { ConfigurationError } from "../../shared/errors.ts";

export interface Minor {
  /** The node image that a release of kind was made with, from kind's own defaults. */
  readonly image: string;
  readonly containerd: string;
  /** The API version that kind writes for kubeadm. */
  readonly kubeadm: "v1beta3" | "v1beta4";
  /** Gates that are off by default and must be on. */
  readonly gates: Readonly<Record<string, boolean>>;
  /** Does `tokenAttributes.cacheType` exist (required), or is it an unknown field? */
  readonly cacheType: boolean;
  /** What this minor cannot do, or needs. */
  readonly warnings: readonly string[];
}

const EXACT_ENTRIES =
  "exact entries of preloadedImagesVerificationAllowlist do not match images with a tag before 1.36: write prefix/*";

/** By minor, oldest first. */
export const MINORS: Readonly<Record<string, Minor>> = {
  "1.33": {
    image: "kindest/node:v1.33.1@sha256:050072256b9a903bd914c0b2866828150cb229cea0efe5892e2b644d5dd3b34f",
    containerd: "2.1.1",
    kubeadm: "v1beta3",
    gates: { KubeletEnsureSecretPulledImages: true, KubeletServiceAccountTokenForCredentialProviders: true },
    cacheType: false,
    warnings: [
      "pull records of 1.33 do not name ServiceAccounts: an image pulled with a ServiceAccount's token is open to every Pod of the node, so isolation of images that are on a node cannot be shown",
      "tokenAttributes.cacheType does not exist in 1.33 and is required from 1.34 on: plugin/config/config.yaml is for 1.33 alone",
      "both features are alpha in 1.33: their gates are switched on in every component",
      "ecr-credential-provider takes ServiceAccount tokens since v1.34.0: use that or a newer one, not v1.33",
      "the kubelet of 1.33 takes one configuration file of credential providers, no folder",
      EXACT_ENTRIES,
    ],
  },
  "1.34": {
    image: "kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a",
    containerd: "2.1.4",
    kubeadm: "v1beta3",
    gates: { KubeletEnsureSecretPulledImages: true },
    cacheType: true,
    warnings: [
      "KubeletEnsureSecretPulledImages is alpha in 1.34: its gate is switched on in every component",
      EXACT_ENTRIES,
    ],
  },
  "1.35": {
    image: "kindest/node:v1.35.0@sha256:452d707d4862f52530247495d180205e029056831160e22870e37e3f6c1ac31f",
    containerd: "2.2.0",
    kubeadm: "v1beta3",
    gates: {},
    cacheType: true,
    warnings: [EXACT_ENTRIES],
  },
  "1.36": {
    image: "kindest/node:v1.36.1@sha256:3489c7674813ba5d8b1a9977baea8a6e553784dab7b84759d1014dbd78f7ebd5",
    containerd: "2.3.1",
    kubeadm: "v1beta4",
    gates: {},
    cacheType: true,
    warnings: [],
  },
  "1.37": {
    image: "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
    containerd: "2.3.4",
    kubeadm: "v1beta4",
    gates: {},
    cacheType: true,
    warnings: ["kubeadm 1.37 reads v1beta4 only: kind must be v0.32.0 or newer"],
  },
};

/** The release of kind that these files are checked with. */
export const KIND_VERSION = "v0.33.0";

/**
 * The minor that a text names: `1.36` or `v1.36`.
 * @throws ConfigurationError for any other, listing the known ones
 */
export function parseMinor(text: string): { readonly minor: string; readonly facts: Minor } {
  const minor = text.replace(/^v/, "");
  const facts = Object.hasOwn(MINORS, minor) ? MINORS[minor] : undefined;
  if (facts) return { minor, facts };
  const known = Object.keys(MINORS).join(", ");
  const patch = /^(1\.\d+)\.\d+/.exec(minor)?.[1];
  throw new ConfigurationError(`--kubernetes: Kubernetes ${JSON.stringify(text)} is not known; known are ${known}`, {
    ...(patch && Object.hasOwn(MINORS, patch)
      ? { hint: `name the minor: --kubernetes ${patch}; a patch release is chosen by its node image: --image` }
      : {}),
  });
}
