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
import { createUuid, type Random } from "../shared/random.ts";
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

export async function createRooms(deps: RoomsDeps): Promise<Rooms> {
  const { world, clock, random, dialer } = deps;
  const issuers = createIssuers(deps);
  const clusterIssuer = issuers.get(world.cluster.issuer);
  if (!clusterIssuer)
    throw new ConfigurationError(
      `cluster.issuer ${world.cluster.issuer}: expected an issuer whose key this stack holds`,
    );
  const iam = createIam({ accounts: world.accounts.map((account) => account.iam), random, clock });
  const sealer = createSealer(deps.sealingKey, random);
  const { httpIssuers, verifyThumbprints } = world.switches;
  const sts = createSts({
    iam,
    clock,
    random,
    sealer,
    dialer,
    options: { httpIssuers, verifyThumbprints, defaultRegion: world.region },
  });
  const registries = createRegistries({ world, clock, random, ...pick(deps.options, "replaceAuthorizer") });
  const ecr = createEcr({
    iam,
    sealer,
    clock,
    random,
    accounts: world.accounts,
    defaultRegion: world.region,
    autoCreateRepositories: world.switches.autoCreateRepositories,
    contents: registries.contents,
  });
  registries.connect(ecr);
  const api = createApiClient(dialer, deps.controlKey);
  const unregisteredIssuer = findUnregistered(world, issuers);
  const tokens = createTokenMinter({ issuers, clusterIssuer, unregisteredIssuer, api, clock, random });
  const apiServer = createApiServer({
    objects: world.cluster.objects,
    nodes: world.cluster.nodes.map(({ name }) => name),
    issuer: clusterIssuer,
    clock,
    random,
    adminToken: deps.controlKey,
  });
  const nodes = createStackNodes(deps, { apiServer, api, sts, registries, tokens });
  const parts = { issuers, iam, sts, ecr, apiServer, registries, nodes, tokens, api };
  return { ...parts, ...createChanges(parts) };
}

type Parts = Omit<Rooms, "rotateKey" | "putRepositoryAccess" | "reset">;

function createChanges(parts: Parts): Pick<Rooms, "rotateKey" | "putRepositoryAccess" | "reset"> {
  return {
    async rotateKey(name, { alg, keepOld }) {
      if (alg !== undefined && !isSigningAlg(alg))
        throw new ControlError("BadRequest", `expected alg as a signing algorithm of JWTs, found "${alg}"`);
      return parts.issuers.get(name)?.rotate(alg === undefined ? { keepOld } : { alg, keepOld });
    },
    putRepositoryAccess(name, repository, access) {
      const registry = parts.registries.plain(name);
      registry?.setRepository(repository, parseRepositoryAccess(access));
      return registry !== undefined;
    },
    async reset() {
      await parts.nodes.reset();
      for (const issuer of parts.issuers.values()) issuer.reset();
      parts.iam.reset();
      parts.sts.reset();
      parts.ecr.reset();
      parts.registries.reset();
      parts.apiServer.reset();
    },
  };
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
