// How a wrong world is reported: every mistake at once, each on a line of its own.
import { ConfigurationError } from "../shared/errors.ts";
import type { WorldMistake } from "./types.ts";

/** A world that cannot be used. The message names file, line, column, path, expected and found of every mistake. */
export class WorldError extends ConfigurationError {
  readonly source: string;
  readonly mistakes: readonly WorldMistake[];

  constructor(source: string, mistakes: readonly WorldMistake[]) {
    const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
    super([`${source}: ${count}`, ...mistakes.map((mistake) => renderMistake(source, mistake))].join("\n  "));
    this.name = "WorldError";
    this.source = source;
    this.mistakes = mistakes;
  }
}

/** `pullproof.yaml:12:5: accounts["111122223333"].roles: expected a map, found nothing` */
export function renderMistake(source: string, mistake: WorldMistake): string {
  const { line, column, path, expected, found } = mistake;
  const place = line === undefined ? source : `${source}:${line}:${column}`;
  return [place, ...(path.length > 0 ? [renderPath(path)] : []), `expected ${expected}, found ${found}`].join(": ");
}

function renderPath(path: readonly (string | number)[]): string {
  const parts = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return parts.join("").replace(/^\./, "");
}
