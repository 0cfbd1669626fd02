// Policy documents: JSON in, a parsed policy or every mistake at once out (spec aws 3.1).
// Whatever the evaluator does not know is refused here already.
import { IamError, type PolicyProblem } from "../errors.ts";
import type { Policy, PolicyKind, Statement } from "../types.ts";
import { readActions, readConditions, readPrincipals, readResources } from "./elements.ts";
import { parseJsonText } from "./json-text.ts";
import { type ElementReader, renderFound } from "./reader.ts";

/**
 * Parses a document (a value or JSON text) as a policy of this kind; `name` is what reasons call it.
 * @throws IamError MalformedPolicyDocument naming path, expected and found of every mistake.
 */
export function parsePolicy(kind: PolicyKind, name: string, document: unknown): Policy {
  const problems: PolicyProblem[] = [];
  const policy = readDocument({ kind, name, problems }, document);
  if (policy && problems.length === 0) return policy;
  const text = problems.map(({ path, message }) => `${renderPath(path)}: ${message}`).join("; ");
  throw new IamError("MalformedPolicyDocument", `${name}: ${text}`, problems);
}

/** Every mistake of a document; empty if it is a policy of this kind. */
export function listPolicyProblems(kind: PolicyKind, document: unknown): readonly PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  readDocument({ kind, name: "", problems }, document);
  return problems;
}

/** `Statement[0].Condition.StringEquals`; the document itself for an empty path. */
function renderPath(path: PolicyProblem["path"]): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return text === "" ? "document" : text.replace(/^\./, "");
}

interface DocumentReader {
  readonly kind: PolicyKind;
  readonly name: string;
  readonly problems: PolicyProblem[];
}

const DOCUMENT_ELEMENTS = ["Version", "Id", "Statement"];
const STATEMENT_ELEMENTS = [
  "Sid",
  "Effect",
  "Principal",
  "NotPrincipal",
  "Action",
  "NotAction",
  "Resource",
  "NotResource",
  "Condition",
];

function readDocument({ kind, name, problems }: DocumentReader, document: unknown): Policy | undefined {
  const report = (path: PolicyProblem["path"], message: string) => void problems.push({ path, message });
  let root = document;
  if (typeof document === "string") {
    try {
      root = parseJsonText(document);
    } catch (error) {
      report([], `expected JSON: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
  if (!isRecord(root)) {
    report([], `expected a policy document (an object), found ${renderFound(root)}`);
    return undefined;
  }
  checkElements({ record: root, known: DOCUMENT_ELEMENTS, path: [], report });
  const version = root.Version ?? "2008-10-17";
  if (version !== "2012-10-17" && version !== "2008-10-17") {
    report(["Version"], `expected "2012-10-17" or "2008-10-17", found ${renderFound(version)}`);
    return undefined;
  }
  const id = root.Id;
  if (id !== undefined && typeof id !== "string") report(["Id"], `expected a string, found ${renderFound(id)}`);
  const reader = { kind, report, variables: version === "2012-10-17" };
  const statements = readStatements(reader, root.Statement);
  return { kind, name, version, ...(typeof id === "string" ? { id } : {}), statements };
}

function readStatements(reader: ElementReader, value: unknown): readonly Statement[] {
  if (!Array.isArray(value) && !isRecord(value)) {
    reader.report(["Statement"], `expected a statement or a list of statements, found ${renderFound(value)}`);
    return [];
  }
  const one = !Array.isArray(value);
  const items: readonly unknown[] = one ? [value] : value;
  const statements = items.map((item, index) =>
    readStatement(reader, { item, index, path: one ? ["Statement"] : ["Statement", index] }),
  );
  const ids = new Set<string>();
  for (const [index, statement] of statements.entries()) {
    if (statement && ids.has(statement.id)) {
      reader.report(
        ["Statement", index, "Sid"],
        `expected a Sid that is unique in the document, found "${statement.id}" again`,
      );
    }
    if (statement) ids.add(statement.id);
  }
  return statements.filter((statement) => statement !== undefined);
}

function readStatement(
  reader: ElementReader,
  { item, index, path }: { item: unknown; index: number; path: readonly (string | number)[] },
): Statement | undefined {
  const { report, kind } = reader;
  if (!isRecord(item)) {
    report(path, `expected a statement (an object), found ${renderFound(item)}`);
    return undefined;
  }
  checkElements({ record: item, known: STATEMENT_ELEMENTS, path, report });
  const effect = item.Effect;
  if (effect !== "Allow" && effect !== "Deny") {
    report([...path, "Effect"], `expected "Allow" or "Deny", found ${renderFound(effect)}`);
  }
  const sid = item.Sid;
  const plainSid = kind === "identity" || kind === "boundary" || kind === "session";
  if (sid !== undefined && (typeof sid !== "string" || (plainSid && !/^[A-Za-z0-9]*$/.test(sid)))) {
    report([...path, "Sid"], `expected ${plainSid ? "letters and digits" : "a string"}, found ${renderFound(sid)}`);
  }
  return {
    id: typeof sid === "string" && sid !== "" ? sid : `Statement[${index}]`,
    effect: effect === "Allow" ? "Allow" : "Deny",
    ...readPrincipals(reader, item, path),
    ...readActions(reader, item, path),
    ...readResources(reader, item, path),
    conditions: readConditions(reader, item.Condition, [...path, "Condition"]),
    unknown: [],
  };
}

function checkElements(check: {
  record: Record<string, unknown>;
  known: readonly string[];
  path: readonly (string | number)[];
  report: ElementReader["report"];
}): void {
  for (const name of Object.keys(check.record)) {
    if (check.known.includes(name)) continue;
    const meant = check.known.find((known) => known.toLowerCase() === name.toLowerCase());
    const expected = meant ? `"${meant}"` : `one of ${check.known.join(", ")}`;
    check.report([...check.path, name], `expected ${expected}, found "${name}"`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
