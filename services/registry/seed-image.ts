// Images without Docker: named seeds that a registry can be filled with. Nothing is built before it is asked for.
import { ConfigurationError } from "../shared/errors.ts";
import { type BuiltImage, SEEDS } from "./core/seeds.ts";

export type SeedName = keyof typeof SEEDS;

export interface SeedOptions {
  readonly seed: string;
  /** Size of the layer of `big` (4). */
  readonly sizeMiB?: number;
}

/** An image to be built where it is put. */
export interface SeedImage {
  readonly seed: SeedName;
  /** @param identity `<host>/<repository>:<tag>`; layers and configs differ for different ones (but for `same`) */
  build(identity: string): BuiltImage;
}

/** The names of all seeds, for checking a world. */
export const SEED_NAMES = Object.keys(SEEDS) as [SeedName, ...SeedName[]];

/**
 * A seed by name.
 * @throws ConfigurationError for a name that is not in the catalogue or a size that is no whole number from 1 to 4096
 */
export function createSeedImage(options: SeedOptions): SeedImage {
  const { seed, sizeMiB = 4 } = options;
  if (!isSeedName(seed)) {
    throw new ConfigurationError(`expected a seed (${SEED_NAMES.join(", ")}), found ${JSON.stringify(seed)}`);
  }
  if (!Number.isInteger(sizeMiB) || sizeMiB < 1 || sizeMiB > 4096) {
    throw new ConfigurationError(`expected sizeMiB to be a whole number from 1 to 4096, found ${sizeMiB}`);
  }
  return { seed, build: (identity) => SEEDS[seed]({ identity, sizeMiB }) };
}

function isSeedName(seed: string): seed is SeedName {
  return Object.hasOwn(SEEDS, seed);
}
