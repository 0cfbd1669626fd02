// A small API server and registry on one port, as the kubelet's tests need them: state that tests change, requests they count.
import { createHash } from "node:crypto";
import http from "node:http";
import { MovableClock } from "../../shared/clock.ts";
import { createDialer } from "../../shared/dial.ts";
import { createMemorySink } from "../../shared/event.ts";
import { createSeededRandom } from "../../shared/random.ts";
import { createKubelet } from "../kubelet.ts";
import type { Kubelet, KubeletOptions } from "../types.ts";

export interface StandImage {
  readonly layers: readonly Buffer[];
  readonly label: string;
}

export interface StandRepository {
  /** Users who may pull; undefined: everybody. */
  users: string[] | undefined;
  tags: Record<string, StandImage>;
  /** Serves this instead of the true bytes of layers. */
  corrupt?: boolean;
}

export interface Stand {
  readonly accounts: Map<string, { uid: string; annotations: Record<string, string> }>;
  readonly secrets: Map<string, { uid: string; type: string; data: Record<string, string> }>;
  readonly users: Map<string, string>;
  readonly repositories: Map<string, StandRepository>;
  readonly requests: string[];
  readonly clock: MovableClock;
  readonly sink: ReturnType<typeof createMemorySink>;
  /** 403 text for token requests, if they are to be refused. */
  tokenRefusal: string | undefined;
  /** `basic` or a 403 for everybody who may not. */
  deny: 401 | 403;
  addSecret(namespace: string, name: string, facts: { uid: string; login: string; host?: string }): void;
  kubelet(options: Partial<KubeletOptions> & { rootDirectory: string }): Kubelet;
  /** Requests to the registry since the last call. */
  takeRegistryRequests(): string[];
  close(): Promise<void>;
}

export const HOST = "registry.local:5000";

