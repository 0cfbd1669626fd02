// A value of the world file together with where it stands, so that every mistake can name its place.
import type { WorldMistake } from "./types.ts";

export type WorldPath = readonly (string | number)[];

/** A mistake before its line is known; `onKey` means that the key itself is wrong, not its value. */
export interface PlacedMistake extends WorldMistake {
  readonly onKey: boolean;
}

/** A cursor into the raw value. Mistakes go to one list, which the whole reading shares. */
export class Place {
  readonly value: unknown;
  readonly path: WorldPath;
  readonly #mistakes: PlacedMistake[] | undefined;

  /** Without a list, mistakes are dropped: what stands under a value that was refused already. */
  constructor(value: unknown, path: WorldPath, mistakes: PlacedMistake[] | undefined) {
    this.value = value;
    this.path = path;
    this.#mistakes = mistakes;
  }

  /** The place below; its value is undefined where there is none. */
  at(key: string | number): Place {
    return new Place(childOf(this.value, key), [...this.path, key], this.#mistakes);
  }

  /** The same value, from here on without complaints. */
  silent(): Place {
    return new Place(undefined, this.path, undefined);
  }

  /** Notes that the value here is wrong. */
  refuse(expected: string, found: string = describe(this.value)): void {
    this.#mistakes?.push({ path: this.path, expected, found, onKey: false });
  }

  /** Notes that the key that leads here is wrong. */
  refuseKey(expected: string, found: string): void {
    this.#mistakes?.push({ path: this.path, expected, found, onKey: true });
  }
}

/** Notes a problem that a room found inside a document, in the words of that room. */
export function refuseProblem(document: Place, path: WorldPath, message: string): void {
  const at = path.reduce<Place>((below, key) => below.at(key), document);
  const [, expected, found] = /^(?:.*?\b)?expected (.+?), found (.+)$/s.exec(message) ?? [];
  if (message.startsWith("unknown field")) at.refuseKey("no such key", `the ${message}`);
  else
    at.refuse(
      expected ?? `a valid value (${message})`,
      found ?? (isSecret(path) ? hide(at.value) : describe(at.value)),
    );
}

/** The contents of a Secret. */
function isSecret(path: WorldPath): boolean {
  return path.some((key) => key === "data" || key === "stringData");
}

function hide(value: unknown): string {
  return value === undefined ? "nothing" : "a value that is not shown";
}

/** True for what YAML and JSON call a map or object. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The value under a key of a map or an index of a list, else undefined. */
export function childOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

const SHOWN_CHARACTERS = 80;

/** What stands at a place, short enough for one line. Not for secrets. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "an empty value";
  if (typeof value === "string") return clip(JSON.stringify(value));
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object") return "a map";
  return clip(`the ${typeof value} ${String(value)}`);
}

function clip(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
