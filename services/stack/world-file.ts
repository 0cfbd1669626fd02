// A world out of the text of a world file. Loads the YAML parser, so it is imported only where a file is read.
import type { World, WorldMistake } from "./types.ts";
import type { WorldChecks } from "./world-context.ts";
import { WorldError } from "./world-error.ts";
import { readWorld } from "./world-schema.ts";
import { parseWorldText } from "./world-text.ts";
import { isMap } from "./world-value.ts";

/**
 * Reads a world from YAML (or JSON) text.
 * @param file what to call it in messages
 * @throws WorldError listing every mistake with line and column, in the order of the file
 */
export function parseWorld(text: string, file: string, checks: WorldChecks = {}): World {
  const parsed = parseWorldText(text);
  if (parsed.fatal) throw new WorldError(file, inOrder(parsed.mistakes));
  if (!isMap(parsed.value)) {
    const whole = { path: [], expected: "a world: a map that begins with version: 1", onKey: false };
    const found = Array.isArray(parsed.value) ? "a list" : `a ${typeof parsed.value}`;
    throw new WorldError(file, [parsed.locate({ ...whole, found })]);
  }
  const { world, mistakes } = readWorld(parsed.value, file, checks);
  const all = [...parsed.mistakes, ...mistakes.map((mistake) => parsed.locate(mistake))];
  if (all.length > 0) throw new WorldError(file, inOrder(all));
  return world;
}

/** By place; what an anchor repeats is one mistake, not one for each alias. */
function inOrder(mistakes: readonly WorldMistake[]): WorldMistake[] {
  const seen = new Set<string>();
  const once = mistakes.filter(({ line, column, expected, found }) => {
    const identity = [line, column, expected, found].join("\n");
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
  return once.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
