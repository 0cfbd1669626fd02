// What the sections of a world must know of each other: the names that exist, collected before anything is judged.
import { childOf, isMap } from "./world-value.ts";

/** A problem inside a document, as the room reports it that owns such documents. */
export interface DocumentProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What the reader of a world is handed in; without a part, that check is left to the room itself. */
export interface WorldChecks {
  /** All problems of a policy document used as this kind. */
  readonly listPolicyProblems?: (
    kind: "trust" | "identity" | "boundary" | "resource",
    document: unknown,
  ) => readonly DocumentProblem[];
  /** All problems of the cluster's objects, as the API server sees them. */
  readonly listManifestProblems?: (objects: readonly unknown[]) => readonly (DocumentProblem & { index: number })[];
  /** The text of a key file that the world names. @throws Error with a message for people */
  readonly readKeyFile?: (file: string) => string;
  /** Makes a path of the world absolute; paths are relative to the world file. */
  readonly resolvePath?: (path: string) => string;
}

export interface WorldContext extends WorldChecks {
  readonly region: string;
  readonly httpIssuers: boolean;
  /** Name → URL, of every issuer. */
  readonly issuers: ReadonlyMap<string, string>;
  /** Names of the issuers that have a key here. */
  readonly signingIssuers: readonly string[];
  readonly roleArns: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

/** Namespaces that the API server has from its start. */
const BUILT_IN_NAMESPACES = ["default", "kube-system"];

/** Collects the names out of a raw world; wrong parts are passed over, their own section refuses them. */
export function collectContext(world: unknown, checks: WorldChecks): WorldContext {
  const issuers = entriesOf(childOf(world, "issuers"));
  const region = childOf(world, "region");
  return {
    ...checks,
    region: typeof region === "string" ? region : "us-east-1",
    httpIssuers: childOf(childOf(world, "switches"), "httpIssuers") === true,
    issuers: new Map(issuers.map(([name, issuer]) => [name, String(childOf(issuer, "url") ?? "")])),
    signingIssuers: issuers.filter(([, issuer]) => !isForeign(issuer)).map(([name]) => name),
    roleArns: new Set(entriesOf(childOf(world, "accounts")).flatMap(([id, account]) => roleArnsOf(id, account))),
    namespaces: new Set([...BUILT_IN_NAMESPACES, ...namespacesOf(childOf(childOf(world, "cluster"), "objects"))]),
  };
}

function isForeign(issuer: unknown): boolean {
  return childOf(issuer, "trust") !== undefined || childOf(issuer, "jwks") !== undefined;
}

function roleArnsOf(accountId: string, account: unknown): string[] {
  return entriesOf(childOf(account, "roles")).map(([name, role]) => {
    const path = childOf(role, "path");
    return `arn:aws:iam::${accountId}:role${typeof path === "string" ? path : "/"}${name}`;
  });
}

function namespacesOf(objects: unknown): string[] {
  if (!Array.isArray(objects)) return [];
  const namespaces = objects.filter((object) => childOf(object, "kind") === "Namespace");
  return namespaces.map((object) => String(childOf(childOf(object, "metadata"), "name")));
}

function entriesOf(value: unknown): [string, unknown][] {
  return isMap(value) ? Object.entries(value) : [];
}
