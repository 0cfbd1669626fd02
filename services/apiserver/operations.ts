// The operations of the API, one function each: what was asked is known, allowed and read; the store is asked or changed.
import { createUuid, type Random } from "../shared/random.ts";
import { admitPodServiceAccount, applyDefaults } from "./core/admission.ts";
import { objectAt, textAt } from "./core/fields.ts";
import { parseManifest } from "./core/manifest.ts";
import { nodeNameOf } from "./core/node-authorizer.ts";
import { admitNodeOwned, admitNodePod } from "./core/node-restriction.ts";
import { nodeOf } from "./core/pod.ts";
import { type Resource, renderApiVersion } from "./core/resources.ts";
import { listObjectProblems } from "./core/validation.ts";
import { StatusError } from "./errors.ts";
import type { ObjectStore } from "./store.ts";
import type { ApiAnswer, ApiRequest, KubeObject, Manifest, ObjectMeta, ResourceAttributes } from "./types.ts";

export interface OperationContext {
  readonly store: ObjectStore;
  readonly random: Random;
  now(): Date;
}

/** A request for a resource of the table. */
export interface ResourceRequest extends ApiRequest {
  readonly attributes: ResourceAttributes;
  readonly resource: Resource;
}

type Operation = (request: ResourceRequest, context: OperationContext) => ApiAnswer;

/** The operations on objects, by verb. */
export const OBJECT_OPERATIONS: Readonly<Record<string, Operation>> = {
  get: (request, { store }) => ({ status: 200, body: findObject(request, store) }),
  list: listObjects,
  create: createObject,
  update: replaceObject,
  delete: deleteObject,
};

/**
 * Stores a new object: defaults, admission, validation, then uid and creation time.
 * @throws StatusError
 */
export function storeNew(name: string, manifest: Manifest, context: OperationContext): KubeObject {
  const { store, random } = context;
  const { kind } = manifest;
  const { namespace = "" } = manifest.metadata;
  if (namespace !== "" && !store.find("namespaces", "", namespace)) {
    throw StatusError.notFound({ group: "", resource: "namespaces" }, namespace);
  }
  const defaulted = applyDefaults(manifest);
  validate(defaulted);
  const admitted = kind === "Pod" ? admitPodServiceAccount(defaulted, store, randomSuffix(random)) : defaulted;
  const objectName = manifest.metadata.name ?? "";
  if (store.find(name, namespace, objectName)) {
    const of = { group: groupOf(manifest), resource: name };
    const qualified = of.group === "" ? name : `${name}.${of.group}`;
    const details = { name: objectName, group: of.group, kind: name };
    throw new StatusError("AlreadyExists", "already-exists", `${qualified} "${objectName}" already exists`, details);
  }
  const { labels, annotations, finalizers } = manifest.metadata;
  const metadata: ObjectMeta = {
    name: objectName,
    ...(namespace === "" ? {} : { namespace }),
    uid: createUuid(random),
    resourceVersion: "",
    creationTimestamp: renderTime(context.now()),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
  };
  const stored = store.put(name, { ...admitted, metadata });
  if (kind === "Namespace") storeNew("serviceaccounts", defaultAccount(objectName), context);
  return stored;
}

/** RFC 3339, UTC, whole seconds. */
export function renderTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}

function createObject(request: ResourceRequest, context: OperationContext): ApiAnswer {
  const { attributes, resource, user } = request;
  const manifest = placeManifest(parseManifest(request.body, resource), attributes, context.random);
  const node = nodeNameOf(user);
  if (node !== undefined && resource.kind === "Pod") admitNodePod(node, manifest);
  if (node !== undefined && resource.kind === "Node") {
    const name = manifest.metadata.name ?? "";
    admitNodeOwned(node, { resource: "nodes", name, owner: name });
  }
  return { status: 201, body: storeNew(attributes.resource, manifest, context) };
}

function listObjects({ attributes, resource }: ResourceRequest, { store }: OperationContext): ApiAnswer {
  const { fields } = attributes;
  const listed = store.list(attributes.resource, attributes.namespace || undefined).filter((object) => {
    const { name, namespace } = object.metadata;
    const found: Record<string, string | undefined> = {
      "metadata.name": name,
      "metadata.namespace": namespace,
      "spec.nodeName": nodeOf(object),
    };
    return Object.entries(fields).every(([field, value]) => found[field] === value);
  });
  const items = listed.map(({ apiVersion: _version, kind: _kind, ...item }) => item);
  const apiVersion = renderApiVersion(resource);
  const metadata = { resourceVersion: store.version() };
  return { status: 200, body: { kind: `${resource.kind}List`, apiVersion, metadata, items } };
}

