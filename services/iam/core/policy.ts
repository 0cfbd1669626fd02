// Policy documents: JSON in, a parsed policy or every mistake at once out (spec aws 3.1).
import { IamError, type PolicyProblem } from "../errors.ts";
import type { Policy, PolicyKind } from "../types.ts";

/**
 * Parses a document (a value or JSON text) as a policy of this kind.
 * @throws IamError MalformedPolicyDocument naming path, expected and found.
 */
export function parsePolicy(kind: PolicyKind, name: string, document: unknown): Policy {
  void document;
  throw new IamError("MalformedPolicyDocument", `not built yet: ${kind} ${name}`);
}

/** Every mistake of a document; empty if it is a policy of this kind. */
export function listPolicyProblems(kind: PolicyKind, document: unknown): readonly PolicyProblem[] {
  void kind;
  void document;
  return [];
}
