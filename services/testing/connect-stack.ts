// `connectStack()`: the handles of `startStack()` for a stack that runs somewhere else.
import { createDialer } from "../shared/dial.ts";
import { createHostTable, ecrHostsOf, type World } from "../stack/index.ts";
import { createStackAgent } from "./agent.ts";
import { type ControlApi, createControlApi } from "./control-client.ts";
import { writeCa } from "./data-dir.ts";
import type { RemoteClock, RemoteEvents, RemoteKubelet, RemoteStack } from "./remote-types.ts";
import { createStackFetch } from "./stack-fetch.ts";

export interface ConnectOptions {
  /** `http://host:port` of the stack. */
  readonly endpoint: string;
  /** `PULLPROOF_CONTROL_KEY` of the stack, or what its `control.key` holds. */
  readonly controlKey: string;
}

/**
 * Connects to a running stack: one in a container, of `docker compose`, of `pullproof up`.
 * @throws Error if none answers there, or refuses the key
 */
export async function connectStack({ endpoint, controlKey }: ConnectOptions): Promise<RemoteStack> {
  const { hostname, port: givenPort, origin } = new URL(endpoint);
  const port = Number(givenPort) || 80;
  const api = createControlApi(origin, controlKey);
  const [pem, world] = await Promise.all([api.text("ca.pem"), api.request("GET", "world") as Promise<World>]);
  const ca = writeCa(pem);
  const hosts = createHostTable(world, [hostname]);
  const dialer = createDialer({
    resolve: (host) => (hosts.isServed(host.toLowerCase()) ? { address: hostname, port, tls: true } : undefined),
    ca: () => pem,
    mayLeave: () => false,
  });
  const https = origin.replace(/^http:/, "https:");
  const close = async () => {
    dialer.close();
    ca.remove();
  };
  return {
    http: origin,
    https,
    control: `${origin}/_pullproof/`,
    controlKey,
    ca: ca.path,
    caPem: async () => pem,
    issuers: Object.fromEntries(world.issuers.map(({ name, url }) => [name, url])),
    registries: registriesOf(world),
    clock: createClock(api),
    events: createEvents(api),
    ...createHandles(api, world, origin),
    fetch: createStackFetch(dialer),
    agent: async () => createStackAgent({ ca: pem, address: hostname, port, isServed: hosts.isServed }),
    async env() {
      const there = (await api.request("GET", "env?format=json")) as Record<string, string>;
      const here = { AWS_ENDPOINT_URL: https, AWS_CA_BUNDLE: ca.path, NODE_EXTRA_CA_CERTS: ca.path };
      return { ...there, ...here, PULLPROOF_ENDPOINT: origin };
    },
    reset: async () => void (await api.request("POST", "reset")),
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Handles = Pick<RemoteStack, "issuer" | "sts" | "ecr" | "registry" | "kubelet" | "addNode" | "runPod">;

function createHandles(api: ControlApi, world: World, endpoint: string): Handles {
  const { region } = world;
  return {
    issuer: (name) => createIssuerHandle(api, world, name),
    sts: { endpoint, host: `sts.${region}.amazonaws.com`, region },
    ecr(account) {
      const found = find("an account", account, new Map(world.accounts.map((each) => [each.id, each])));
      const own = found.regions[0] ?? region;
      const registryHost = `${account}.dkr.ecr.${own}.amazonaws.com`;
      return { account, region: own, endpoint, host: `api.ecr.${own}.amazonaws.com`, registryHost };
    },
    registry(host) {
      const byHost = new Map(Object.entries(registriesOf(world)).map(([name, at]) => [at, name]));
      return { name: find("a registry's host", host, byHost), host, url: `https://${host}` };
    },
    kubelet: async (node) => createKubeletHandle(api, node),
    addNode: async (spec) => void (await api.request("POST", "nodes", spec)),
    runPod: (node, manifest) =>
      api.request("POST", `nodes/${encodeURIComponent(node)}/pods?wait=true`, manifest) as ReturnType<
        RemoteStack["runPod"]
      >,
  };
}

function find<T>(kind: string, name: string, known: ReadonlyMap<string, T>): T {
  const found = known.get(name);
  if (found !== undefined) return found;
  throw new Error(`expected ${kind} of this world (${[...known.keys()].join(", ")}), found "${name}"`);
}

/** Name → host, as `Stack.registries`. */
function registriesOf(world: World): Readonly<Record<string, string>> {
  const ecr = ecrHostsOf(world).map((host) => {
    const [account = "", , , region = ""] = host.split(".");
    const first = world.accounts.find(({ id }) => id === account)?.regions[0] === region;
    return [first ? account : `${account}/${region}`, host];
  });
  return Object.fromEntries([...world.registries.map(({ name, host }) => [name, host]), ...ecr]);
}

function createIssuerHandle(api: ControlApi, world: World, name: string): ReturnType<RemoteStack["issuer"]> {
  const own = world.issuers.filter(({ foreign }) => !foreign).map((issuer) => [issuer.name, issuer] as const);
  const { url } = find("an issuer", name, new Map(own));
  const path = `issuers/${encodeURIComponent(name)}`;
  type Handle = ReturnType<RemoteStack["issuer"]>;
  return {
    name,
    url,
    mint: (request) => api.request("POST", `${path}/tokens`, request) as ReturnType<Handle["mint"]>,
    async keys() {
      type Listed = { name: string; keys: Awaited<ReturnType<Handle["keys"]>> };
      const { issuers } = (await api.request("GET", "issuers")) as { issuers: readonly Listed[] };
      return issuers.find((issuer) => issuer.name === name)?.keys ?? [];
    },
    rotate: (request = { keepOld: true }) =>
      api.request("POST", `${path}/keys`, request) as ReturnType<Handle["rotate"]>,
    async withdraw(kid) {
      const published = (await this.keys()).some((key) => key.kid === kid);
      if (published) await api.request("DELETE", `${path}/keys/${encodeURIComponent(kid)}`);
      return published;
    },
  };
}

function createClock(api: ControlApi): RemoteClock {
  const parse = (answer: unknown) => {
    const { now, frozen, offsetSeconds } = answer as { now: string; frozen: boolean; offsetSeconds: number };
    return { now: new Date(now), frozen, offsetSeconds };
  };
  const put = async (change: object) => parse(await api.request("PUT", "clock", change));
  const state = async () => parse(await api.request("GET", "clock"));
  return {
    state,
    now: async () => (await state()).now,
    set: (instant) => put({ now: instant.toISOString() }),
    advance: (seconds) => put({ advanceSeconds: seconds }),
    freeze: (frozen) => put({ frozen }),
    reset: () => put({ now: "system" }),
  };
}

function createEvents(api: ControlApi): RemoteEvents {
  return {
    page(filter = {}) {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
      return api.request("GET", `events?${query}`) as ReturnType<RemoteEvents["page"]>;
    },
    trace: (id) => api.request("GET", `traces/${encodeURIComponent(id)}`) as ReturnType<RemoteEvents["trace"]>,
    async follow(listener) {
      // A filter that nothing passes: the answer says only how far the log goes.
      const { next } = (await api.request("GET", "events?operation=none")) as { next: number };
      return api.follow(`events?since=${next}`, listener as (event: unknown) => void);
    },
  };
}

function createKubeletHandle(api: ControlApi, nodeName: string): RemoteKubelet {
  const path = `nodes/${encodeURIComponent(nodeName)}`;
  return {
    nodeName,
    async pods() {
      const { pods } = (await api.request("GET", `${path}/pods`)) as {
        pods: Awaited<ReturnType<RemoteKubelet["pods"]>>;
      };
      return pods;
    },
    deletePod: async (namespace, name) => void (await api.request("DELETE", `${path}/pods/${namespace}/${name}`)),
    restart: async () => void (await api.request("POST", `${path}/restart`)),
    records: () => api.request("GET", `${path}/records`) as ReturnType<RemoteKubelet["records"]>,
  };
}
