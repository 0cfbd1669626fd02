// What rows work with: nodes, Pods, tokens and raw requests against one running stack, all over HTTP.
import { createDialer, type Dialer, type DialRequest, readResponse } from "../../shared/dial.ts";
import { systemRandom } from "../../shared/random.ts";
import type { Step, Verdict } from "./types.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Where the stack is and how the demo is allowed in. */
export interface BackstageOptions {
  /** `http://127.0.0.1:4566` */
  readonly endpoint: string;
  /** Admin of the API server and, on a non-loopback bind, of the control API. */
  readonly controlKey: string;
  /** Runs instead of the nodes' own plugin directory: the real plugin's folder, say. */
  readonly pluginDirectory?: string;
  /** Makes node and object names unique per run. */
  readonly suffix: string;
}

export interface PodSpec {
  readonly what: string;
  readonly node: string;
  readonly namespace: string;
  readonly image: string;
  readonly serviceAccount?: string;
  readonly secrets?: readonly string[];
  readonly policy?: "Always" | "IfNotPresent" | "Never";
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The members of a Pod's verdict that rows look at. */
export interface PodOutcome extends Step {
  readonly message: string;
  readonly providers: readonly { readonly name: string; readonly outcome: string; readonly because: string }[];
  readonly podEvents: readonly { readonly reason: string; readonly message: string }[];
  readonly hops: readonly Fields[];
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly trace: string;
  /** Looks up what decided, in the stack's event log. */
  why(): Promise<Fields>;
}

/** One stack, as the demo sees it. */
export interface Backstage {
  /** A new node like another one; its name. */
  node(like: string, changes?: Fields): Promise<string>;
  /** Runs a Pod and looks up what decided. */
  pod(spec: PodSpec): Promise<PodOutcome>;
  restart(node: string): Promise<void>;
  control(method: string, path: string, body?: Fields): Promise<Fields>;
  /** The API server, as admin. @throws for anything but 2xx */
  kubernetes(method: string, path: string, body?: Fields): Promise<Fields>;
  /** Any host of the stack by its real name. */
  request(url: string, request?: DialRequest): Promise<RawAnswer>;
  /** A name that no other row uses. */
  unique(base: string): string;
  /** Runs `make` once per run of the demo, whoever asks first. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>;
  close(): void;
}

export function createBackstage(options: BackstageOptions): Backstage {
  const { hostname, port } = new URL(options.endpoint);
  const dialer = createDialer({
    resolve: () => ({ address: hostname, port: Number(port), tls: false }),
    ca: () => "",
    mayLeave: () => false,
  });
  const shared = new Map<string, Promise<unknown>>();
  let count = 0;
  const unique = (base: string) => `${base}-${options.suffix}${++count}`;
  const control = async (method: string, path: string, body?: Fields) =>
    askJson(dialer, `${options.endpoint}/_pullproof/${path}`, { method, key: options.controlKey, body });

  return {
    unique,
    control,
    kubernetes: (method, path, body) =>
      askJson(dialer, `https://kubernetes.default.svc${path}`, { method, key: options.controlKey, body }),
    async node(like, changes = {}) {
      const plugins = options.pluginDirectory === undefined ? {} : { pluginDirectory: options.pluginDirectory };
      const { name } = await control("POST", "nodes", { like, name: unique("demo"), ...plugins, ...changes });
      return String(name);
    },
    async pod(spec) {
      const name = unique("pod");
      const verdict = await control("POST", `nodes/${spec.node}/pods?wait=true`, podManifest(name, spec));
      return explain(spec.what, verdict, await control("GET", `traces/${verdict.trace}`));
    },
    restart: async (node) => void (await control("POST", `nodes/${node}/restart`, {})),
    async request(url, request = {}) {
      const trace = systemRandom.bytes(16).toString("hex");
      const traceparent = `00-${trace}-${trace.slice(0, 16)}-01`;
      const response = await dialer.request(url, { ...request, headers: { ...request.headers, traceparent } });
      const body = await readResponse(response, 64 << 20);
      const why = async () => ((await control("GET", `traces/${trace}`)).why ?? {}) as Fields;
      return { status: response.status, headers: response.headers, body, trace, why };
    },
    once<T>(key: string, make: () => Promise<T>) {
      const made = (shared.get(key) as Promise<T> | undefined) ?? make();
      shared.set(key, made);
      return made;
    },
    close: () => dialer.close(),
  };
}

async function askJson(
  dialer: Dialer,
  url: string,
  ask: { method: string; key: string; body: Fields | undefined },
): Promise<Fields> {
  const write = ask.method !== "GET";
  const response = await dialer.request(url, {
    method: ask.method,
    headers: { authorization: `Bearer ${ask.key}`, ...(write ? { "content-type": "application/json" } : {}) },
    ...(ask.body ? { body: JSON.stringify(ask.body) } : {}),
  });
  const text = (await readResponse(response, 16 << 20)).toString("utf8");
  if (response.status >= 300) throw new Error(`${ask.method} ${url}: ${response.status} ${text.slice(0, 400)}`);
  return JSON.parse(text) as Fields;
}

function podManifest(name: string, spec: PodSpec): Fields {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: spec.namespace, ...(spec.annotations ? { annotations: spec.annotations } : {}) },
    spec: {
      ...(spec.serviceAccount === undefined ? {} : { serviceAccountName: spec.serviceAccount }),
      ...(spec.secrets ? { imagePullSecrets: spec.secrets.map((secret) => ({ name: secret })) } : {}),
      containers: [{ name: "app", image: spec.image, imagePullPolicy: spec.policy ?? "IfNotPresent" }],
    },
  };
}

/** A Pod's verdict with the decision that settled it, read from the trace. */
function explain(what: string, verdict: Fields, trace: Fields): PodOutcome {
  const why = (trace.why ?? {}) as Fields;
  const hops = (trace.events ?? []) as readonly Fields[];
  const warning = verdict.verdict === "leaked" ? warningIn(hops) : undefined;
  return {
    what,
    verdict: verdict.verdict as Verdict,
    ...explainEvent(why, String(verdict.reason)),
    ...(warning === undefined ? {} : { because: warning }),
    ...(verdict.podReason === undefined ? {} : { podReason: String(verdict.podReason) }),
    trace: String(verdict.trace),
    message: String(verdict.message ?? ""),
    providers: (verdict.providers ?? []) as PodOutcome["providers"],
    podEvents: (verdict.events ?? []) as PodOutcome["podEvents"],
    hops,
  };
}

/** A misconfiguration that a hop noticed on the way to an allow. */
function warningIn(hops: readonly Fields[]): string | undefined {
  const warnings = hops.map((hop) => (hop.notes as Fields | undefined)?.warning);
  return warnings.findLast((warning): warning is string => typeof warning === "string");
}

/** The deciding event in a row's terms. */
export function explainEvent(event: Fields, fallback: string): { reason: string; decidedBy: string; because: string } {
  const reason = String(event.reason ?? fallback);
  const because = (event.notes as Fields | undefined)?.because;
  return {
    reason,
    decidedBy: String(event.decidedBy ?? event.operation ?? ""),
    because: `${event.operation ?? "kubelet"}: ${typeof because === "string" ? because : reason}`,
  };
}
