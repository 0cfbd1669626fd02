// From unknown JSON to a manifest: its kind, its metadata, and for seeds also that nothing in it is unknown.
import { StatusError } from "../errors.ts";
import type { JsonObject, Manifest } from "../types.ts";
import { applyDefaults } from "./admission.ts";
import { isObject, objectAt } from "./fields.ts";
import { findKind, RESOURCES, type Resource, renderApiVersion } from "./resources.ts";
import { listObjectProblems } from "./validation.ts";

/** One mistake in a list of manifests. */
export interface ManifestProblem {
  /** Position in the list. */
  readonly index: number;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Deeper objects could be read but never be written again. */
const MAX_DEPTH = 1000;

const METADATA = ["name", "namespace", "labels", "annotations", "finalizers", "generateName", "uid", "resourceVersion"];
const METADATA_IGNORED = ["creationTimestamp", "generation", "managedFields", "ownerReferences", "selfLink"];

/**
 * A body that must be a JSON object.
 * @throws StatusError BadRequest
 */
export function parseBody(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw StatusError.badRequest("couldn't get version/kind; json parse error: the body is not JSON");
  }
  if (nestingOf(value) > MAX_DEPTH) throw StatusError.badRequest("json parse error: exceeded max depth");
  if (isObject(value)) return value;
  const found = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  throw StatusError.badRequest(`couldn't get version/kind; json parse error: expected a JSON object, found ${found}`);
}

/**
 * A request body as a manifest of this resource; a kind left out is taken from the URL, as the real server does.
 * @throws StatusError BadRequest
 */
export function parseManifest(body: JsonObject, resource: Resource): Manifest {
  const apiVersion = renderApiVersion(resource);
  const { kind } = resource;
  const found = { apiVersion: body.apiVersion ?? apiVersion, kind: body.kind ?? kind };
  if (found.apiVersion !== apiVersion) {
    const text = `the API version in the data (${found.apiVersion}) does not match the expected API version (${apiVersion})`;
    throw StatusError.badRequest(text);
  }
  if (found.kind !== kind) {
    throw StatusError.badRequest(`${found.kind} in version "v1" cannot be handled as a ${kind}`);
  }
  const metadata = body.metadata ?? {};
  const wrong = isObject(metadata) ? findWrongMetadata(metadata) : { path: [], type: "v1.ObjectMeta" };
  if (wrong) {
    const field = ["metadata", ...wrong.path].join(".");
    const text = `json: cannot unmarshal value into Go struct field ${kind}.${field} of type ${wrong.type}`;
    throw StatusError.badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${text}`);
  }
  return { ...body, apiVersion, kind, metadata: objectAt(body, "metadata") };
}

// Level by level and not by recursion: the very thing to be refused would overflow the stack.
function nestingOf(value: unknown): number {
  let depth = 0;
  for (let level: unknown[] = [value]; level.length > 0 && depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return depth;
}

/** Every mistake in the manifests of a world, all at once: shape, unknown members, duplicates, missing namespaces. */
export function listManifestProblems(objects: readonly unknown[]): ManifestProblem[] {
  const namespaces = new Set(["default", "kube-system"]);
  for (const object of objects) {
    const name = objectAt(object, "metadata").name;
    if (isObject(object) && object.kind === "Namespace" && typeof name === "string") namespaces.add(name);
  }
  const seen = new Set<string>();
  return objects.flatMap((object, index) => {
    const problems = isObject(object)
      ? listSeedProblems(object, { namespaces, seen })
      : [{ path: [], message: "expected a Kubernetes manifest (an object), found something else" }];
    return problems.map((problem) => ({ index, ...problem }));
  });
}

type Problem = Omit<ManifestProblem, "index">;

function listSeedProblems(object: JsonObject, known: { namespaces: Set<string>; seen: Set<string> }): Problem[] {
  const { apiVersion, kind } = object;
  const found = findKind(apiVersion, kind);
  if (!found || found.resource.kind === "TokenReview") {
    const kinds = Object.values(RESOURCES).filter((each) => each.kind !== "TokenReview");
    const expected = kinds.map((each) => `${renderApiVersion(each)} ${each.kind}`).join(", ");
    return [{ path: ["kind"], message: `expected one of ${expected}, found ${apiVersion} ${kind}` }];
  }
  const unknown = listUnknown(object, ["apiVersion", "kind", "metadata", ...found.resource.fields], []);
  const metadata = object.metadata;
  if (!isObject(metadata)) return [...unknown, { path: ["metadata"], message: "expected an object" }];
  unknown.push(...listUnknown(metadata, [...METADATA, ...METADATA_IGNORED], ["metadata"]));
  const wrong = findWrongMetadata(metadata);
  if (wrong) return [...unknown, { path: ["metadata", ...wrong.path], message: `expected ${wrong.type}` }];
  const manifest = applyDefaults(parseManifest(object, found.resource));
  const fields = listObjectProblems(manifest).map(({ path, message }) => ({ path: splitPath(path), message }));
  return [...unknown, ...fields, ...listPlaceProblems(manifest, found.resource, known)];
}

function listPlaceProblems(
  { kind, metadata }: Manifest,
  resource: Resource,
  { namespaces, seen }: { namespaces: Set<string>; seen: Set<string> },
): Problem[] {
  const { name = "", namespace } = metadata;
  const path = ["metadata", "namespace"];
  if (!resource.namespaced && namespace) return [{ path, message: `${kind} has no namespace, found ${namespace}` }];
  const where = resource.namespaced ? (namespace ?? "default") : "";
  const key = `${kind}/${where}/${name}`;
  if (seen.has(key)) return [{ path: ["metadata", "name"], message: `a second ${kind} of the name ${name}` }];
  seen.add(key);
  if (!resource.namespaced || namespaces.has(where)) return [];
  return [{ path, message: `expected a Namespace of this world, found ${where}` }];
}

function listUnknown(object: JsonObject, known: readonly string[], path: readonly string[]): Problem[] {
  return Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) => ({ path: [...path, key], message: `unknown field "${[...path, key].join(".")}"` }));
}

function findWrongMetadata(metadata: JsonObject): { path: string[]; type: string } | undefined {
  for (const key of ["name", "namespace", "uid", "resourceVersion", "generateName"]) {
    if (metadata[key] !== undefined && typeof metadata[key] !== "string") return { path: [key], type: "string" };
  }
  for (const key of ["labels", "annotations"]) {
    const map = metadata[key];
    if (map === undefined || map === null) continue;
    if (!isObject(map)) return { path: [key], type: "map[string]string" };
    const bad = Object.keys(map).find((name) => typeof map[name] !== "string");
    if (bad !== undefined) return { path: [key, bad], type: "string" };
  }
  return undefined;
}

// `spec.containers[0].image` → ["spec", "containers", 0, "image"]; data keys may hold dots: `data[.dockerconfigjson]`.
function splitPath(path: string): (string | number)[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, inner, plain]) => {
    if (inner === undefined) return plain ?? "";
    return /^\d+$/.test(inner) ? Number(inner) : inner;
  });
}