export async function startStand(): Promise<Stand> {
  const server = http.createServer();
  const issued = { count: 0 };
  const clock = new MovableClock();
  const sink = createMemorySink();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const dialer = createDialer({
    resolve: (host) => (host === "unreachable.local" ? undefined : { address: "127.0.0.1", port, tls: false }),
    ca: () => "",
    mayLeave: () => false,
  });
  const stand: Stand = {
    accounts: new Map(),
    secrets: new Map(),
    users: new Map(),
    repositories: new Map(),
    requests: [],
    clock,
    sink,
    tokenRefusal: undefined,
    deny: 401,
    addSecret(namespace, name, { uid, login, host = HOST }) {
      const [username, password] = login.split("/");
      const config = JSON.stringify({ auths: { [host]: { username, password } } });
      const data = { ".dockerconfigjson": Buffer.from(config).toString("base64") };
      stand.secrets.set(`${namespace}/${name}`, { uid, type: "kubernetes.io/dockerconfigjson", data });
    },
    kubelet: (options) =>
      createKubelet({
        nodeName: "node-1",
        version: "1.36",
        configuration: {},
        pluginDirectory: options.rootDirectory,
        environment: {},
        apiServerUrl: "http://kubernetes.default.svc",
        apiServerToken: "node-token",
        dialer,
        clock,
        random: createSeededRandom("stand"),
        events: sink,
        ...options,
      }),
    takeRegistryRequests: () => stand.requests.splice(0).filter((line) => line.includes("/v2/")),
    async close() {
      dialer.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on("request", (request, response) => {
    const { status, body, headers } = request.url?.startsWith("/v2/")
      ? answerRegistry(stand, request)
      : answerApiServer(stand, request, issued);
    request.resume();
    response.writeHead(status, { ...headers, ...(body === undefined ? {} : { "content-length": String(body.length) }) });
    response.end(request.method === "HEAD" ? undefined : body);
  });
  return stand;
}

interface Answer {
  readonly status: number;
  readonly body?: Buffer;
  readonly headers?: Record<string, string>;
}

function answerRegistry(stand: Stand, request: http.IncomingMessage): Answer {
  const login = loginOf(request.headers.authorization);
  stand.requests.push(`${request.method} ${request.url} ${login?.username ?? "-"}`);
  const match = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(request.url ?? "");
  const repository = stand.repositories.get(match?.[1] ?? "");
  const known = login !== undefined && stand.users.get(login.username) === login.password;
  const challenge = { "www-authenticate": 'Basic realm="stand",service="stand"' };
  if (repository?.users === undefined ? !repository && !known : !login) return { status: 401, headers: challenge };
  if (repository?.users && !(known && repository.users.includes(login?.username ?? ""))) {
    const body = Buffer.from(JSON.stringify({ errors: [{ code: "DENIED", message: `${login?.username} may not pull` }] }));
    return { status: stand.deny, headers: challenge, body };
  }
  return findContent(repository, match?.[2] ?? "", match?.[3] ?? "");
}

function findContent(repository: StandRepository | undefined, kind: string, reference: string): Answer {
  const images = Object.entries(repository?.tags ?? {}).map(([tag, image]) => ({ tag, ...render(image) }));
  for (const image of images) {
    if (kind === "manifests" && (reference === image.tag || reference === image.manifest.digest)) {
      const headers = { "content-type": "application/vnd.oci.image.manifest.v1+json", "docker-content-digest": image.manifest.digest };
      return { status: 200, body: image.manifest.bytes, headers };
    }
    const blob = kind === "blobs" ? image.blobs.find(({ digest }) => digest === reference) : undefined;
    if (blob) return { status: 200, body: repository?.corrupt ? Buffer.alloc(blob.bytes.length) : blob.bytes };
  }
  return { status: 404, body: Buffer.from('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}') };
}

/** Manifest and blobs of an image. */
export function render(image: StandImage) {
  const layers = image.layers.map(contentOf);
  const config = contentOf(Buffer.from(JSON.stringify({ os: "linux", architecture: "amd64", config: { Labels: { image: image.label } } })));
  const descriptor = ({ digest, bytes }: { digest: string; bytes: Buffer }) => ({ mediaType: "application/octet-stream", digest, size: bytes.length });
  const manifest = contentOf(Buffer.from(JSON.stringify({ schemaVersion: 2, config: descriptor(config), layers: layers.map(descriptor) })));
  return { manifest, config, blobs: [config, ...layers] };
}

function contentOf(bytes: Buffer) {
  return { bytes, digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
}

function loginOf(header: string | undefined): { username: string; password: string } | undefined {
  const [username = "", password = ""] = Buffer.from(header?.replace(/^Basic /, "") ?? "", "base64").toString().split(":");
  return header ? { username, password } : undefined;
}

function answerApiServer(stand: Stand, request: http.IncomingMessage, issued: { count: number }): Answer {
  stand.requests.push(`${request.method} ${request.url}`);
  const json = (status: number, value: unknown): Answer => ({ status, body: Buffer.from(JSON.stringify(value)) });
  const match = /^\/api\/v1\/namespaces\/([^/]+)\/(serviceaccounts|secrets)\/([^/]+)(\/token)?$/.exec(request.url ?? "");
  const [, namespace = "", kind = "", name = "", token] = match ?? [];
  const notFound = json(404, { kind: "Status", message: `${kind} "${name}" not found` });
  if (request.headers.authorization !== "Bearer node-token") return json(401, { kind: "Status", message: "Unauthorized" });
  if (kind === "secrets") {
    const secret = stand.secrets.get(`${namespace}/${name}`);
    return secret ? json(200, { metadata: { name, namespace, uid: secret.uid }, type: secret.type, data: secret.data }) : notFound;
  }
  const account = stand.accounts.get(`${namespace}/${name}`);
  if (!account) return notFound;
  if (!token) return json(200, { metadata: { name, namespace, ...account } });
  if (stand.tokenRefusal) return json(403, { kind: "Status", message: stand.tokenRefusal });
  const claims = { sub: `system:serviceaccount:${namespace}:${name}`, jti: `jti-${++issued.count}` };
  const jwt = `${encode({ alg: "RS256" })}.${encode(claims)}.c2lnbmF0dXJl`;
  const expirationTimestamp = new Date(stand.clock.now().getTime() + 3_600_000).toISOString();
  return json(201, { status: { token: jwt, expirationTimestamp } });
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
