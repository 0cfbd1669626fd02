// A value of the world file together with where it stands, so that every mistake can name its place.
import type { WorldMistake } from "./types.ts";
import { childOf, describe } from "./world-value.ts";

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

/** Reads the value at a place, or notes a mistake there and returns a stand-in. */
export type Reader<T> = (place: Place) => T;
