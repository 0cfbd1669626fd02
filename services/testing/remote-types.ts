// A stack somewhere else (a container, a process of its own) as tests hold it: the shape of `Stack`, with answers that
// come over the network. What a `Stack` has as a value and this one as a promise reads the same with `await`.
import type { Agent } from "node:https";
import type { Stack, StackFetch } from "./types.ts";

type Resolved<T> = T extends Promise<infer R> ? R : T;
type Filter = NonNullable<Parameters<Stack["events"]["page"]>[0]>;
type Page = ReturnType<Stack["events"]["page"]>;
type Trace = ReturnType<Stack["events"]["trace"]>;
type StackEvent = Page["events"][number];
type IssuerHandle = ReturnType<Stack["issuer"]>;
type Verdict = Resolved<ReturnType<Stack["runPod"]>>;

/** Where the clock of the stack stands. */
export interface RemoteClockState {
  readonly now: Date;
  readonly frozen: boolean;
  readonly offsetSeconds: number;
}

/** The one clock of the stack. */
export interface RemoteClock {
  now(): Promise<Date>;
  state(): Promise<RemoteClockState>;
  set(instant: Date): Promise<RemoteClockState>;
  advance(seconds: number): Promise<RemoteClockState>;
  freeze(frozen: boolean): Promise<RemoteClockState>;
  /** Back to the system's time. */
  reset(): Promise<RemoteClockState>;
}

export interface RemoteEvents {
  page(filter?: Filter): Promise<Page>;
  trace(id: string): Promise<Trace>;
  /** Calls `listener` for every further event, until the returned function is called. */
  follow(listener: (event: StackEvent) => void): Promise<() => void>;
}

/** The simulated kubelet of a node. */
export interface RemoteKubelet {
  readonly nodeName: string;
  pods(): Promise<readonly Verdict[]>;
  deletePod(namespace: string, name: string): Promise<void>;
  restart(): Promise<void>;
  records(): Promise<{ readonly intents: readonly unknown[]; readonly records: readonly unknown[] }>;
}

/** A running stack that is reached over the network. */
export interface RemoteStack extends AsyncDisposable {
  readonly http: string;
  readonly https: string;
  readonly control: string;
  readonly controlKey: string;
  /** Path of a copy of the CA's certificate. */
  readonly ca: string;
  caPem(): Promise<string>;
  readonly issuers: Readonly<Record<string, string>>;
  readonly registries: Readonly<Record<string, string>>;
  readonly clock: RemoteClock;
  readonly events: RemoteEvents;
  issuer(name: string): Pick<IssuerHandle, "name" | "url" | "mint"> & {
    keys(): Promise<readonly { readonly kid: string; readonly alg: string; readonly active: boolean }[]>;
    rotate(request?: { alg?: string; keepOld: boolean }): Promise<{ readonly kid: string; readonly alg: string }>;
    withdraw(kid: string): Promise<boolean>;
  };
  readonly sts: Stack["sts"];
  ecr(account: string): Omit<ReturnType<Stack["ecr"]>, "repositories">;
  registry(host: string): Omit<ReturnType<Stack["registry"]>, "describeImage">;
  kubelet(node: string): Promise<RemoteKubelet>;
  /** A further node: `{name, like?, version?, …}` of the control API. */
  addNode(spec: Readonly<Record<string, unknown>>): Promise<void>;
  /** Creates the Pod at the API server and runs it on the node. */
  runPod(node: string, manifest: Readonly<Record<string, unknown>>): Promise<Verdict>;
  /** Over TLS with the stack's CA, by real host name, without DNS. */
  readonly fetch: StackFetch;
  /** For AWS SDKs and `node:https`: real host names over TLS with the stack's CA. */
  agent(): Promise<Agent>;
  /** Exports for client programs on this machine. */
  env(): Promise<Readonly<Record<string, string>>>;
  /** Back to the world as loaded. */
  reset(): Promise<void>;
  /** Closes connections; the stack goes on. */
  close(): Promise<void>;
}
