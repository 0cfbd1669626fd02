// The elements of a statement, one reader each: typed lists out, mistakes reported with their path (spec aws 3.1).
import type { Condition, PrincipalPattern, Statement } from "../types.ts";
import { splitArn } from "./arn-pattern.ts";
import { findValueProblem, parseOperator } from "./conditions.ts";
import { findTemplateProblem } from "./match.ts";
import { type ElementReader, type Path, readStrings, renderFound, renderKind } from "./reader.ts";

type Elements = Readonly<Record<string, unknown>>;

const AWS_PRINCIPALS: readonly RegExp[] = [
  /^\*$/,
  /^\d{12}$/,
  /^arn:aws[\w-]*:iam::\d{12}:root$/,
  /^arn:aws[\w-]*:iam::\d{12}:(role|user)\/([\w+=,.@-]+\/)*[\w+=,.@-]+$/,
  /^arn:aws[\w-]*:sts::\d{12}:(assumed-role\/[\w+=,.@-]+\/[\w+=,.@-]+|federated-user\/[\w+=,.@-]+)$/,
  /^(AROA|AIDA)[A-Z0-9]{12,}$/,
];

const FEDERATED_PRINCIPALS: readonly RegExp[] = [
  /^arn:aws[\w-]*:iam::\d{12}:(oidc-provider|saml-provider)\/.+$/,
  /^(cognito-identity\.amazonaws\.com|www\.amazon\.com|graph\.facebook\.com|accounts\.google\.com)$/,
];

/** What each type of principal may look like, and where it is legal. */
const PRINCIPAL_TYPES = {
  AWS: {
    kinds: ["trust", "resource"],
    forms: AWS_PRINCIPALS,
    expected: '"*", an account or the ARN of root, role, user or session (no wildcards)',
  },
  Federated: { kinds: ["trust"], forms: FEDERATED_PRINCIPALS, expected: "the ARN of an OIDC or SAML provider" },
  Service: {
    kinds: ["trust", "resource"],
    forms: [/^[a-z0-9-]+(\.[a-z0-9-]+)+$/],
    expected: "a service name like ec2.amazonaws.com",
  },
} as const;

/** `Principal`: required in trust and resource policies, illegal elsewhere; `NotPrincipal` is refused everywhere. */
export function readPrincipals(reader: ElementReader, elements: Elements, path: Path): Pick<Statement, "principals"> {
  const { kind, report } = reader;
  if (elements.NotPrincipal !== undefined)
    report([...path, "NotPrincipal"], "expected Principal: NotPrincipal is not supported");
  const value = elements.Principal;
  const at = [...path, "Principal"];
  if (kind !== "trust" && kind !== "resource") {
    if (value !== undefined) report(at, `expected no Principal in ${renderKind(kind)}`);
    return {};
  }
  if (value === "*") return { principals: [{ type: "AWS", value: "*" }] };
  if (typeof value !== "object" || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    report(at, `expected "*" or an object like {"AWS": …}, found ${renderFound(value)}`);
    return {};
  }
  return { principals: Object.entries(value).flatMap(([type, list]) => readPrincipalType(reader, { type, list, at })) };
}

function readPrincipalType(
  { kind, report }: ElementReader,
  { type, list, at }: { type: string; list: unknown; at: Path },
): readonly PrincipalPattern[] {
  if (!isPrincipalType(type)) {
    report([...at, type], `expected one of ${Object.keys(PRINCIPAL_TYPES).join(", ")}, found "${type}"`);
    return [];
  }
  const { kinds, forms, expected } = PRINCIPAL_TYPES[type];
  if (!kinds.some((legal) => legal === kind)) {
    report([...at, type], `expected no ${type} principal in ${renderKind(kind)}`);
    return [];
  }
  return readStrings(list, [...at, type], report).map(({ text, at: place }) => {
    if (!forms.some((form) => form.test(text))) report(place, `expected ${expected}, found ${renderFound(text)}`);
    return { type, value: text };
  });
}

function isPrincipalType(type: string): type is keyof typeof PRINCIPAL_TYPES {
  return Object.hasOwn(PRINCIPAL_TYPES, type);
}

