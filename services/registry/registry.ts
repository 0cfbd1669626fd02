// One registry: its profile, who is asked about callers and repositories, and its content with the images it is seeded
// with. Seeds are built when their repository is first looked at, so that starting costs nothing.
import type { Clock } from "../shared/clock.ts";
import type { Random } from "../shared/random.ts";
import { type Profile, type ProfileName, resolveProfile } from "./core/profile.ts";
import type { SeedImage } from "./seed-image.ts";
import type { RegistryStore, RepositoryContent } from "./store.ts";
import type { Authenticator, Authorizer, Awaitable, RepositoryDirectory } from "./types.ts";

/** What may be changed per registry; the values in brackets are the defaults. */
export interface RegistryOptions {
  /** Answer with ECR's oddities (true; matters for the profile `ecr` only). */
  readonly ecrQuirks?: boolean;
  /** How texts name the registry (the first label of its host). */
  readonly registryId?: string;
  /** Largest manifest in bytes (4 MiB). */
  readonly maxManifestBytes?: number;
  /** Refuse manifests whose descriptors give a wrong size (true). */
  readonly verifySizes?: boolean;
  /** Accept indexes whose children are missing (false). */
  readonly sparseIndexes?: boolean;
  /** Accept manifests of other media types, unchecked (false). */
  readonly allowUnknownManifests?: boolean;
  /** How several ranges are answered (`multipart`). */
  readonly multiRange?: "multipart" | "400" | "200";
  /** Whether anything, and whether single tags, can be deleted over HTTP (true, true). */
  readonly deletes?: boolean;
  readonly tagDelete?: boolean;
  /** Serve the referrers API (true). */
  readonly referrersApi?: boolean;
  /** An idle upload session ends after this many seconds (3600). */
  readonly uploadTtlSeconds?: number;
  /** Open upload sessions per repository (1000). */
  readonly maxUploadsPerRepository?: number;
}

export interface RegistryDefinition {
  /** As the world and events name it. */
  readonly name: string;
  /** Host name without port. */
  readonly host: string;
  readonly profile: ProfileName;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly directory: RepositoryDirectory;
  readonly store: RegistryStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly options?: RegistryOptions;
}

/** A registry as the router serves it. */
export interface Registry extends Omit<RegistryDefinition, "profile" | "options"> {
  readonly profile: Profile;
  readonly options: Required<RegistryOptions>;
  /** Puts an image under a tag; the repository itself must exist in the directory. Survives {@link Registry.reset}. */
  seedImage(repository: string, tag: string, image: SeedImage): void;
  /** The content of a repository, made if need be. Ask the directory first whether the repository exists. */
  open(repository: string): Awaitable<RepositoryContent>;
  /** Names of repositories that have content or seeds, in byte order. */
  names(): Promise<readonly string[]>;
  /** Call when a repository is deleted: its content and uploads are gone, also if it is created anew. */
  removeRepository(repository: string): Awaitable<void>;
  /** Back to the seeds: pushes, deletions and uploads are forgotten. */
  reset(): void;
}

const DEFAULTS = {
  ecrQuirks: true,
  maxManifestBytes: 4 * 1024 * 1024,
  verifySizes: true,
  sparseIndexes: false,
  allowUnknownManifests: false,
  multiRange: "multipart",
  deletes: true,
  tagDelete: true,
  referrersApi: true,
  uploadTtlSeconds: 3600,
  maxUploadsPerRepository: 1000,
} as const;

/** Creates a registry. Nothing is read, built or listened to yet. */
export function createRegistry(definition: RegistryDefinition): Registry {
  const host = definition.host.toLowerCase();
  const options = { ...DEFAULTS, registryId: host.split(".")[0] ?? host, ...definition.options };
  const seeds = new Seeds(definition.store, host);
  return {
    ...definition,
    host,
    options,
    profile: resolveProfile(definition.profile, options.ecrQuirks),
    seedImage: (repository, tag, image) => seeds.add(repository, { tag, image }),
    open: (repository) => seeds.planting(repository) ?? definition.store.open(repository),
    names: async () => [...new Set([...(await definition.store.names()), ...seeds.waiting()])].sort(),
    removeRepository: (repository) => {
      seeds.forget(repository);
      return definition.store.drop(repository);
    },
    reset: () => {
      definition.store.clear();
      seeds.reset();
    },
  };
}

interface Seed {
  readonly tag: string;
  readonly image: SeedImage;
}

interface Plot {
  readonly images: readonly Seed[];
  planted?: Promise<RepositoryContent>;
}

/** The images that wait for their repository to be looked at. */
class Seeds {
  readonly #store: RegistryStore;
  readonly #host: string;
  readonly #all = new Map<string, Seed[]>();
  readonly #waiting = new Map<string, Plot>();

  constructor(store: RegistryStore, host: string) {
    this.#store = store;
    this.#host = host;
  }

  add(repository: string, image: Seed): void {
    const images = [...(this.#all.get(repository) ?? []), image];
    this.#all.set(repository, images);
    const waiting = this.#waiting.get(repository)?.images ?? [];
    this.#waiting.set(repository, { images: [...waiting, image] });
  }

  waiting(): Iterable<string> {
    return this.#waiting.keys();
  }

  forget(repository: string): void {
    this.#waiting.delete(repository);
  }

  reset(): void {
    this.#waiting.clear();
    for (const [repository, images] of this.#all) this.#waiting.set(repository, { images });
  }

  /** The repository with its seeds, or undefined if none are waiting. Everyone who comes meanwhile waits as well. */
  planting(repository: string): Promise<RepositoryContent> | undefined {
    const plot = this.#waiting.get(repository);
    if (!plot) return undefined;
    plot.planted ??= this.#plant(repository, plot);
    return plot.planted;
  }

  async #plant(repository: string, plot: Plot): Promise<RepositoryContent> {
    const content = await this.#store.open(repository);
    for (const { tag, image } of plot.images) {
      const built = image.build(`${this.#host}/${repository}:${tag}`);
      for (const { digest, chunks } of built.blobs) await content.linkBlob(await this.#store.addBlob(digest, chunks));
      for (const { manifest, tagged } of built.manifests) {
        await content.putManifest(manifest, tagged ? [tag] : [], false);
      }
    }
    if (this.#waiting.get(repository) === plot) this.#waiting.delete(repository);
    return content;
  }
}
