// The text of a world file: one YAML document, read with the place of every value, and safe from texts that explode.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
} from "yaml";
import type { WorldMistake } from "./types.ts";
import type { PlacedMistake, WorldPath } from "./world-place.ts";

/** A parsed text. With `fatal` mistakes there is no value worth reading. */
export interface WorldText {
  readonly value: unknown;
  readonly mistakes: readonly WorldMistake[];
  readonly fatal: boolean;
  /** Gives a mistake its line and column: of the value, of the key, or of what should hold the missing key. */
  locate(mistake: PlacedMistake): WorldMistake;
}

const MAXIMUM_BYTES = 4 * 1024 * 1024;
const MAXIMUM_DEPTH = 64;
/** How many values aliases may repeat: enough for any world made by hand, far from what fills memory. */
const MAXIMUM_REPEATED = 1_000_000;

/** Parses the text of a world file; never throws. */
export function parseWorldText(text: string): WorldText {
  const size = Buffer.byteLength(text);
  if (size > MAXIMUM_BYTES) return refuseWhole(`a world file of at most ${MAXIMUM_BYTES} bytes`, `${size} bytes`);
  if (text.trim() === "") return refuseWhole("a world: a map that begins with version: 1", "an empty file");
  const lines = new LineCounter();
  const documents = parseDocuments(text, lines);
  if (!documents)
    return refuseWhole(`values at most ${MAXIMUM_DEPTH} levels deep`, "a file nested too deeply to be read");
  const deep = documents.some(({ errors }) => errors.some(({ message }) => message.includes("call stack size")));
  if (deep) return refuseWhole(`values at most ${MAXIMUM_DEPTH} levels deep`, "a file nested too deeply to be read");
  const [document, second] = documents;
  if (!document) return refuseWhole("a world: a map that begins with version: 1", "no document");
  const source = new SourceMap(document, lines);
  const syntax = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const mistakes = syntax.map((error) => source.at(error.pos[0], renderSyntaxError(error.code, error.message)));
  if (second) {
    const texts = { expected: "one document", found: `${documents.length} documents` };
    mistakes.push({ ...source.at(second.range[0], texts), path: [] });
  }
  const broken = second !== undefined || syntax.some((error) => error.code !== "DUPLICATE_KEY");
  const shape = broken ? [] : new ShapeCheck(source).check(document);
  const fatal = broken || shape.length > 0;
  // Our own check of aliases was passed by then; the library's counts uses, and a large world uses an anchor often.
  const value = fatal ? undefined : document.toJS({ maxAliasCount: -1 });
  return { value, mistakes: [...mistakes, ...shape], fatal, locate: (mistake) => source.locate(mistake) };
}

function refuseWhole(expected: string, found: string): WorldText {
  const mistakes = [{ path: [], expected, found, line: 1, column: 1 }];
  return { value: undefined, mistakes, fatal: true, locate: ({ path }) => ({ path, expected, found }) };
}

type WorldDocument = Document.Parsed;

function parseDocuments(text: string, lineCounter: LineCounter): WorldDocument[] | undefined {
  try {
    const parsed = parseAllDocuments(text, { lineCounter, prettyErrors: false, stringKeys: true });
    return Array.isArray(parsed) ? parsed : [];
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the parser's recursion ran out of stack
    throw error;
  }
}

/** The parser's words, where there are better ones. */
function renderSyntaxError(code: string, message: string): { expected: string; found: string } {
  if (code === "DUPLICATE_KEY") return { expected: "each key once", found: "a second one of the same name" };
  if (code === "TAB_AS_INDENT") return { expected: "spaces for indentation", found: "a tab" };
  if (code === "TAG_RESOLVE_FAILED") return { expected: "plain YAML without tags of its own", found: message };
  if (code === "NON_STRING_KEY") return { expected: "a plain key", found: "a map, list or alias as a key" };
  return { expected: "YAML", found: message };
}

/** From paths and offsets to lines. */
class SourceMap {
  readonly #document: WorldDocument;
  readonly #lines: LineCounter;

