// The path grammar of `/v2/`: routed from the right on the raw path, since repository names may contain the words that
// name resources (spec registry 1.1).
import type { ResourceKind } from "./operation.ts";
import { isName } from "./reference.ts";

/** What a path below `/v2/` names. */
export interface Route {
  readonly kind: ResourceKind;
  /** The repository, decoded; empty for resources of the registry as a whole. */
  readonly name: string;
  /** False if the name breaks the grammar; it must then reach neither policies nor content. */
  readonly nameOk: boolean;
  /** Tag, digest or session id as sent, decoded once; empty if it does not decode. */
  readonly reference: string;
}

const BASE: Route = { kind: "base", name: "", nameOk: true, reference: "" };
const CATALOG: Route = { ...BASE, kind: "catalog" };
const EXTENSIONS: Route = { ...BASE, kind: "extensions" };
const UNKNOWN: Route = { ...BASE, kind: "unknown" };

/**
 * Routes the part of a raw path after `/v2/` (empty for `/v2` and `/v2/`). Separators are found before anything is
 * decoded, each component is decoded once, and nothing is normalised: dot segments and encoded slashes only ever make
 * a name invalid, they never lead to another repository.
 */
export function parseRoute(rest: string): Route {
  if (rest === "") return BASE;
  if (rest === "_catalog") return CATALOG;
  if (rest === "_oci/ext/discover") return EXTENSIONS;
  const parts = rest.split("/");
  if (parts.at(-1) === "" && parts.at(-2) === "uploads" && parts.at(-3) === "blobs") parts.pop();
  const last = parts.length - 1;
  const word = parts[last - 1];
  if (last >= 2 && word === "blobs" && parts[last] === "uploads") return named("uploads", parts, last - 1);
  if (last >= 3 && word === "uploads" && parts[last - 2] === "blobs") return named("session", parts, last - 2);
  if (last < 2 || parts[last] === "") return UNKNOWN;
  if (word === "blobs") return named("blob", parts, last - 1);
  if (word === "manifests") return named("manifest", parts, last - 1);
  if (word === "tags" && parts[last] === "list") return named("tags", parts, last - 1);
  if (word === "referrers") return named("referrers", parts, last - 1);
  return UNKNOWN;
}

function named(kind: ResourceKind, parts: readonly string[], nameLength: number): Route {
  const raw = parts.slice(0, nameLength);
  const components = raw.map(decodeComponent);
  const name = components.join("/");
  const nameOk = !components.some((component) => component === undefined || component.includes("/")) && isName(name);
  return { kind, name: nameOk ? name : raw.join("/"), nameOk, reference: decodeComponent(parts.at(-1) ?? "") ?? "" };
}

/** One percent-decoding; undefined for a malformed escape. */
export function decodeComponent(component: string): string | undefined {
  if (!component.includes("%")) return component;
  try {
    return decodeURIComponent(component);
  } catch {
    return undefined;
  }
}
