// What the generator of kind's files takes.
import type { World } from "../../stack/index.ts";

/** Values of `imagePullCredentialsVerificationPolicy` (spec kubelet 6.1). */
export type VerificationPolicy =
  | "NeverVerify"
  | "NeverVerifyPreloadedImages"
  | "NeverVerifyAllowlistedImages"
  | "AlwaysVerify";

/** Whose key signs the cluster's tokens: the stack's issuer, or a key of the cluster's own that the stack is told of. */
export type ClusterIssuer = "stack" | "cluster";

export interface KindOptions {
  /** A Kubernetes minor: `1.36`. */
  readonly kubernetes: string;
  readonly world: World;
  /** Names under which clients in a network find the stack: the aliases of its container. */
  readonly networkNames: readonly string[];
  /** The node of the world whose kubelet and credential providers are taken; the first that has some. */
  readonly node?: string;
  /** Name of the cluster; `pullproof`. */
  readonly name?: string;
  /** Name of the stack's container; `pullproof`. */
  readonly container?: string;
  /** Worker nodes; 1. With 0 the control plane runs the Pods. */
  readonly workers?: number;
  /** Node image in place of the known one of the minor. */
  readonly image?: string;
  /** `host[:port]` of the stack for containerd and plugins, where aliases are not wanted. */
  readonly mirror?: string;
  readonly issuer?: ClusterIssuer;
  /** In place of the world's. */
  readonly policy?: VerificationPolicy;
  /** AlwaysVerify makes nodes pull kind's own images again, from the Internet: only with this. */
  readonly allowNetwork?: boolean;
}

/** {@link KindOptions} with its defaults, checked, and with the facts of its minor. */
export interface KindPlan extends KindOptions {
  readonly minor: string;
  readonly name: string;
  readonly container: string;
  readonly workers: number;
  readonly image: string;
  readonly issuer: ClusterIssuer;
  readonly policy: VerificationPolicy;
  /** Of the world's node, without kind and apiVersion. */
  readonly kubelet: Readonly<Record<string, unknown>>;
  readonly providers: readonly Readonly<Record<string, unknown>>[];
  /** apiVersion of the CredentialProviderConfig. */
  readonly providersVersion: string;
  /** Every audience that the providers ask for. */
  readonly audiences: readonly string[];
  readonly registryHosts: readonly string[];
  readonly issuerUrl: string;
}