  constructor(document: WorldDocument, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  /** A mistake at an offset of the text; its path is what stands there. */
  at(offset: number, texts: { expected: string; found: string }): WorldMistake {
    return { path: pathAt(this.#document, offset), ...texts, ...this.#position(offset) };
  }

  locate({ path, expected, found, onKey }: PlacedMistake): WorldMistake {
    let node: unknown = this.#document.contents;
    let offset = offsetOf(node);
    let key = offset;
    for (const segment of path) {
      const below = step(resolve(node, this.#document), segment);
      // A missing key is shown where the map that lacks it is named.
      if (!below) return { path, expected, found, ...this.#position(key) };
      node = below.value;
      key = offsetOf(below.key ?? below.value);
      offset = isEmpty(below.value) ? key : (offsetOf(below.value) ?? key);
    }
    return { path, expected, found, ...this.#position(onKey ? key : offset) };
  }

  #position(offset: number | undefined): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset ?? 0);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

/** `key:` with nothing behind it: the place is the key's. */
function isEmpty(node: unknown): boolean {
  return isScalar(node) && node.range !== undefined && node.range !== null && node.range[0] === node.range[1];
}

function isNode(node: unknown): node is Node {
  return isAlias(node) || isScalar(node) || isCollection(node);
}

function resolve(node: unknown, document: WorldDocument): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function step(node: unknown, segment: string | number): { key?: unknown; value: unknown } | undefined {
  if (!isCollection(node)) return undefined;
  if (!isMap(node)) {
    const value = typeof segment === "number" ? node.items[segment] : undefined;
    return value === undefined ? undefined : { value };
  }
  // Of two equal keys the last one counts, here and in the value.
  return node.items.findLast(({ key }) => keyOf(key) === String(segment));
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function pathAt(document: WorldDocument, offset: number): WorldPath {
  const path: (string | number)[] = [];
  let node: unknown = document.contents;
  while (isCollection(node) && path.length < MAXIMUM_DEPTH) {
    const items: readonly unknown[] = node.items;
    const index = items.findLastIndex((item) => (offsetOf(isPair(item) ? item.key : item) ?? Infinity) <= offset);
    const item = items[index];
    if (item === undefined) break;
    path.push(isPair(item) ? keyOf(item.key) : index);
    node = isPair(item) ? item.value : item;
  }
  return path;
}

/** Finds aliases that lead nowhere, into themselves or into too much, and nesting without end. */
class ShapeCheck {
  readonly #source: SourceMap;
  readonly #sizes = new Map<string, number>();
  readonly #mistakes: WorldMistake[] = [];
  #repeated = 0;

  constructor(source: SourceMap) {
    this.#source = source;
  }

  check(document: WorldDocument): readonly WorldMistake[] {
    this.#measure(document.contents, 0);
    return this.#mistakes;
  }

  /** How many values a node stands for, aliases written out. */
  #measure(node: unknown, depth: number): number {
    if (this.#mistakes.length > 0) return 1;
    if (isAlias(node)) return this.#follow(node.source, offsetOf(node) ?? 0);
    if (!isCollection(node)) {
      if (isScalar(node) && node.anchor) this.#sizes.set(node.anchor, 1);
      return 1;
    }
    if (depth > MAXIMUM_DEPTH) {
      this.#refuse(offsetOf(node) ?? 0, `values at most ${MAXIMUM_DEPTH} levels deep`, "a deeper one");
      return 1;
    }
    if (node.anchor) this.#sizes.set(node.anchor, Number.NaN); // open until its end: an alias inside leads to itself
    let size = 1;
    for (const item of node.items) size += this.#measure(isPair(item) ? item.value : item, depth + 1);
    if (node.anchor) this.#sizes.set(node.anchor, size);
    return size;
  }

  #follow(anchor: string, offset: number): number {
    const size = this.#sizes.get(anchor);
    if (size === undefined) this.#refuse(offset, "an anchor that stands before its alias", `*${anchor}`);
    else if (Number.isNaN(size)) this.#refuse(offset, "an alias of something finished", `*${anchor} inside &${anchor}`);
    else this.#repeated += size;
    if (this.#repeated > MAXIMUM_REPEATED) {
      this.#refuse(
        offset,
        `aliases that repeat at most ${MAXIMUM_REPEATED} values`,
        `*${anchor}, with which they repeat more`,
      );
    }
    return size ?? 1;
  }

  #refuse(offset: number, expected: string, found: string): void {
    this.#mistakes.push(this.#source.at(offset, { expected, found }));
  }
}
