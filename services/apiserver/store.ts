// All objects of the cluster, the room's only mutable state. Objects are replaced, never changed.
import { nodeOf } from "./core/pod.ts";
import type { KubeObject, ObjectLookup } from "./types.ts";

/** What the server writes to; reading is {@link ObjectLookup}. */
export interface ObjectStore extends ObjectLookup {
  /** Stores the object under its namespace and name, with the next resource version; returns what was stored. */
  put(resource: string, object: KubeObject): KubeObject;
  remove(resource: string, namespace: string, name: string): void;
  /** Version of the last write. */
  version(): string;
  /** Remembers the present content for {@link reset}. */
  seal(): void;
  /** Back to the content at {@link seal}: same objects, same uids. */
  reset(): void;
}

type Shelf = Map<string, Map<string, KubeObject>>;

interface Content {
  readonly shelves: Map<string, Shelf>;
  readonly podsByNode: Map<string, Map<string, KubeObject>>;
  version: number;
}

/** An empty store. */
export function createObjectStore(): ObjectStore {
  let content = createContent();
  let sealed = createContent();
  return {
    find: (resource, namespace, name) => content.shelves.get(resource)?.get(namespace)?.get(name),
    list(resource, namespace) {
      const shelf = content.shelves.get(resource);
      if (namespace !== undefined) return [...(shelf?.get(namespace)?.values() ?? [])];
      return [...(shelf?.values() ?? [])].flatMap((objects) => [...objects.values()]);
    },
    podsOnNode: (node) => [...(content.podsByNode.get(node)?.values() ?? [])],
    put(resource, object) {
      const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++content.version) } };
      shelve(content, resource, stored);
      return stored;
    },
    remove(resource, namespace, name) {
      content.version++;
      unshelve(content, resource, content.shelves.get(resource)?.get(namespace)?.get(name));
    },
    version: () => String(content.version),
    seal() {
      sealed = copy(content);
    },
    reset() {
      content = copy(sealed);
    },
  };
}

function createContent(): Content {
  return { shelves: new Map(), podsByNode: new Map(), version: 0 };
}

function copy(content: Content): Content {
  const target = createContent();
  for (const [resource, shelf] of content.shelves) {
    for (const objects of shelf.values()) for (const object of objects.values()) shelve(target, resource, object);
  }
  target.version = content.version;
  return target;
}

function shelve(content: Content, resource: string, object: KubeObject): void {
  const { namespace = "", name } = object.metadata;
  unshelve(content, resource, content.shelves.get(resource)?.get(namespace)?.get(name));
  drawer(drawer(content.shelves, resource), namespace).set(name, object);
  const node = resource === "pods" ? nodeOf(object) : "";
  if (node !== "") drawer(content.podsByNode, node).set(`${namespace}/${name}`, object);
}

function unshelve(content: Content, resource: string, object: KubeObject | undefined): void {
  if (!object) return;
  const { namespace = "", name } = object.metadata;
  content.shelves.get(resource)?.get(namespace)?.delete(name);
  if (resource === "pods") content.podsByNode.get(nodeOf(object))?.delete(`${namespace}/${name}`);
}

function drawer<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const inner = map.get(key) ?? new Map<string, V>();
  map.set(key, inner);
  return inner;
}
