// A few requests of the Kubernetes API as an administrator: the same four verbs for a real API server and the stack's.

export type Fields = Readonly<Record<string, unknown>>;

/** JSON in, JSON out. */
export interface KubeClient {
  /** @throws Error with the Status message for anything but 2xx */
  request(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: Fields): Promise<Fields>;
}

/** How one request goes out. */
export type Send = (request: {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}) => Promise<{ readonly status: number; readonly text: string }>;

export function createKubeClient(send: Send, token: string): KubeClient {
  return {
    async request(method, path, body) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const { status, text } = await send({ method, path, headers, body: body && JSON.stringify(body) });
      const answer = JSON.parse(text) as Fields;
      if (status < 300) return answer;
      throw new Error(`${method} ${path}: ${status} ${String(answer.message ?? text)}`);
    },
  };
}

const COLLECTIONS: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
};

/** Where an object of this kind is created. */
export function collectionOf(kind: string, namespace: string | undefined): string {
  return COLLECTIONS[kind] ?? `/api/v1/namespaces/${namespace ?? "default"}/${kind.toLowerCase()}s`;
}

/** Creates the objects in their order; every namespace gets its ServiceAccount `default`, as a controller would make it. */
export async function createObjects(client: KubeClient, objects: readonly unknown[]): Promise<void> {
  for (const object of objects as readonly (Fields & {
    kind: string;
    metadata: { name: string; namespace?: string };
  })[]) {
    const { kind, metadata } = object;
    await client.request("POST", collectionOf(kind, metadata.namespace), object);
    if (kind !== "Namespace") continue;
    const account = {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: metadata.name },
    };
    await client.request("POST", collectionOf("ServiceAccount", metadata.name), account);
  }
}
