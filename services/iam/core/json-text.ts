// Reads JSON text more strictly than JSON.parse: a key given twice would silently drop a part of a policy.

/**
 * The value of a JSON text.
 * @throws SyntaxError for invalid JSON and for an object with the same key twice.
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const twice = findRepeatedKey(text);
  if (twice !== undefined) throw new SyntaxError(`expected each key once, found "${twice}" again`);
  return value;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** The text is known to be JSON, so its tokens are enough. */
function findRepeatedKey(text: string): string | undefined {
  const seen: Set<string>[] = [];
  let last: string | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") seen.push(new Set());
    else if (token === "}" || token === "]") seen.pop();
    else if (token === ":" && last !== undefined) {
      const key = String(JSON.parse(last));
      const keys = seen.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
    last = token.startsWith('"') ? token : undefined;
  }
  return undefined;
}
