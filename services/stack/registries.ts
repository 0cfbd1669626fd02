// The registries of a world: one per account and region behind ECR, and the plain ones.
import type { Ecr, RepositoryContents, RepositoryKey } from "../ecr/index.ts";
import type { RuntimeImage } from "../kubelet/index.ts";
import {
  type Authorizer,
  createMemoryStore,
  createPlainAuth,
  createRegistry,
  createSeedImage,
  type PlainAuth,
  type Registry,
} from "../registry/index.ts";
import { parseEcrHost, renderEcrHost } from "../shared/aws/registry-host.ts";
import type { Clock } from "../shared/clock.ts";
import { ConfigurationError } from "../shared/errors.ts";
import type { Random } from "../shared/random.ts";
import type { World, WorldImage, WorldRegistry } from "./types.ts";

export interface RegistriesDeps {
  readonly world: World;
  readonly clock: Clock;
  readonly random: Random;
  readonly ecr: Ecr;
  /** Puts something else in an authorizer's place: for tests that must see the demo fail. */
  readonly replaceAuthorizer?: (host: string, authorizer: Authorizer) => Authorizer;
}

/** All registries, by host. */
export interface Registries {
  find(host: string): Registry | undefined;
  list(): readonly Registry[];
  /** What ECR must know of its registries' content. */
  readonly contents: RepositoryContents;
  /** Access rules of a plain registry, by the world's name for it. */
  plain(name: string): PlainAuth | undefined;
  /** An image as a runtime that has it would list it. @throws ConfigurationError if no registry of the world has it */
  describeImage(image: string): Promise<RuntimeImage>;
  reset(): void;
}

export function createRegistries(deps: RegistriesDeps): Registries {
  const byHost = new Map<string, Registry>();
  const plain = new Map<string, PlainAuth>();
  for (const definition of deps.world.registries) {
    const auth = createPlainAuth(definition);
    plain.set(definition.name, auth);
    byHost.set(definition.host.toLowerCase(), createPlainRegistry(deps, definition, auth));
  }
  for (const registry of createEcrRegistries(deps)) byHost.set(registry.host, registry);
  const find = (host: string) => byHost.get(host.toLowerCase()) ?? byHost.get(canonicalHost(host.toLowerCase()));
  const ofKey = (key: RepositoryKey) => byHost.get(renderEcrHost(key));
  return {
    find,
    list: () => [...byHost.values()],
    contents: {
      hasImages: (key) => hasImages(ofKey(key), key.name),
      clear: (key) => void ofKey(key)?.removeRepository(key.name),
    },
    plain: (name) => plain.get(name),
    describeImage: (image) => describeImage(image, find),
    reset() {
      for (const auth of plain.values()) auth.reset();
      for (const registry of byHost.values()) registry.reset();
    },
  };
}

/** A repository whose seeds are not planted yet answers with a promise: it has images. */
function hasImages(registry: Registry | undefined, repository: string): boolean {
  const content = registry?.open(repository);
  return content instanceof Promise || (content !== undefined && content.tags().length > 0);
}

/** `dkr-ecr`, FIPS and dual-stack names of a private registry are names of the same registry. */
function canonicalHost(host: string): string {
  const ecr = parseEcrHost(host);
  return ecr ? renderEcrHost(ecr) : host;
}

function createPlainRegistry(deps: RegistriesDeps, definition: WorldRegistry, auth: PlainAuth): Registry {
  const registry = createRegistry({
    name: definition.name,
    host: definition.host,
    profile: "oci",
    authenticator: auth.authenticator,
    authorizer: auth.authorizer,
    directory: auth.directory,
    store: createMemoryStore(),
    clock: deps.clock,
    random: deps.random,
  });
  for (const [name, { images }] of Object.entries(definition.repositories)) seed(registry, name, images);
  return registry;
}

function createEcrRegistries(deps: RegistriesDeps): readonly Registry[] {
  return deps.world.accounts.flatMap((account) =>
    account.regions.map((region) => {
      const host = renderEcrHost({ account: account.id, region });
      const auth = deps.ecr.registryAuth({ account: account.id, region });
      const registry = createRegistry({
        name: host,
        host,
        profile: "ecr",
        authenticator: auth.authenticator,
        authorizer: deps.replaceAuthorizer?.(host, auth.authorizer) ?? auth.authorizer,
        directory: auth.directory,
        store: createMemoryStore(),
        clock: deps.clock,
        random: deps.random,
        options: { ecrQuirks: deps.world.switches.ecrQuirks },
      });
      for (const [name, repository] of Object.entries(account.repositories)) {
        if (repository.region === region) seed(registry, name, repository.images);
      }
      return registry;
    }),
  );
}

function seed(registry: Registry, repository: string, images: readonly WorldImage[]): void {
  for (const { tag, ...image } of images) registry.seedImage(repository, tag, createSeedImage(image));
}

async function describeImage(image: string, find: (host: string) => Registry | undefined): Promise<RuntimeImage> {
  const [, host = "", repository = "", tag = "latest"] = /^([^/]+)\/([^:@]+)(?::([^@]+))?$/.exec(image) ?? [];
  const content = await find(host)?.open(repository);
  const digest = content?.findTag(tag);
  const manifest = digest === undefined ? undefined : content?.findManifest(digest);
  if (!content || digest === undefined || !manifest) {
    throw new ConfigurationError(`preloaded image ${image}: expected an image of this world's registries, found none`);
  }
  const { config, layers = [] } = JSON.parse(manifest.bytes.toString("utf8")) as {
    config?: { digest: string; size: number };
    layers?: readonly { size: number }[];
  };
  if (!config) throw new ConfigurationError(`preloaded image ${image}: expected an image manifest, found an index`);
  const size = layers.reduce((sum, layer) => sum + layer.size, config.size + manifest.bytes.length);
  const name = `${host}/${repository}`;
  return { imageRef: config.digest, size, repoTags: [`${name}:${tag}`], repoDigests: [`${name}@${digest}`] };
}
