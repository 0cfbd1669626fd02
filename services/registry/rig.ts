// For this room's tests: a registry with tenants A and B on a port of its own, and a client that shows the raw answers.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { MovableClock } from "../shared/clock.ts";
import { createMemorySink } from "../shared/event.ts";
import { createSeededRandom } from "../shared/random.ts";
import { digestOf } from "./core/digest.ts";
import { createRegistryRouter, type RegistryRouterOptions } from "./http.ts";
import { createPlainAuth, type PlainAuth, type PlainAuthOptions } from "./plain-auth.ts";
import { createRegistry, type Registry, type RegistryDefinition } from "./registry.ts";
import { type Answer, type Ask, HOST, send } from "./rig-client.ts";
import { IMAGE_TYPE, imageDocument } from "./rig-image.ts";
import { createMemoryStore } from "./store-memory.ts";

const REPOSITORIES: PlainAuthOptions["repositories"] = {
  "a/app": { grants: { a: ["*"] } },
  "a/other": { grants: { a: ["*"] } },
  "a/blobs/uploads/app": { grants: { a: ["*"] } },
  "a/manifests/b/tags": { grants: { a: ["*"] } },
  "b/app": { grants: { b: ["*"] } },
  "pub/base": { anonymous: ["pull"], grants: { a: ["push"] } },
  "a/**": { grants: { a: ["*"] } },
};

export interface Rig extends AsyncDisposable {
  readonly registry: Registry;
  readonly auth: PlainAuth;
  readonly clock: MovableClock;
  readonly events: ReturnType<typeof createMemorySink>["events"];
  readonly port: number;
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
  /** Pushes a blob in one request and returns its digest. */
  pushBlob(repository: string, bytes: Buffer | string, as?: string): Promise<string>;
  /** Pushes an image of these layers under a tag; returns the manifest's digest and bytes. */
  pushImage(repository: string, tag: string, options?: PushOptions): Promise<{ digest: string; bytes: Buffer }>;
}

interface PushOptions {
  readonly as?: string;
  readonly layers?: readonly (Buffer | string)[];
  readonly config?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Starts a rig; parts of the registry's definition and of the router's options can be replaced. */
export async function startRig(
  replace: Partial<RegistryDefinition> & { readonly autoCreate?: boolean } = {},
  router: Partial<RegistryRouterOptions> = {},
): Promise<Rig> {
  const { autoCreate = false, ...definition } = replace;
  const users = { a: { password: "a-password" }, b: { password: "b-password" } };
  const auth = createPlainAuth({ auth: "basic", users, repositories: REPOSITORIES ?? {}, autoCreate });
  const clock = new MovableClock({ now: () => new Date("2026-01-01T00:00:00Z") });
  const random = createSeededRandom("rig");
  const sink = createMemorySink();
  const { authenticator, authorizer, directory } = auth;
  const parts = { name: "rig", host: HOST, profile: "oci", clock, random, store: createMemoryStore() } as const;
  const registry = createRegistry({ ...parts, authenticator, authorizer, directory, ...definition });
  const registries = { find: (host: string) => (host === HOST ? registry : undefined), list: () => [registry] };
  const server = await listen(createRegistryRouter({ registries, clock, random, events: sink, ...router }));
  const { port } = server.address() as AddressInfo;
  const ask: Rig["ask"] = (method, path, options = {}) => send(port, { method, path, ...options });
  const pushBlob: Rig["pushBlob"] = async (repository, bytes, as = "a") => {
    const body = Buffer.from(bytes);
    const digest = digestOf(body);
    const answer = await ask("POST", `/v2/${repository}/blobs/uploads/?digest=${digest}`, { as, body });
    if (answer.status !== 201) throw new Error(`push of a blob: ${answer.status} ${answer.text}`);
    return digest;
  };
  return {
    ...{ registry, auth, clock, events: sink.events, port, ask, pushBlob },
    pushImage: (repository, tag, options = {}) => pushImage({ ask, pushBlob }, { repository, tag, ...options }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listen(router: ReturnType<typeof createRegistryRouter>): Promise<Server> {
  const server = createServer((request, response) => {
    Object.assign(response, { locals: {} });
    router(request as never, response as never, () => response.writeHead(404).end("next"));
  });
  // As the edge does: the client is told to go on when somebody reads.
  server.on("checkContinue", (request: IncomingMessage, response) => {
    const read = request._read.bind(request);
    request._read = (size) => {
      if (!response.headersSent) response.writeContinue();
      request._read = read;
      read(size);
    };
    server.emit("request", request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

async function pushImage(
  { ask, pushBlob }: Pick<Rig, "ask" | "pushBlob">,
  image: PushOptions & { readonly repository: string; readonly tag: string },
): Promise<{ digest: string; bytes: Buffer }> {
  const { repository, tag, as = "a", layers = ["layer"], config = "{}", extra } = image;
  const blobs: { digest: string; size: number }[] = [];
  for (const bytes of [config, ...layers]) {
    blobs.push({ digest: await pushBlob(repository, bytes, as), size: Buffer.from(bytes).length });
  }
  const [first, ...rest] = blobs;
  const bytes = imageDocument(first ?? { digest: "", size: 0 }, rest, extra);
  const path = `/v2/${repository}/manifests/${tag}`;
  const answer = await ask("PUT", path, { as, body: bytes, headers: { "Content-Type": IMAGE_TYPE } });
  if (answer.status !== 201) throw new Error(`push of a manifest: ${answer.status} ${answer.text}`);
  return { digest: digestOf(bytes), bytes };
}
