// Section A of the test cases: routing, methods, names, and what every answer carries.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestOf } from "./core/digest.ts";
import { type Rig, startRig } from "./rig.ts";
import { HOST, send } from "./rig-client.ts";
import { IMAGE_TYPE } from "./rig-image.ts";

let rig: Rig;
let image: { digest: string; bytes: Buffer };
const LAYER = digestOf(Buffer.from("layer"));

beforeAll(async () => {
  rig = await startRig();
  image = await rig.pushImage("a/app", "t");
  await rig.pushImage("b/app", "t", { as: "b", config: '{"b":1}' });
  await rig.pushImage("pub/base", "t", { config: '{"pub":1}' });
});
afterAll(() => rig[Symbol.asyncDispose]());

const code = (text: string) => JSON.parse(text).errors[0].code;

describe("/v2/", () => {
  it.each([
    ["/v2/", "a", 200],
    ["/v2", "a", 200],
    ["/v2?x=1", "a", 200],
    ["/v2/", undefined, 401],
    ["/v2", undefined, 401],
  ])("GET %s as %s: %i", async (path, as, status) => {
    const answer = await rig.ask("GET", path, as ? { as } : {});
    expect(answer.status).toBe(status);
    expect(answer.headers["docker-distribution-api-version"]).toBe("registry/2.0");
    expect(answer.headers["www-authenticate"]).toBe(status === 401 ? `Basic realm="${HOST}"` : undefined);
    if (status === 401) expect(code(answer.text)).toBe("UNAUTHORIZED");
  });
  it.each([
    ["a wrong password", `Basic ${Buffer.from("a:wrong").toString("base64")}`, 401],
    ["an unknown user", `Basic ${Buffer.from("x:a-password").toString("base64")}`, 401],
    ["another scheme", "Bearer x", 401],
    ["no pair", `Basic ${Buffer.from("a").toString("base64")}`, 401],
    ["the empty pair of skopeo", "Basic Og==", 401],
    ["the right password", `Basic ${Buffer.from("a:a-password").toString("base64")}`, 200],
  ])("%s: %s", async (_name, authorization, status) => {
    const answer = await rig.ask("GET", "/v2/", { headers: { Authorization: authorization } });
    expect(answer.status).toBe(status);
  });
  it("refuses bad credentials even where everybody may pull", async () => {
    const path = "/v2/pub/base/manifests/t";
    const headers = { Authorization: `Basic ${Buffer.from("a:wrong").toString("base64")}` };
    expect((await rig.ask("GET", path, { headers })).status).toBe(401);
    expect((await rig.ask("GET", path)).status).toBe(200);
    expect((await rig.ask("GET", path, { headers: { Authorization: "Basic Og==" } })).status).toBe(200);
  });
  it("lists no extensions", async () => {
    expect((await rig.ask("GET", "/v2/_oci/ext/discover", { as: "a" })).text).toBe('{"extensions":[]}');
  });
  it("leaves other paths to others, and is healthy", async () => {
    expect((await rig.ask("GET", "/other")).text).toBe("next");
    expect((await rig.ask("GET", "/v2x/")).text).toBe("next");
    expect((await rig.ask("GET", "/healthz")).status).toBe(200);
  });
});

describe("methods and paths", () => {
  it.each([
    ["POST", "/v2/a/app/manifests/t", "GET, HEAD, PUT, DELETE"],
    ["PUT", "/v2/a/app/blobs/uploads/", "POST"],
    ["PATCH", `/v2/a/app/blobs/${LAYER}`, "GET, HEAD, DELETE"],
    ["DELETE", "/v2/_catalog", "GET, HEAD"],
  ])("%s %s: 405, Allow: %s", async (method, path, allow) => {
    const answer = await rig.ask(method, path, { as: "a" });
    expect([answer.status, answer.headers.allow, code(answer.text)]).toEqual([405, allow, "UNSUPPORTED"]);
    expect((await rig.ask(method, path)).status).toBe(401);
  });
  it.each(["/v2/a/app", "/v2/a/app/manifests/t/", "/v2/a/app/lost/t"])(
    "GET %s: 404 after authentication",
    async (path) => {
      expect((await rig.ask("GET", path, { as: "a" })).status).toBe(404);
      expect((await rig.ask("GET", path)).status).toBe(401);
    },
  );
  it.each(["a/blobs/uploads/app", "a/manifests/b/tags"])("pushes to and pulls from %s", async (name) => {
    const { bytes } = await rig.pushImage(name, "list", { config: `{"name":"${name}"}` });
    expect((await rig.ask("GET", `/v2/${name}/manifests/list`, { as: "a" })).body).toEqual(bytes);
    expect((await rig.ask("GET", `/v2/${name}/tags/list`, { as: "a" })).text).toBe(
      JSON.stringify({ name, tags: ["list"] }),
    );
  });
  it.each([
    "A/App",
    "a//app",
    "a/../b/app",
    "a/app/../../b/app",
    "a/%2e%2e/b/app",
    "a/app/%2E%2E/%2e./b/app",
    "a%2F..%2Fb/app",
    "%62%2Fapp",
    "a%2Fapp",
    "a/%252e%252e/b/app",
    "a/-x",
    "a".repeat(256),
  ])("GET %s: refused by its name", async (name) => {
    const answer = await rig.ask("GET", `/v2/${name}/manifests/t`, { as: "a" });
    expect([answer.status, code(answer.text)]).toEqual([400, "NAME_INVALID"]);
  });
  it("decodes each component once", async () => {
    expect((await rig.ask("GET", "/v2/%61/app/manifests/%74", { as: "a" })).body).toEqual(image.bytes);
    const blob = await rig.ask("GET", `/v2/a/app/blobs/${LAYER.replace(":", "%3A")}`, { as: "a" });
    expect(blob.text).toBe("layer");
  });
});

