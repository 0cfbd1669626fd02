// The puller against registries of other shapes: bearer tokens, indexes, redirects, no answer for the platform.
import http from "node:http";
import { afterEach, expect, test } from "vitest";
import { createDialer } from "../shared/dial.ts";
import { sha256 } from "./core/sha256.ts";
import { pullImage } from "./pull.ts";
import { Runtime } from "./runtime.ts";
import { render } from "./testdata/stand.ts";

const APP = render({ layers: [Buffer.from("layer")], label: "app" });
const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

type Handler = (request: http.IncomingMessage) => {
  status: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
};

async function startRegistry(handle: Handler) {
  const requests: string[] = [];
  const server = http.createServer((request, response) => {
    requests.push(
      `${request.method} ${request.headers.host}${request.url} ${request.headers.authorization?.split(" ")[0] ?? "-"}`,
    );
    const { status, body = "", headers } = handle(request);
    response.writeHead(status, { "content-length": String(body.length), ...headers });
    response.end(request.method === "HEAD" ? undefined : body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const dialer = createDialer({
    resolve: () => ({ address: "127.0.0.1", port, tls: false }),
    ca: () => "",
    mayLeave: () => false,
  });
  const pull = (login?: { username: string; password: string }) =>
    pullImage({ image: "reg.example/app:1", login, runtime: new Runtime(), dialer, traceparent: () => "00-x" }).finally(
      () => dialer.close(),
    );
  return { requests, pull };
}

const index = (architecture: string) => {
  const bytes = JSON.stringify({
    schemaVersion: 2,
    manifests: [{ digest: APP.manifest.digest, size: 1, platform: { os: "linux", architecture } }],
  });
  return { bytes, digest: `sha256:${sha256(bytes)}` };
};

function serve(request: http.IncomingMessage, top: { bytes: string | Buffer; digest: string }) {
  const last = request.url?.split("/").at(-1) ?? "";
  if (last === "1" || last === top.digest)
    return { status: 200, body: top.bytes, headers: { "docker-content-digest": top.digest } };
  const content = [APP.manifest, ...APP.blobs].find(({ digest }) => digest === last);
  return content ? { status: 200, body: content.bytes } : { status: 404 };
}

test("an index leads to linux/amd64; without it the pull fails as not found", async () => {
  const good = index("amd64");
  const { pull } = await startRegistry((request) => serve(request, good));
  const image = await pull();
  expect(image.imageRef).toBe(APP.config.digest);
  expect(image.repoTags).toEqual(["reg.example/app:1"]);
  expect(image.repoDigests).toEqual([`reg.example/app@${good.digest}`]);
  const other = index("arm64");
  const twin = await startRegistry((request) => serve(request, other));
  await expect(twin.pull()).rejects.toThrow("rpc error: code = NotFound");
});

test("a bearer challenge is answered with a token; a refused one says what the server said", async () => {
  const challenge = 'Bearer realm="https://auth.example/token",service="reg",scope="repository:app:pull"';
  let accept = true;
  const registry = await startRegistry((request) => {
    if (request.url?.startsWith("/token")) return { status: 200, body: '{"token":"t0ken"}' };
    if (request.headers.authorization === "Bearer t0ken" && accept) return serve(request, APP.manifest);
    const error = request.headers.authorization ? ',error="insufficient_scope"' : "";
    return { status: 401, headers: { "www-authenticate": challenge + error } };
  });
  await registry.pull({ username: "u", password: "p" });
  expect(registry.requests.slice(0, 3)).toEqual([
    "HEAD reg.example/v2/app/manifests/1 -",
    "GET auth.example/token?service=reg&scope=repository%3Aapp%3Apull Basic",
    "HEAD reg.example/v2/app/manifests/1 Bearer",
  ]);
  accept = false;
  await expect(registry.pull()).rejects.toThrow(
    "pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed",
  );
});

test("a redirect to another host loses the password", async () => {
  const { pull, requests } = await startRegistry((request) => {
    if (request.headers.host !== "reg.example") return serve(request, APP.manifest);
    if (!request.headers.authorization) return { status: 401, headers: { "www-authenticate": "Basic realm=x" } };
    const blob = /\/blobs\/(.*)/.exec(request.url ?? "");
    return blob
      ? { status: 307, headers: { location: `https://blobs.example/${blob[1]}` } }
      : serve(request, APP.manifest);
  });
  await pull({ username: "u", password: "p" });
  expect(requests.filter((line) => line.includes("blobs.example")).every((line) => line.endsWith(" -"))).toBe(true);
  expect(requests.filter((line) => line.includes("blobs.example"))).toHaveLength(2);
});
