// A world out of a value that is already parsed (tests, the default world), and what its tenants intend.
// Must not load a YAML parser: the default world starts without one.
import type { World } from "./types.ts";
import type { WorldChecks } from "./world-context.ts";
import { WorldError } from "./world-error.ts";
import { readWorld } from "./world-schema.ts";

/**
 * Reads a world given as an object.
 * @param source what to call it in messages
 * @throws WorldError listing every mistake
 */
export function parseWorldObject(value: unknown, checks: WorldChecks = {}, source = "world object"): World {
  const { world, mistakes } = readWorld(value, source, checks);
  if (mistakes.length === 0) return world;
  const listed = mistakes.map(({ path, expected, found }) => ({ path, expected, found }));
  throw new WorldError(source, listed);
}

/**
 * Whether the tenants of a world mean this namespace to use this image. A namespace of a tenant is meant to use what
 * its tenants list; a namespace of nobody what nobody lists. A world without tenants states no intent: everything is meant.
 * @param image a reference; its tag and digest do not matter
 */
export function isIntended(world: World, namespace: string, image: string): boolean {
  if (world.tenants.length === 0) return true;
  const name = image.replace(/@.*$/s, "").replace(/:[^/:]*$/, "");
  const owners = world.tenants.filter((tenant) => tenant.namespaces.includes(namespace));
  const listing = (owners.length > 0 ? owners : world.tenants).some(({ images }) =>
    images.some((pattern) => isMatch(pattern, name)),
  );
  return owners.length > 0 ? listing : !listing;
}

function isMatch(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
