// From method and path to what is asked, by the rules of the API server's RequestInfo: before any look at what exists.
import { StatusError } from "../errors.ts";
import type { Attributes } from "../types.ts";

const METHOD_VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Fields by which lists can be narrowed. */
const SELECTABLE = ["metadata.name", "metadata.namespace", "spec.nodeName"];

/**
 * What a request asks for. The path is as received, still encoded.
 * @throws StatusError BadRequest for broken escapes and for selectors that this server does not know.
 */
export function parseAttributes(method: string, path: string, query: URLSearchParams): Attributes {
  const parts = splitPath(path);
  const verb = METHOD_VERBS[method] ?? method.toLowerCase();
  const prefix = { api: 2, apis: 3 }[parts[0] ?? ""];
  if (prefix === undefined || parts.length <= prefix) return { kind: "path", verb: method.toLowerCase(), path };
  const [group = "", version = ""] = prefix === 2 ? ["", parts[1]] : [parts[1], parts[2]];
  const { namespace, rest } = splitNamespace(parts.slice(prefix));
  const [resource = "", name = "", subresource = ""] = rest;
  const fields = parseFields(query);
  const plural = name === "" && (verb === "get" || verb === "delete");
  return {
    kind: "resource",
    verb: plural ? pluralVerb(verb, query) : verb,
    group,
    version,
    resource,
    subresource: [subresource, ...rest.slice(3)].join("/"),
    namespace,
    // A list narrowed to one name asks for that one object only; authorizers may rely on it.
    name: name || (verb === "get" ? (fields["metadata.name"] ?? "") : ""),
    fields,
  };
}

function splitPath(path: string): string[] {
  const trimmed = path.replace(/^\/+|\/+$/g, "");
  if (trimmed === "") return [];
  try {
    return trimmed.split("/").map(decodeURIComponent);
  } catch {
    throw StatusError.badRequest("expected a path with valid percent-encoding, found a broken escape");
  }
}

function splitNamespace(parts: readonly string[]): { namespace: string; rest: readonly string[] } {
  const [first, namespace = ""] = parts;
  if (first !== "namespaces" || parts.length < 3) return { namespace: "", rest: parts };
  const [, , third] = parts;
  // Subresources of the namespace itself, not resources inside it.
  if (third === "status" || third === "finalize") return { namespace: "", rest: parts };
  return { namespace, rest: parts.slice(2) };
}

function pluralVerb(verb: string, query: URLSearchParams): string {
  if (verb === "delete") return "deletecollection";
  return ["true", "1"].includes(query.get("watch") ?? "") ? "watch" : "list";
}

function parseFields(query: URLSearchParams): Record<string, string> {
  if (query.get("labelSelector")) throw StatusError.badRequest("labelSelector is not supported by this server");
  const fields: Record<string, string> = {};
  for (const term of (query.get("fieldSelector") ?? "").split(",").filter(Boolean)) {
    const match = /^([\w.]+)==?([^=!]*)$/.exec(term);
    const [, field = "", value = ""] = match ?? [];
    if (!SELECTABLE.includes(field)) throw StatusError.badRequest(`field label not supported: ${field || term}`);
    fields[field] = value;
  }
  return fields;
}
