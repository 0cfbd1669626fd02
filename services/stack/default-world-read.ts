// The default world, read. The build puts the value in this file's place, so that a published stack starts with it at once.
import { DEFAULT_WORLD } from "./default-world.ts";
import type { World } from "./types.ts";
import { parseWorldObject } from "./world.ts";

/** A new value each time. Its policies and manifests are checked by tests, once for all. */
export function readDefaultWorld(): World {
  return parseWorldObject(DEFAULT_WORLD, {}, "default world");
}