/** The actions that a trust policy may speak of. */
const TRUST_ACTIONS =
  /^(AssumeRole|AssumeRoleWithSAML|AssumeRoleWithWebIdentity|TagSession|SetSourceIdentity|SetContext)$/i;

/** `Action` or `NotAction`: exactly one of them. */
export function readActions(
  reader: ElementReader,
  elements: Elements,
  path: Path,
): Pick<Statement, "actions" | "notActions"> {
  const { kind, report } = reader;
  const name = oneOf(["Action", "NotAction"], { elements, path, report });
  if (name === undefined) return {};
  const actions = readStrings(elements[name], [...path, name], report).map(({ text, at }) => {
    if (!/^(\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+)$/.test(text)) {
      report(at, `expected "*" or <service>:<Action>, found ${renderFound(text)}`);
    } else if (kind === "trust" && !isTrustAction(text)) {
      report(at, `expected an AssumeRole action of sts in a trust policy, found ${renderFound(text)}`);
    }
    return text;
  });
  return name === "Action" ? { actions } : { notActions: actions };
}

function isTrustAction(action: string): boolean {
  const [service = "", name = ""] = action.split(":");
  return service.toLowerCase() === "sts" && (/[*?]/.test(name) || TRUST_ACTIONS.test(name));
}

/** `Resource` or `NotResource`: required in identity policies, illegal in trust policies, optional in resource policies. */
export function readResources(
  reader: ElementReader,
  elements: Elements,
  path: Path,
): Pick<Statement, "resources" | "notResources"> {
  const { kind, report, variables } = reader;
  const given = ["Resource", "NotResource"].filter((name) => elements[name] !== undefined);
  if (kind === "trust") {
    for (const name of given) report([...path, name], `expected no ${name} in a trust policy`);
    return {};
  }
  if (kind === "resource" && given.length === 0) return {};
  const name = oneOf(["Resource", "NotResource"], { elements, path, report });
  if (name === undefined) return {};
  const resources = readStrings(elements[name], [...path, name], report).map(({ text, at }) => {
    const parts = splitArn(text);
    if (text !== "*" && !parts) report(at, `expected "*" or an ARN of six parts, found ${renderFound(text)}`);
    // spec aws 3.3: variables only after the fifth colon
    if (variables && parts?.slice(0, 5).some((part) => part.includes("${"))) {
      report(at, `expected policy variables in the last part of the ARN only, found ${renderFound(text)}`);
    }
    const problem = variables ? findTemplateProblem(text) : undefined;
    if (problem) report(at, problem);
    return text;
  });
  return name === "Resource" ? { resources } : { notResources: resources };
}

/** `Condition`: operator → key → values; each pair becomes one condition. */
export function readConditions(reader: ElementReader, value: unknown, path: Path): readonly Condition[] {
  if (value === undefined) return [];
  return entriesOf(value, path, reader).flatMap(([operator, keys]) => {
    const at = [...path, operator];
    const parsed = parseOperator(operator);
    if (!parsed) reader.report(at, `expected a condition operator, found "${operator}"`);
    return entriesOf(keys, at, reader).map(([key, list]) => {
      if (!/^[\w.-]+[^\s]*:.+$/.test(key))
        reader.report([...at, key], `expected a key like aws:SourceIp, found "${key}"`);
      const values = readStrings(list, [...at, key], reader.report).map(({ text, at: place }) => {
        const template = reader.variables && /String|Arn/.test(operator) ? findTemplateProblem(text) : undefined;
        const problem = template ?? (parsed ? findValueProblem(parsed, text) : undefined);
        if (problem) reader.report(place, problem);
        return text;
      });
      return { operator, key, values };
    });
  });
}

function entriesOf(value: unknown, path: Path, { report }: ElementReader): [string, unknown][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value);
  report(path, `expected an object, found ${renderFound(value)}`);
  return [];
}

function oneOf(
  names: readonly [string, string],
  { elements, path, report }: { elements: Elements; path: Path; report: ElementReader["report"] },
): string | undefined {
  const given = names.filter((name) => elements[name] !== undefined);
  if (given.length !== 1)
    report(path, `expected exactly one of ${names.join(" and ")}, found ${given.length === 0 ? "none" : "both"}`);
  return given[0];
}