// PUT: everything new but identity; uid and creation time stay (and whoever names another uid is refused).
function replaceObject(request: ResourceRequest, { store }: OperationContext): ApiAnswer {
  const { attributes, resource } = request;
  const old = findObject(request, store);
  const of = { group: resource.group, resource: attributes.resource };
  const manifest = applyDefaults(placeManifest(parseManifest(request.body, resource), attributes));
  const { resourceVersion = "", uid = "", name = "" } = manifest.metadata;
  if (name !== attributes.name) {
    const text = `the name of the object (${name}) does not match the name on the URL (${attributes.name})`;
    throw StatusError.badRequest(text);
  }
  if (uid !== "" && uid !== old.metadata.uid) throw uidPrecondition(of, name, { wanted: uid, found: old.metadata.uid });
  if (resourceVersion !== "" && resourceVersion !== old.metadata.resourceVersion) {
    const text = "the object has been modified; please apply your changes to the latest version and try again";
    throw StatusError.conflict(of, name, { text, because: "conflict" });
  }
  validate(manifest);
  if (old.roleRef && JSON.stringify(manifest.roleRef) !== JSON.stringify(old.roleRef)) {
    const problem = {
      path: "roleRef",
      message: `Invalid value: ${JSON.stringify(manifest.roleRef)}: cannot change roleRef`,
    };
    throw StatusError.invalid({ group: resource.group, kind: resource.kind }, name, [problem]);
  }
  const { labels, annotations, finalizers } = manifest.metadata;
  const { labels: _l, annotations: _a, finalizers: _f, ...identity } = old.metadata;
  const metadata: ObjectMeta = {
    ...identity,
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
  };
  const stored = store.put(attributes.resource, { ...manifest, metadata });
  // The last finalizer of a deleted object is gone: now it goes.
  if (identity.deletionTimestamp && !finalizers?.length) store.remove(attributes.resource, attributes.namespace, name);
  return { status: 200, body: stored };
}

// Differs: no grace period and no asynchronous clean-up; what has no finalizers is gone at once, a namespace with all in it.
function deleteObject(request: ResourceRequest, { store, now }: OperationContext): ApiAnswer {
  const { attributes, resource, user, body } = request;
  const object = findObject(request, store);
  const { name, uid, finalizers } = object.metadata;
  const node = nodeNameOf(user);
  if (node !== undefined) admitNodeOwned(node, { resource: "pods", name, owner: nodeOf(object) });
  const wanted = textAt(objectAt(body, "preconditions"), "uid");
  const of = { group: resource.group, resource: attributes.resource };
  if (wanted !== "" && wanted !== uid) throw uidPrecondition(of, name, { wanted, found: uid });
  if (finalizers?.length) {
    const deletionTimestamp = object.metadata.deletionTimestamp ?? renderTime(now());
    const marked = store.put(attributes.resource, { ...object, metadata: { ...object.metadata, deletionTimestamp } });
    return { status: 200, body: marked };
  }
  store.remove(attributes.resource, attributes.namespace, name);
  if (resource.kind === "Namespace") emptyNamespace(name, store);
  const details = { name, ...(of.group === "" ? {} : { group: of.group }), kind: attributes.resource, uid };
  return { status: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
}

function emptyNamespace(namespace: string, store: ObjectStore): void {
  for (const resource of ["pods", "secrets", "serviceaccounts", "persistentvolumeclaims", "roles", "rolebindings"]) {
    for (const object of store.list(resource, namespace)) store.remove(resource, namespace, object.metadata.name);
  }
}

function findObject({ attributes, resource }: ResourceRequest, store: ObjectStore): KubeObject {
  const object = store.find(attributes.resource, attributes.namespace, attributes.name);
  if (object) return object;
  throw StatusError.notFound({ group: resource.group, resource: attributes.resource }, attributes.name);
}

function placeManifest(manifest: Manifest, attributes: ResourceAttributes, random?: Random): Manifest {
  const { namespace = "", generateName, name } = manifest.metadata;
  if (namespace !== "" && namespace !== attributes.namespace) {
    throw StatusError.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  }
  const made = !name && generateName && random ? generateName + randomSuffix(random) : name;
  const place = attributes.namespace === "" ? {} : { namespace: attributes.namespace };
  return { ...manifest, metadata: { ...manifest.metadata, ...(made ? { name: made } : {}), ...place } };
}

function validate(manifest: Manifest): void {
  const problems = listObjectProblems(manifest);
  if (problems.length === 0) return;
  throw StatusError.invalid({ group: groupOf(manifest), kind: manifest.kind }, manifest.metadata.name ?? "", problems);
}

function uidPrecondition(
  of: { group: string; resource: string },
  name: string,
  uids: { wanted: string; found: string },
) {
  const text = `Precondition failed: UID in precondition: ${uids.wanted}, UID in object meta: ${uids.found}`;
  return StatusError.conflict(of, name, { text, because: "uid-mismatch" });
}

function groupOf({ apiVersion }: Manifest): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
}

function defaultAccount(namespace: string): Manifest {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } };
}

/** No vowels and nothing that looks like something else, as in names that Kubernetes makes. */
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

function randomSuffix(random: Random): string {
  return [...random.bytes(5)].map((byte) => SUFFIX_LETTERS[byte % SUFFIX_LETTERS.length]).join("");
}
