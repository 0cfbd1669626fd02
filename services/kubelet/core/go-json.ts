// JSON as Go's decoder reads it: its error texts, and duplicate keys noticed, which JSON.parse hides.

/** A parsed document and the paths of keys that occurred twice. */
export interface GoJsonDocument {
  readonly value: unknown;
  readonly duplicates: readonly string[];
}

/** A syntax error with the text of Go's encoding/json. */
export class GoJsonError extends Error {}

/** Go stops at 10 000; a fifth of that stays within our own stack. */
const MAX_DEPTH = 2000;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * Parses one JSON text.
 * @throws GoJsonError
 */
export function parseGoJson(text: string): GoJsonDocument {
  const reader = new Reader(text);
  const value = reader.value("", 0);
  reader.end();
  return { value, duplicates: reader.duplicates };
}

const LITERALS: Readonly<Record<string, readonly [string, unknown]>> = {
  t: ["true", true],
  f: ["false", false],
  n: ["null", null],
};

class Reader {
  readonly duplicates: string[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(path: string, depth: number): unknown {
    if (depth > MAX_DEPTH) throw new GoJsonError("exceeded max depth");
    const character = this.#next();
    if (character === "{") return this.#object(path, depth);
    if (character === "[") return this.#array(path, depth);
    if (character === '"') return this.#string();
    if (/[-0-9]/.test(character)) return this.#number(character);
    const literal = LITERALS[character];
    if (!literal) throw this.#bad(character, "looking for beginning of value");
    return this.#literal(literal[0], literal[1]);
  }

  end(): void {
    this.#skipBlanks();
    const rest = this.#text.codePointAt(this.#at);
    if (rest !== undefined) throw this.#bad(String.fromCodePoint(rest), "after top-level value");
  }

  #object(path: string, depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    if (this.#peek() === "}") return this.#close({});
    for (;;) {
      const quote = this.#next();
      if (quote !== '"') throw this.#bad(quote, "looking for beginning of object key string");
      const key = this.#string();
      const colon = this.#next();
      if (colon !== ":") throw this.#bad(colon, "after object key");
      const inner = path === "" ? key : `${path}.${key}`;
      if (entries.has(key)) this.duplicates.push(inner);
      entries.set(key, this.value(inner, depth + 1));
      const after = this.#next();
      if (after === "}") return Object.fromEntries(entries);
      if (after !== ",") throw this.#bad(after, "after object key:value pair");
    }
  }

  #array(path: string, depth: number): unknown[] {
    const items: unknown[] = [];
    if (this.#peek() === "]") return this.#close(items);
    for (;;) {
      items.push(this.value(`${path}[${items.length}]`, depth + 1));
      const after = this.#next();
      if (after === "]") return items;
      if (after !== ",") throw this.#bad(after, "after array element");
    }
  }

  #string(): string {
    const start = this.#at;
    for (;;) {
      const character = this.#take();
      if (character === '"') return JSON.parse(`"${this.#text.slice(start, this.#at - 1)}"`);
      if (character < " ") throw this.#bad(character, "in string literal");
      if (character === "\\") this.#escape();
    }
  }

  #escape(): void {
    const character = this.#take();
    if (character === "u") {
      for (let i = 0; i < 4; i++) {
        const digit = this.#take();
        if (!/[0-9a-fA-F]/.test(digit)) throw this.#bad(digit, "in \\u hexadecimal character escape");
      }
    } else if (!/["\\/bfnrt]/.test(character)) throw this.#bad(character, "in string escape code");
  }

  #number(first: string): number {
    NUMBER.lastIndex = this.#at - 1;
    const match = NUMBER.exec(this.#text);
    if (!match) {
      if (this.#at >= this.#text.length) throw new GoJsonError("unexpected end of JSON input");
      throw this.#bad(this.#text.charAt(this.#at) || first, "in numeric literal");
    }
    this.#at += match[0].length - 1;
    return Number(match[0]);
  }

  #literal(word: string, value: unknown): unknown {
    for (const expected of word.slice(1)) {
      const found = this.#take();
      if (found !== expected) throw this.#bad(found, `in literal ${word} (expecting '${expected}')`);
    }
    return value;
  }

  #close<T>(value: T): T {
    this.#skipBlanks();
    this.#at++;
    return value;
  }

  #peek(): string {
    this.#skipBlanks();
    return this.#text.charAt(this.#at);
  }

  #next(): string {
    this.#skipBlanks();
    return this.#take();
  }

  #take(): string {
    const character = this.#text.charAt(this.#at);
    if (character === "") throw new GoJsonError("unexpected end of JSON input");
    this.#at++;
    return character;
  }

  #skipBlanks(): void {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  #bad(character: string, where: string): GoJsonError {
    const shown =
      character === "'" ? "'\\''" : character === '"' ? "'\"'" : `'${JSON.stringify(character).slice(1, -1)}'`;
    return new GoJsonError(`invalid character ${shown} ${where}`);
  }
}

/** Go's json.Marshal writes these as escapes. */
export function escapeHtml(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
