// The library's nouns: a stack as tests hold it.
import type { Agent } from "node:https";
import type { RunningStack } from "../stack/index.ts";

type Rooms = RunningStack["rooms"];
type Issuer = Rooms["issuers"] extends ReadonlyMap<string, infer I> ? I : never;
type MintedToken = Awaited<ReturnType<Rooms["tokens"]["mint"]>>;
type Kubelet = Awaited<ReturnType<Rooms["nodes"]["kubelet"]>>;

/** A subset of `fetch`: absolute URLs of the stack's names; redirects are handed back. */
export type StackFetch = (
  url: string | URL,
  init?: { method?: string; headers?: ConstructorParameters<typeof Headers>[0]; body?: string | Uint8Array | null },
) => Promise<Response>;

/** An issuer whose keys the stack holds. */
export interface IssuerHandle {
  readonly name: string;
  readonly url: string;
  /** A token through the TokenRequest API, or its bad twin (`bad`). The audience is `sts.amazonaws.com` unless told. */
  mint(request: {
    namespace: string;
    serviceAccount: string;
    audience?: string;
    expirationSeconds?: number;
    bad?: string;
  }): Promise<MintedToken>;
  keys(): ReturnType<Issuer["keys"]>;
  /** The old key stays published unless `keepOld` is false. */
  rotate(request?: Parameters<Issuer["rotate"]>[0]): ReturnType<Issuer["rotate"]>;
  withdraw(kid: string): Promise<boolean>;
}

/** An account's ECR. */
export interface AccountHandle {
  readonly account: string;
  readonly region: string;
  /** For `endpoint` of SDK clients. */
  readonly endpoint: string;
  /** The API's real host name. */
  readonly host: string;
  /** `<account>.dkr.ecr.<region>.amazonaws.com` */
  readonly registryHost: string;
  repositories(): ReturnType<Rooms["ecr"]["repositories"]["list"]>;
}

/** A registry of the world. */
export interface RegistryHandle {
  readonly name: string;
  readonly host: string;
  readonly url: string;
  /** Image id, tags and digests, as a node that has it would list it. */
  describeImage(repository: string, tag: string): ReturnType<Rooms["registries"]["describeImage"]>;
}

/** A running stack. Use it with `await using`, or call `close()`. */
export interface Stack extends AsyncDisposable {
  readonly http: string;
  readonly https: string;
  /** Path of the CA's certificate; the file is there once `caPem`, `agent` or `env` was called. */
  readonly ca: string;
  caPem(): Promise<string>;
  /** URL of the control API. */
  readonly control: string;
  /** Admin token of the API server. */
  readonly controlKey: string;
  readonly dataDir: string;
  readonly issuers: Readonly<Record<string, string>>;
  readonly registries: Readonly<Record<string, string>>;
  /** The clock of every room: `set`, `advance`, `freeze`, `reset`. */
  readonly clock: RunningStack["clock"];
  /** What happened: `page(filter)`, `trace(id)`, `follow(listener)`. */
  readonly events: RunningStack["events"];
  issuer(name: string): IssuerHandle;
  readonly sts: { readonly endpoint: string; readonly host: string; readonly region: string };
  ecr(account: string): AccountHandle;
  registry(host: string): RegistryHandle;
  /** The simulated kubelet of a node, started if need be. */
  kubelet(node: string): Promise<Kubelet>;
  /** Creates the Pod at the API server and runs it on the node. */
  runPod(node: string, manifest: Readonly<Record<string, unknown>>): ReturnType<Kubelet["runPod"]>;
  readonly fetch: StackFetch;
  /** For AWS SDKs and `node:https`: real host names over TLS with the stack's CA. */
  agent(): Promise<Agent>;
  /** Exports for client programs; writes the CA. */
  env(): Promise<Readonly<Record<string, string>>>;
  /** Back to the world as loaded. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