describe("pulling a manifest", () => {
  it.each(["t", "digest"])("HEAD and GET by %s", async (by) => {
    const path = `/v2/a/app/manifests/${by === "t" ? "t" : image.digest}`;
    for (const method of ["HEAD", "GET"]) {
      const answer = await rig.ask(method, path, { as: "a", headers: { Range: "bytes=0-1" } });
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        "content-type": IMAGE_TYPE,
        "content-length": String(image.bytes.length),
        "docker-content-digest": image.digest,
        etag: `"${image.digest}"`,
      });
      expect(answer.headers["cache-control"]).toBe(by === "t" ? "no-cache" : "private, max-age=31536000, immutable");
      expect(answer.body).toEqual(method === "HEAD" ? Buffer.alloc(0) : image.bytes);
    }
  });
  it.each([
    ["sha256:totallywrong", 400, "DIGEST_INVALID"],
    [".INVALID_MANIFEST_NAME", 404, "MANIFEST_UNKNOWN"],
    ["absent", 404, "MANIFEST_UNKNOWN"],
    [LAYER, 404, "MANIFEST_UNKNOWN"],
  ])("%s: %i %s", async (reference, status, expected) => {
    const answer = await rig.ask("GET", `/v2/a/app/manifests/${reference}`, { as: "a" });
    expect([answer.status, code(answer.text)]).toEqual([status, expected]);
    const head = await rig.ask("HEAD", `/v2/a/app/manifests/${reference}`, { as: "a" });
    expect([head.status, head.text]).toEqual([status, ""]);
  });
  it("answers 304 for a condition that holds, after permission", async () => {
    const path = `/v2/a/app/manifests/t`;
    const headers = { "If-None-Match": `"${image.digest}"` };
    const own = await rig.ask("GET", path, { as: "a", headers });
    expect([own.status, own.body.length]).toEqual([304, 0]);
    expect((await rig.ask("GET", path, { as: "b", headers })).status).toBe(403);
    expect((await rig.ask("GET", path, { headers })).status).toBe(401);
    expect((await rig.ask("GET", path, { as: "a", headers: { "If-None-Match": '"other"' } })).status).toBe(200);
  });
});

describe("which registry is meant", () => {
  const ask = (path: string, host: string, as?: string) =>
    send(rig.port, { method: "GET", path, headers: { Host: host }, ...(as ? { as } : {}) });
  it.each([
    ["its host with a port", "/v2/a/app/manifests/t", `${HOST}:4566`],
    ["its host in capitals", "/v2/a/app/manifests/t", HOST.toUpperCase()],
    ["?ns= on a generic host", `/v2/a/app/manifests/t?ns=${HOST}`, "localhost:4566"],
    ["the first component on a generic host", `/v2/${HOST}/a/app/manifests/t`, "localhost:4566"],
  ])("%s", async (_name, path, host) => {
    expect((await ask(path, host, "a")).body).toEqual(image.bytes);
    expect((await ask(path, host, "b")).status).toBe(403);
    expect((await ask(path, host)).status).toBe(401);
  });
  it("ns never selects a repository, nor another registry than the host's", async () => {
    expect((await ask("/v2/a/app/manifests/t?ns=b/app", HOST, "a")).status).toBe(200);
  });
  it("keeps the registry in Locations", async () => {
    const path = `/v2/${HOST}/a/app/blobs/uploads/`;
    const answer = await send(rig.port, { method: "POST", path, as: "a", headers: { Host: "localhost" } });
    expect(answer.headers.location).toMatch(new RegExp(`^/v2/${HOST}/a/app/blobs/uploads/[0-9a-f-]{36}$`));
  });
  it.each([
    ["/v2/", undefined, 401],
    ["/v2/", "a", 200],
    ["/v2/unknown.test/a/app/manifests/t", "a", 404],
    ["/v2/unknown.test/a/app/manifests/t", undefined, 401],
    ["/v2/a/app/manifests/t?ns=unknown.test", "a", 404],
  ])("a generic host asked for %s by %s: %i", async (path, as, status) => {
    expect((await ask(path, "localhost", as)).status).toBe(status);
  });
});

describe("events", () => {
  it("tell who asked for what, and what decided", async () => {
    await rig.ask("GET", "/v2/a/app/manifests/t", {
      as: "a",
      headers: { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` },
    });
    expect(rig.events.at(-1)).toMatchObject({
      operation: "registry:GetManifest",
      room: "registry",
      principal: "a",
      resource: `${HOST}/a/app`,
      decision: "allow",
      reason: "granted",
      decidedBy: "repositories[a/app].grants.a",
      status: 200,
      trace: "1".repeat(32),
    });
    await rig.ask("GET", "/v2/a/app/manifests/t", { as: "b" });
    expect(rig.events.at(-1)).toMatchObject({ decision: "deny", reason: "no-grant", status: 403, principal: "b" });
    await rig.ask("GET", "/v2/a/app/manifests/absent", { as: "a" });
    expect(rig.events.at(-1)).toMatchObject({ decision: "deny", reason: "manifest-unknown", status: 404 });
    await rig.ask("GET", "/v2/a/app/manifests/t");
    expect(rig.events.at(-1)).toMatchObject({ decision: "deny", reason: "anonymous-not-allowed", status: 401 });
    expect(JSON.stringify(rig.events)).not.toContain("password");
  });
});
