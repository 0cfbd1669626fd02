// The rooms of one stack, made from its world and connected: who hands what to whom.
import { join } from "node:path";
import { type ApiServer, createApiServer } from "../apiserver/index.ts";
import { ControlError } from "../control/index.ts";
import { createEcr, type Ecr } from "../ecr/index.ts";
import { createIam, type Iam } from "../iam/index.ts";
import { createIssuer, type Issuer, isSigningAlg, type KeyInfo } from "../oidc/index.ts";
import type { Clock } from "../shared/clock.ts";
import type { Dialer } from "../shared/dial.ts";
import { ConfigurationError } from "../shared/errors.ts";
import type { EventSink } from "../shared/event.ts";
import { type Lazy, lazy } from "../shared/lazy.ts";
import { createSeededRandom, createUuid, type Random } from "../shared/random.ts";
import { createSealer } from "../shared/seal.ts";
import { createSts, type Sts } from "../sts/index.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import type { DataDirectory } from "./data-dir.ts";
import { createNodes, type Nodes } from "./nodes.ts";
import { createRegistries, type Registries } from "./registries.ts";
import { parseRepositoryAccess } from "./repository-access.ts";
import type { StackOptions } from "./stack-options.ts";
import { createTokenMinter, type TokenMinter } from "./tokens.ts";
import type { World } from "./types.ts";
import { isIntended } from "./world.ts";

export interface RoomsDeps {
  readonly world: World;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventSink;
  readonly dialer: Dialer;
  readonly directory: DataDirectory;
  readonly controlKey: string;
  readonly sealingKey: string;
  readonly options: StackOptions;
  pluginEnvironment(): Promise<Readonly<Record<string, string>>>;
}

/** Everything behind the edge. */
export interface Rooms {
  /** Issuers whose keys this stack holds, by name. */
  readonly issuers: ReadonlyMap<string, Issuer>;
  readonly iam: Iam;
  readonly sts: Sts;
  readonly ecr: Ecr;
  readonly apiServer: ApiServer;
  readonly registries: Registries;
  readonly nodes: Nodes;
  readonly tokens: TokenMinter;
  readonly api: ApiClient;
  /** @throws ControlError for an algorithm that STS would not accept */
  rotateKey(issuer: string, request: { alg?: string; keepOld: boolean }): Promise<KeyInfo | undefined>;
  putRepositoryAccess(registry: string, repository: string, access: Readonly<Record<string, unknown>>): boolean;
  /** Back to the world as loaded. */
  reset(): Promise<void>;
}

/** Each room is made when it is first used; `reset` leaves alone what was never made. */
export function createRooms(deps: RoomsDeps): Rooms {
  const { world, clock, random, dialer } = deps;
  const sealer = lazy(() => createSealer(deps.sealingKey, random));
  const issuers = lazy(() => createIssuers(deps));
  // Sealed sessions name the unique id of their role: whoever shares the sealing key must give a world's roles the same ids.
  const ids = deps.options.random ?? createSeededRandom(`${deps.sealingKey}/iam`);
  const iam = lazy(() => createIam({ accounts: world.accounts.map((account) => account.iam), random: ids, clock }));
  const { httpIssuers, verifyThumbprints } = world.switches;
  const stsOptions = { httpIssuers, verifyThumbprints, defaultRegion: world.region };
  const sts = lazy(() => createSts({ iam: iam(), clock, random, sealer: sealer(), dialer, options: stsOptions }));
  const ecr: Lazy<Ecr> = lazy(() =>
    createEcr({
      iam: iam(),
      sealer: sealer(),
      clock,
      random,
      accounts: world.accounts,
      defaultRegion: world.region,
      autoCreateRepositories: world.switches.autoCreateRepositories,
      contents: {
        hasImages: (key) => registries().contents.hasImages(key),
        clear: (key) => registries().contents.clear(key),
      },
    }),
  );
  const registries: Lazy<Registries> = lazy(() =>
    createRegistries({ world, clock, random, ecr: ecr(), ...pick(deps.options, "replaceAuthorizer") }),
  );
  const api = createApiClient(dialer, deps.controlKey);
  const tokens = lazy(() => createStackTokens(deps, issuers(), api));
  const apiServer = lazy(() => createStackApiServer(deps, clusterIssuer(world, issuers())));
  const nodes = lazy(() => createStackNodes(deps, rooms));
  const made = () => [
    ...(issuers.peek()?.values() ?? []),
    iam.peek(),
    sts.peek(),
    ecr.peek(),
    registries.peek(),
    apiServer.peek(),
  ];
  const rooms: Rooms = {
    api,
    get issuers() {
      return issuers();
    },
    get iam() {
      return iam();
    },
    get sts() {
      return sts();
    },
    get ecr() {
      return ecr();
    },
    get registries() {
      return registries();
    },
    get tokens() {
      return tokens();
    },
    get apiServer() {
      return apiServer();
    },
    get nodes() {
      return nodes();
    },
    rotateKey: async (name, request) => issuers().get(name)?.rotate(parseRotation(request)),
    putRepositoryAccess(name, repository, access) {
      const registry = registries().plain(name);
      registry?.setRepository(repository, parseRepositoryAccess(access));
      return registry !== undefined;
    },
    async reset() {
      await nodes.peek()?.reset();
      for (const room of made()) room?.reset();
    },
  };
  return rooms;
}

