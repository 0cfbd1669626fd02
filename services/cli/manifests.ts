// Manifests to the API server of a stack, as `kubectl apply` would: what is there already is replaced.
import { parseAllDocuments } from "yaml";
import type { createStack } from "../stack/index.ts";

type Stack = Awaited<ReturnType<typeof createStack>>;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { readonly nodeName?: unknown };
}

/** Where a kind lives. Namespaces are never replaced: they have nothing to differ in. */
const KINDS: Readonly<Record<string, { path: string; namespaced: boolean; replace: boolean }>> = {
  Namespace: { path: "/api/v1/namespaces", namespaced: false, replace: false },
  ServiceAccount: { path: "serviceaccounts", namespaced: true, replace: true },
  Secret: { path: "secrets", namespaced: true, replace: true },
  Role: { path: "roles", namespaced: true, replace: true },
  RoleBinding: { path: "rolebindings", namespaced: true, replace: true },
  ClusterRole: { path: "/apis/rbac.authorization.k8s.io/v1/clusterroles", namespaced: false, replace: true },
  ClusterRoleBinding: {
    path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    namespaced: false,
    replace: true,
  },
};

/**
 * Applies every document of a YAML (or JSON) text; Pods run on their node (`spec.nodeName`, else the first of the world).
 * @returns what became of each: `ServiceAccount team-a/puller created`, `Pod team-a/web on node-1: pulled`
 * @throws Error naming the manifest that is none, or that the API server refuses
 */
export async function applyManifests(text: string, stack: Stack): Promise<string[]> {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  const done: string[] = [];
  for (const document of documents) {
    const [mistake] = document.errors;
    if (mistake) throw new Error(mistake.message);
    const value: unknown = document.toJS();
    if (value !== null) done.push(await apply(parseManifest(value), stack));
  }
  return done;
}

function parseManifest(value: unknown): Manifest {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<Manifest>;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof metadata?.name !== "string") {
    const found = JSON.stringify(value)?.slice(0, 120);
    throw new Error(`expected a manifest with apiVersion, kind and metadata.name, found ${found}`);
  }
  return value as Manifest;
}

async function apply(manifest: Manifest, stack: Stack): Promise<string> {
  const { kind, metadata } = manifest;
  const namespace = metadata.namespace ?? "default";
  if (kind === "Pod") return runPod(manifest, stack);
  const place = KINDS[kind];
  if (!place) throw new Error(`expected a kind among ${[...Object.keys(KINDS), "Pod"].join(", ")}, found ${kind}`);
  const name = place.namespaced ? `${namespace}/${metadata.name}` : metadata.name;
  const group = manifest.apiVersion === "v1" ? "/api/v1" : `/apis/${manifest.apiVersion}`;
  const path = place.namespaced ? `${group}/namespaces/${encodeURIComponent(namespace)}/${place.path}` : place.path;
  const one = `${path}/${encodeURIComponent(metadata.name)}`;
  if (!(await exists(one, stack))) {
    await stack.rooms.api.request("POST", path, { ...manifest });
    return `${kind} ${name} created`;
  }
  if (!place.replace) return `${kind} ${name} unchanged`;
  await stack.rooms.api.request("PUT", one, { ...manifest });
  return `${kind} ${name} replaced`;
}

async function exists(path: string, { dialer, controlKey }: Stack): Promise<boolean> {
  const answer = await dialer.request(`https://kubernetes.default.svc${path}`, {
    headers: { Authorization: `Bearer ${controlKey}` },
  });
  answer.body.resume();
  return answer.status === 200;
}

async function runPod(manifest: Manifest, { rooms, world }: Stack): Promise<string> {
  const { metadata, spec } = manifest;
  const node = typeof spec?.nodeName === "string" ? spec.nodeName : world.cluster.nodes[0]?.name;
  if (node === undefined) throw new Error("expected a node in the world for the Pod to run on, found none");
  const { verdict, reason } = (await rooms.nodes.runPod(node, { ...manifest }, true)) as Record<string, unknown>;
  return `Pod ${metadata.namespace ?? "default"}/${metadata.name} on ${node}: ${verdict} (${reason})`;
}
