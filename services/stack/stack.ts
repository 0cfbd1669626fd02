// The one place where rooms are wired into a running stack.
import { join } from "node:path";
import { createControlRouter, EventLog } from "../control/index.ts";
import { MovableClock, systemClock } from "../shared/clock.ts";
import type { Dialer } from "../shared/dial.ts";
import { type Edge, startEdge } from "../shared/edge.ts";
import { ConfigurationError } from "../shared/errors.ts";
import { lazy } from "../shared/lazy.ts";
import { systemRandom } from "../shared/random.ts";
import { createCertificateAuthority } from "../shared/tls.ts";
import { createController } from "./controller.ts";
import { type DataDirectory, openDataDirectory } from "./data-dir.ts";
import { type Endpoints, renderClientEnvironment, renderPluginEnvironment } from "./environment.ts";
import { createHostTable, ecrHostsOf, type HostTable, localAddress } from "./hosts.ts";
import { createInnerDialer, type Whereabouts } from "./inner-dialer.ts";
import { createRooms, type Rooms } from "./rooms.ts";
import { createRouters } from "./routers.ts";
import { createRoute } from "./routes.ts";
import { loadWorld } from "./seed.ts";
import { OPTION_NAMES, type StackOptions } from "./stack-options.ts";
import type { World } from "./types.ts";

/** A running stack, without the conveniences of the library (`testing`). */
export interface RunningStack {
  /** `http://127.0.0.1:<port>`, and the same port with https. */
  readonly http: string;
  readonly https: string;
  /** URL of the control API. */
  readonly control: string;
  /** Path of the CA's certificate; the file is there once {@link caPem} was called. */
  readonly ca: string;
  readonly dataDir: string;
  /** Admin of the API server, and bearer of the control API on a non-loopback bind. */
  readonly controlKey: string;
  /** Name → URL, and name → host. */
  readonly issuers: Readonly<Record<string, string>>;
  readonly registries: Readonly<Record<string, string>>;
  readonly world: World;
  readonly clock: MovableClock;
  readonly events: EventLog;
  readonly rooms: Rooms;
  readonly dialer: Dialer;
  readonly hosts: HostTable;
  /** Makes the CA if need be. */
  caPem(): Promise<string>;
  env(): Promise<Readonly<Record<string, string>>>;
  /** Back to the world as loaded: pushes, records and nodes that were added are gone. The clock is the caller's. */
  reset(): Promise<void>;
  /** Lets what runs finish, stops kubelets, removes a temporary data folder. */
  close(): Promise<void>;
}

/**
 * Starts a stack.
 * @throws ConfigurationError for a wrong world (every mistake at once), a port in use, a folder that cannot be written
 */