function parseRotation({ alg, keepOld }: { alg?: string; keepOld: boolean }): Parameters<Issuer["rotate"]>[0] {
  if (alg === undefined) return { keepOld };
  if (isSigningAlg(alg)) return { alg, keepOld };
  throw new ControlError("BadRequest", `expected alg as a signing algorithm of JWTs, found "${alg}"`);
}

function clusterIssuer(world: World, issuers: ReadonlyMap<string, Issuer>): Issuer {
  const issuer = issuers.get(world.cluster.issuer);
  if (issuer) return issuer;
  throw new ConfigurationError(`cluster.issuer ${world.cluster.issuer}: expected an issuer whose key this stack holds`);
}

function createStackTokens(
  { world, clock, random }: RoomsDeps,
  issuers: ReadonlyMap<string, Issuer>,
  api: ApiClient,
): TokenMinter {
  const unregisteredIssuer = findUnregistered(world, issuers);
  return createTokenMinter({
    issuers,
    clusterIssuer: clusterIssuer(world, issuers),
    unregisteredIssuer,
    api,
    clock,
    random,
  });
}

function createStackApiServer({ world, clock, random, controlKey }: RoomsDeps, issuer: Issuer): ApiServer {
  return createApiServer({
    objects: world.cluster.objects,
    nodes: world.cluster.nodes.map(({ name }) => name),
    issuer,
    clock,
    random,
    adminToken: controlKey,
  });
}

function createStackNodes(
  deps: RoomsDeps,
  rooms: Pick<Rooms, "apiServer" | "api" | "sts" | "registries" | "tokens">,
): Nodes {
  const { world, directory, random } = deps;
  const plugins = join(directory.path, "plugins");
  return createNodes({
    world: world.cluster.nodes,
    api: rooms.api,
    nodeToken: (node) => rooms.apiServer.addNode(node),
    nodeDirectory: directory.nodeDirectory,
    async builtinPlugins() {
      const { createBuiltinPluginDirectory } = await import("../credential-provider/index.ts");
      return createBuiltinPluginDirectory(plugins, pick(deps.options, "cacheHome"));
    },
    environment: deps.pluginEnvironment,
    async identity(roleArn, node) {
      // As an instance profile: the session is named after the machine.
      const sessionName = node;
      const lineage = createUuid(random);
      const credentials = rooms.sts.mintSession({ roleArn, sessionName, durationSeconds: 3600, lineage });
      return {
        lineage,
        environment: {
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
          AWS_SESSION_TOKEN: credentials.sessionToken,
        },
      };
    },
    isIntended: (namespace, image) => isIntended(world, namespace, image),
    spoilToken: (token, kind) => rooms.tokens.spoil(token, kind),
    fetchPreloaded: (image) => rooms.registries.describeImage(image),
    dialer: deps.dialer,
    clock: deps.clock,
    random,
    events: deps.events,
    ...pick(deps.options, "pluginTimeoutMs"),
  });
}

function createIssuers({ world, clock, random }: RoomsDeps): ReadonlyMap<string, Issuer> {
  const own = world.issuers.filter((issuer) => !issuer.foreign);
  return new Map(own.map(({ name, url, alg, key }) => [name, createIssuer({ name, url, alg, key, clock, random })]));
}

/** An issuer of ours that no account has registered: what an attacker's cluster would be. */
function findUnregistered(world: World, issuers: ReadonlyMap<string, Issuer>): Issuer | undefined {
  const registered = new Set(world.accounts.flatMap(({ iam }) => (iam.oidcProviders ?? []).map(({ url }) => url)));
  return [...issuers.values()].find((issuer) => !registered.has(issuer.url));
}

/** The member as an object to spread, or nothing if it is unset. */
function pick<T extends object, K extends keyof T>(from: T, key: K): { [P in K]?: Exclude<T[P], undefined> } {
  return from[key] === undefined ? {} : ({ [key]: from[key] } as { [P in K]?: Exclude<T[P], undefined> });
}
