// Wildcards and policy variables: does this text match that pattern? (spec aws 3.1, 3.3)
// What a variable brings in is always literal text: a tag value `*` must not match everything.

/** The single value of a context key, by its lower-case name; undefined where the key is absent or has several values. */
export type VariableLookup = (key: string) => string | undefined;

/** A pattern ready to be compared; `wildcards` marks which characters of `text` are wildcards. */
interface Glob {
  readonly text: string;
  readonly wildcards?: Uint8Array;
}

const STAR = 42;
const QUESTION = 63;
/** `${key}`, `${key, 'default'}`, `${*}`, `${?}`, `${$}`. */
const VARIABLE = /\$\{([^{}]*)\}/g;
const WITH_DEFAULT = /^([^,']+?)\s*,\s*'([^']*)'$/;

/** True if `text` as a whole matches `pattern` with `*` (any run) and `?` (one character). */
export function matchesWildcard(text: string, pattern: string): boolean {
  return matchesGlob(text, { text: pattern });
}

/** As {@link matchesWildcard}; variables are filled in first, and one without value matches nothing. */
export function matchesTemplate(text: string, template: string, lookup: VariableLookup | undefined): boolean {
  const glob = expand(template, lookup);
  return glob !== undefined && matchesGlob(text, glob);
}

/** The text that a template stands for where wildcards mean themselves; undefined if a variable has no value. */
export function fillTemplate(template: string, lookup: VariableLookup | undefined): string | undefined {
  return expand(template, lookup)?.text;
}

/** Undefined where a variable has no value. Without lookup (documents before 2012) `${…}` is plain text. */
function expand(template: string, lookup: VariableLookup | undefined): Glob | undefined {
  if (!lookup || !template.includes("${")) return { text: template };
  const pieces: { text: string; literal: boolean }[] = [];
  let end = 0;
  for (const match of template.matchAll(VARIABLE)) {
    const value = resolveVariable(match[1] ?? "", lookup);
    if (value === undefined) return undefined;
    pieces.push({ text: template.slice(end, match.index), literal: false }, { text: value, literal: true });
    end = match.index + match[0].length;
  }
  pieces.push({ text: template.slice(end), literal: false });
  const text = pieces.map((piece) => piece.text).join("");
  const wildcards = new Uint8Array(text.length);
  let at = 0;
  for (const piece of pieces) {
    for (let index = 0; index < piece.text.length; index++, at++) {
      if (!piece.literal) wildcards[at] = wildcardCode(piece.text.charCodeAt(index));
    }
  }
  return { text, wildcards };
}

function resolveVariable(variable: string, lookup: VariableLookup): string | undefined {
  if (variable === "*" || variable === "?" || variable === "$") return variable;
  const parts = WITH_DEFAULT.exec(variable);
  return parts ? (lookup((parts[1] ?? "").toLowerCase()) ?? parts[2]) : lookup(variable.trim().toLowerCase());
}

function wildcardCode(code: number): number {
  return code === STAR || code === QUESTION ? code : 0;
}

/** Two pointers and one place to return to: never worse than length × length, whatever the pattern. */
function matchesGlob(text: string, glob: Glob): boolean {
  const { text: pattern, wildcards } = glob;
  const wildcardAt = (index: number) => (wildcards ? (wildcards[index] ?? 0) : wildcardCode(pattern.charCodeAt(index)));
  let [at, from] = [0, 0];
  let [starAt, retryFrom] = [-1, 0];
  while (from < text.length) {
    const wildcard = at < pattern.length ? wildcardAt(at) : 0;
    if (wildcard === STAR) {
      starAt = at++;
      retryFrom = from;
    } else if (at < pattern.length && (wildcard === QUESTION || pattern.charCodeAt(at) === text.charCodeAt(from))) {
      at++;
      from++;
    } else if (starAt >= 0) {
      at = starAt + 1;
      from = ++retryFrom;
    } else return false;
  }
  while (at < pattern.length && wildcardAt(at) === STAR) at++;
  return at === pattern.length;
}

/** Why the variables of a template cannot be read; undefined if they can. */
export function findTemplateProblem(template: string): string | undefined {
  for (const match of template.matchAll(VARIABLE)) {
    const inner = match[1] ?? "";
    const key = WITH_DEFAULT.exec(inner)?.[1] ?? inner.trim();
    if (!/^[*?$]$|^[^\s*?$,']+:[^*?$,']+$/.test(key))
      return `expected a policy variable like \${aws:username}, found "${match[0]}"`;
  }
  const rest = template.replace(VARIABLE, "");
  return rest.includes("${") ? `expected every policy variable to be closed, found "${template}"` : undefined;
}