export async function createStack(options: StackOptions = {}): Promise<RunningStack> {
  refuseUnknown("option", options, OPTION_NAMES);
  const world = withSwitches(await loadWorld(options.world), options);
  const directory = openDataDirectory(options.dataDir);
  try {
    const preparing = { pending: options.prepare !== undefined };
    const stack = await start(await withKeptKeys(world, directory), directory, { options, preparing });
    await prepare(stack, { options, preparing });
    return stack;
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** How a start was asked for, and whether what it was given to do first is still going on. */
interface Start {
  readonly options: StackOptions;
  readonly preparing: { pending: boolean };
}

async function prepare(stack: RunningStack, { options, preparing }: Start): Promise<void> {
  try {
    await options.prepare?.(stack);
    preparing.pending = false;
  } catch (error) {
    await stack.close();
    throw error;
  }
}

/** In a folder that stays, issuers keep their keys: tokens and uploaded key sets outlive a restart. */
async function withKeptKeys(world: World, directory: DataDirectory): Promise<World> {
  const issuers = world.issuers.map(async (issuer) => {
    const pem = issuer.key || issuer.foreign ? undefined : await directory.issuerKey(issuer);
    return pem === undefined ? issuer : { ...issuer, key: { pem } };
  });
  return { ...world, issuers: await Promise.all(issuers) };
}

/** A misspelt option would be silently without effect. */
function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new ConfigurationError(`expected ${what}s among ${known.join(", ")}; found ${unknown.join(", ")}`);
}

function withSwitches(world: World, { switches }: StackOptions): World {
  if (switches) refuseUnknown("switch", switches, Object.keys(world.switches));
  return switches ? { ...world, switches: { ...world.switches, ...switches } } : world;
}

async function start(world: World, directory: DataDirectory, given: Start): Promise<RunningStack> {
  const parts = createParts(world, directory, given);
  const { options } = given;
  const { ca, clock, dialer, events, hosts, rooms, where, env, reset, controlKey } = parts;
  if (options.tls) where.caPem = await ca.caPem();
  const edge = await listen(parts, world, given);
  const { http, https, caFile } = endpointsOf(where);
  return {
    http,
    https,
    control: `${http}/_pullproof/`,
    ca: caFile,
    dataDir: directory.path,
    controlKey,
    issuers: Object.fromEntries(world.issuers.map(({ name, url }) => [name, url])),
    registries: registryHosts(world),
    world,
    clock,
    events,
    rooms,
    dialer,
    hosts,
    caPem: () => ca.caPem(),
    env,
    reset,
    async close() {
      await rooms.nodes.reset();
      dialer.close();
      await edge.close();
      directory.close();
    },
  };
}

type Parts = ReturnType<typeof createParts>;

/** Everything behind the edge. Nothing of it is asked before the edge listens. */
function createParts(world: World, directory: DataDirectory, { options }: Start) {
  const { random = systemRandom, tls = false, host = DEFAULT_HOST } = options;
  const clock = new MovableClock();
  const events = new EventLog(clock);
  const hosts = createHostTable(world, [...(options.hosts ?? []), host]);
  const ca = createCertificateAuthority({ directory: directory.path, systemClock, random, isServed: hosts.isServed });
  const where: Whereabouts = { caPem: "" };
  const dialer = createInnerDialer(world, { hosts, at: where, tls });
  const controlKey = directory.key("control", options.controlKey);
  const sealingKey = directory.key("seal", options.sealingKey);
  const pluginEnvironment = async () => renderPluginEnvironment(endpointsOf(where), tls);
  const base = { world, clock, random, events, dialer, directory, options };
  const rooms = createRooms({ ...base, controlKey, sealingKey, pluginEnvironment });
  const env = async () => {
    where.caPem = await ca.caPem(); // the exports name its file
    return renderClientEnvironment(endpointsOf(where));
  };
  const reset = async () => {
    await rooms.reset();
    directory.clearNodes();
  };
  return { ...base, hosts, ca, where, controlKey, rooms, env, reset };
}

const DEFAULT_HOST = "127.0.0.1";

function endpointsOf({ endpoints }: Whereabouts): Endpoints {
  if (!endpoints) throw new Error("the stack was asked where it is before it listened");
  return endpoints;
}

/** Opens the edge, and writes down where the stack is. */
async function listen(parts: Parts, world: World, { options, preparing }: Start): Promise<Edge> {
  const { ca, clock, controlKey, directory, dialer, env, events, hosts, random, reset, rooms, where } = parts;
  const preparation = () => (options.prepare ? (preparing.pending ? "running" : "ok") : undefined);
  const stack = createController({ world, rooms, hosts, ca, dialer, env, reset, preparation });
  const { host = DEFAULT_HOST, port = 0, morePorts = [] } = options;
  const isLoopback = hosts.isLoopback(host);
  const requiredKey = isLoopback ? {} : { requiredKey: controlKey };
  const control = lazy(() => createControlRouter({ stack, log: events, clock, ...requiredKey }));
  const route = createRoute(world, hosts, { ...createRouters({ world, rooms, clock, random, events }), control });
  const edge = await startEdge({ address: host, port, morePorts, route, certificates: ca });
  const authority = `${isLoopback ? "127.0.0.1" : localAddress(host)}:${edge.port}`;
  where.endpoints = {
    http: `http://${authority}`,
    https: `https://${authority}`,
    region: world.region,
    caFile: join(directory.path, "ca.pem"),
  };
  return edge;
}

/** Name → host: plain registries by their names in the world, those behind ECR by account (and region, if not the first). */
function registryHosts(world: World): Readonly<Record<string, string>> {
  const ecr = ecrHostsOf(world).map((host) => {
    const [account = "", , , region = ""] = host.split(".");
    const first = world.accounts.find(({ id }) => id === account)?.regions[0] === region;
    return [first ? account : `${account}/${region}`, host];
  });
  return Object.fromEntries([...world.registries.map(({ name, host }) => [name, host]), ...ecr]);
}
