// The one place where rooms are wired into a running stack.
import { join } from "node:path";
import { createControlRouter, EventLog, type StackController } from "../control/index.ts";
import { MovableClock, systemClock } from "../shared/clock.ts";
import { createDialer, type Dialer } from "../shared/dial.ts";
import { startEdge } from "../shared/edge.ts";
import { ConfigurationError } from "../shared/errors.ts";
import { lazy } from "../shared/lazy.ts";
import { systemRandom } from "../shared/random.ts";
import { type CertificateAuthority, createCertificateAuthority } from "../shared/tls.ts";
import { type DataDirectory, openDataDirectory } from "./data-dir.ts";
import { type Endpoints, renderClientEnvironment, renderPluginEnvironment } from "./environment.ts";
import { checkServices } from "./health.ts";
import { createHostTable, ecrHostsOf, type HostTable, localAddress } from "./hosts.ts";
import { redactWorld } from "./redacted-world.ts";
import { createRooms, type Rooms } from "./rooms.ts";
import { createRouters } from "./routers.ts";
import { createRoute } from "./routes.ts";
import { loadWorld } from "./seed.ts";
import { OPTION_NAMES, type StackOptions } from "./stack-options.ts";
import type { World } from "./types.ts";
import { VERSION } from "./version.ts";

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
  const { options } = given;
  const host = options.host ?? "127.0.0.1";
  const random = options.random ?? systemRandom;
  const clock = new MovableClock();
  const events = new EventLog(clock);
  const hosts = createHostTable(world, [...(options.hosts ?? []), host]);
  const ca = createCertificateAuthority({ directory: directory.path, systemClock, random, isServed: hosts.isServed });
  const at: { endpoints?: Endpoints; caPem: string } = { caPem: "" };
  const dialer = createInnerDialer(world, { hosts, at, tls: options.tls === true });
  const endpoints = () => at.endpoints as Endpoints; // set before anything can be asked
  const controlKey = directory.key("control", options.controlKey);
  const rooms = await createRooms({
    world,
    clock,
    random,
    events,
    dialer,
    directory,
    controlKey,
    sealingKey: directory.key("seal", options.sealingKey),
    options,
    async pluginEnvironment() {
      if (options.tls) at.caPem = await ca.caPem();
      return renderPluginEnvironment(endpoints(), options.tls === true);
    },
  });
  const env = async () => {
    at.caPem = await ca.caPem();
    return renderClientEnvironment(endpoints());
  };
  const controller = createController({ world, rooms, hosts, ca, directory, dialer, env, given });
  const isLoopback = hosts.isLoopback(host);
  const requiredKey = isLoopback ? {} : { requiredKey: controlKey };
  const control = lazy(() => createControlRouter({ stack: controller, log: events, clock, ...requiredKey }));
  const routers = createRouters({ world, rooms, clock, random, events });
  if (options.tls) at.caPem = await ca.caPem();
  const route = createRoute(world, hosts, { ...routers, control });
  const { port = 0, morePorts = [] } = options;
  const edge = await startEdge({ address: host, port, morePorts, route, certificates: ca });
  const authority = `${isLoopback ? "127.0.0.1" : localAddress(host)}:${edge.port}`;
  at.endpoints = {
    http: `http://${authority}`,
    https: `https://${authority}`,
    region: world.region,
    caFile: join(directory.path, "ca.pem"),
  };
  return {
    http: endpoints().http,
    https: endpoints().https,
    control: `${endpoints().http}/_pullproof/`,
    ca: endpoints().caFile,
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
    async close() {
      await rooms.nodes.reset();
      dialer.close();
      await edge.close();
      directory.close();
    },
  };
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

/** The stack's own names lead to its own port; plain inside the process unless `tls` (docs/decisions/0001). */
function createInnerDialer(
  world: World,
  inner: { hosts: HostTable; at: { endpoints?: Endpoints; caPem: string }; tls: boolean },
): Dialer {
  const { hosts, at, tls } = inner;
  const trusted = world.issuers.filter(({ foreign }) => foreign && "trust" in foreign);
  const fetched = new Set(trusted.map(({ url }) => new URL(url).hostname)); // the world says so by name
  return createDialer({
    resolve: (host) =>
      at.endpoints && !fetched.has(host) && hosts.isServed(host.toLowerCase())
        ? { address: "127.0.0.1", port: Number(new URL(at.endpoints.http).port), tls }
        : undefined,
    ca: () => at.caPem,
    mayLeave: (host) => world.switches.outsideNetwork || fetched.has(host),
  });
}

function createController(from: {
  world: World;
  rooms: Rooms;
  hosts: HostTable;
  ca: CertificateAuthority;
  directory: DataDirectory;
  dialer: Dialer;
  env(): Promise<Readonly<Record<string, string>>>;
  given: Start;
}): StackController {
  const { world, rooms, hosts, ca, directory, dialer, env, given } = from;
  return {
    version: VERSION,
    switches: { ...world.switches },
    services: async () => ({
      ...(await checkServices(world, dialer)),
      ...(given.options.prepare ? { init: given.preparing.pending ? "running" : "ok" } : {}),
    }),
    caPem: () => ca.caPem(),
    environment: env,
    get issuers() {
      return [...rooms.issuers.values()].map((issuer) => ({
        name: issuer.name,
        url: issuer.url,
        alg: issuer.alg,
        keys: () => issuer.keys(),
        rotate: (request: { alg?: string; keepOld: boolean }) => rooms.rotateKey(issuer.name, request),
        withdraw: (kid: string) => issuer.withdraw(kid),
      }));
    },
    mintToken: (issuer, request) => rooms.tokens.mint(issuer, request),
    nodes: rooms.nodes,
    world: () => redactWorld(world),
    async reset() {
      await rooms.reset();
      directory.clearNodes();
    },
    putRepositoryAccess: (registry, repository, access) => rooms.putRepositoryAccess(registry, repository, access),
    isKnownHost: (host) => hosts.isServed(host),
  };
}
