// What the control API needs of the rest of the stack, as small interfaces that `stack` implements.
import type { PullproofEvent } from "../shared/event.ts";

/** `GET events?…`: each given field must be equal. */
export interface EventFilter {
  /** Only events with a greater `seq`. */
  readonly since?: number;
  readonly trace?: string;
  readonly lineage?: string;
  readonly operation?: string;
  readonly principal?: string;
  readonly decision?: string;
  readonly limit?: number;
}

/** One page of the log. */
export interface EventPage {
  readonly events: readonly PullproofEvent[];
  /** What to give as `since` to go on. */
  readonly next: number;
  /** Events after `since` that the bounded log no longer holds. */
  readonly dropped?: number;
}

/** All hops of one pull, and the decision that settled it. */
export interface Trace {
  readonly trace: string;
  readonly events: readonly PullproofEvent[];
  readonly why: PullproofEvent | null;
}

/** An issuer as the control API sees it. */
export interface ControlledIssuer {
  readonly name: string;
  readonly url: string;
  readonly alg: string;
  keys(): Promise<readonly unknown[]>;
  rotate(options: { alg?: string; keepOld: boolean }): Promise<unknown>;
  withdraw(kid: string): Promise<boolean>;
}

/** `POST issuers/{name}/tokens` (spec design 11). */
export interface TokenMintRequest {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly audience: string;
  readonly expirationSeconds?: number;
  readonly bad?: string;
}

export interface MintedToken {
  readonly token: string;
  readonly claims: unknown;
  readonly expirationTimestamp: string;
}

/** The simulated nodes. Manifests and answers are the kubelet room's; control only carries them. */
export interface NodeController {
  list(): readonly { readonly name: string; readonly version: string }[];
  /** @throws ControlError for a name in use, an unknown `like`, or a configuration the kubelet refuses */
  create(spec: Readonly<Record<string, unknown>>): Promise<{ name: string }>;
  /** The verdict of the Pod's pulls. Without `wait` the answer is the Pod as accepted. */
  runPod(node: string, manifest: Readonly<Record<string, unknown>>, wait: boolean): Promise<unknown>;
  pods(node: string): Promise<readonly unknown[]>;
  findPod(node: string, namespace: string, name: string): Promise<unknown>;
  deletePod(node: string, namespace: string, name: string): Promise<boolean>;
  restart(node: string): Promise<void>;
  records(node: string): Promise<unknown>;
}

/** Everything that `GET env` tells: variable names to values. */
export type ClientEnvironment = Readonly<Record<string, string>>;

/** What stack hands in beside the event log and the clock. */
export interface StackController {
  readonly version: string;
  readonly switches: Readonly<Record<string, boolean>>;
  /** Per room: `ok`, or what is wrong. */
  services(): Promise<Readonly<Record<string, string>>>;
  caPem(): Promise<string>;
  environment(): Promise<ClientEnvironment>;
  readonly issuers: readonly ControlledIssuer[];
  mintToken(issuer: string, request: TokenMintRequest): Promise<MintedToken>;
  readonly nodes: NodeController;
  /** The world now, secrets left out. */
  world(): unknown;
  reset(): Promise<void>;
  /** Replaces who may do what in a repository of a plain registry; false if there is no such registry. */
  putRepositoryAccess(registry: string, repository: string, access: Readonly<Record<string, unknown>>): boolean;
  /** Whether requests may name this host. */
  isKnownHost(host: string): boolean;
}
