// The names that a world's stack answers for, without starting one: aliases of a container, entries of a hosts file.
import { createHostTable } from "./hosts.ts";
import type { World } from "./types.ts";

/** Every exact host name, in lower case; names of the API server inside a cluster that have no dot are left out. */
export function listHostNames(world: World): readonly string[] {
  return createHostTable(world)
    .names()
    .filter((name) => name.includes("."));
}
