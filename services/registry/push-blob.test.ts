// Section B of the test cases: upload sessions, whole uploads, mounting one's own blobs.
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "./core/digest.ts";
import { type Rig, startRig } from "./rig.ts";
import { type Answer, credentialsOf, HOST } from "./rig-client.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

const UPLOADS = "/v2/a/app/blobs/uploads/";
const code = (answer: Answer) => JSON.parse(answer.text).errors[0].code;
const start = async (path = UPLOADS): Promise<string> =>
  (await rig.ask("POST", path, { as: "a" })).headers.location ?? "";
const chunk = (location: string, body: string, range?: string) =>
  rig.ask("PATCH", location, { as: "a", body, headers: range ? { "Content-Range": range } : {} });
const finish = (location: string, digest: string, body = "") =>
  rig.ask("PUT", `${location}?digest=${digest}`, { as: "a", body });
const read = (digest: string, repository = "a/app") => rig.ask("GET", `/v2/${repository}/blobs/${digest}`, { as: "a" });

describe("a whole blob", () => {
  it("in POST, then PUT", async () => {
    const opened = await rig.ask("POST", UPLOADS, { as: "a" });
    expect(opened.status).toBe(202);
    const location = opened.headers.location ?? "";
    expect(location).toMatch(/^\/v2\/a\/app\/blobs\/uploads\/[0-9a-f-]{36}$/);
    expect(opened.headers).toMatchObject({ range: "0-0", "content-length": "0" });
    expect(location.endsWith(`/${opened.headers["docker-upload-uuid"]}`)).toBe(true);
    const digest = digestOf(Buffer.from("hello"));
    const done = await finish(location, digest, "hello");
    expect(done.status).toBe(201);
    expect(done.headers).toMatchObject({ location: `/v2/a/app/blobs/${digest}`, "docker-content-digest": digest });
    expect((await read(digest)).text).toBe("hello");
    expect((await rig.ask("GET", location, { as: "a" })).status).toBe(404);
  });
  it.each([
    ["empty", ""],
    ["{}", "{}"],
    ["binary", "\x00\xff\x00"],
  ])("in one POST: %s", async (_name, text) => {
    const body = Buffer.from(text, "latin1");
    expect((await read(await rig.pushBlob("a/app", body))).body).toEqual(body);
  });
  it("under sha512, announced or not", async () => {
    const digest = digestOf(Buffer.from("hello"), "sha512");
    expect((await finish(await start(), digest, "hello")).status).toBe(201);
    expect((await finish(await start(`${UPLOADS}?digest-algorithm=sha512`), digest, "hello")).status).toBe(201);
    expect((await read(digest)).text).toBe("hello");
    expect((await read(digestOf(Buffer.from("hello")))).status).toBe(404);
    expect((await rig.ask("POST", `${UPLOADS}?digest-algorithm=md5`, { as: "a" })).status).toBe(400);
  });
  it("in POST with a digest and no body opens a session", async () => {
    expect((await rig.ask("POST", `${UPLOADS}?digest=${digestOf(Buffer.from("x"))}`, { as: "a" })).status).toBe(202);
  });
  it.each(["sha256:short", "md5:abc", ""])("under %s is refused", async (digest) => {
    const answer = await rig.ask("POST", `${UPLOADS}?digest=${digest}`, { as: "a", body: "x" });
    expect([answer.status, code(answer)]).toEqual([400, "DIGEST_INVALID"]);
  });
  it("of several MiB, in many pieces, comes back equal", async () => {
    const bytes = rig.registry.random.bytes(5 * 1024 * 1024 + 17);
    const digest = await rig.pushBlob("a/app", bytes);
    expect((await read(digest)).body.equals(bytes)).toBe(true);
    const part = await rig.ask("GET", `/v2/a/app/blobs/${digest}`, {
      as: "a",
      headers: { Range: "bytes=524280-1572870" },
    });
    expect(part.body.equals(bytes.subarray(524280, 1572871))).toBe(true);
  });
});

describe("a session", () => {
  it("takes a stream without length, then its digest", async () => {
    const location = await start();
    const streamed = await rig.ask("PATCH", location, {
      as: "a",
      body: "hello",
      headers: { "Transfer-Encoding": "chunked" },
    });
    expect([streamed.status, streamed.headers.range]).toEqual([202, "0-4"]);
    expect((await finish(location, digestOf(Buffer.from("hello")))).status).toBe(201);
  });
  it("takes chunks in order, the last in the PUT", async () => {
    const location = await start();
    expect((await chunk(location, "0123456789", "0-9")).status).toBe(202);
    const status = await rig.ask("GET", location, { as: "a" });
    expect([status.status, status.headers.range, status.headers.location]).toEqual([204, "0-9", location]);
    const done = await rig.ask("PUT", `${location}?digest=${digestOf(Buffer.from("0123456789ab"))}`, {
      as: "a",
      body: "ab",
      headers: { "Content-Range": "10-11" },
    });
    expect(done.status).toBe(201);
  });
  it.each([
    ["a first chunk that starts later", "0123456789", "10-19", 416, "BLOB_UPLOAD_INVALID"],
    ["a range that runs backwards", "0123456789", "9-0", 400, "BLOB_UPLOAD_INVALID"],
    ["a range with a unit", "0123456789", "bytes 0-9", 400, "BLOB_UPLOAD_INVALID"],
    ["fewer bytes than declared", "01234", "0-9", 400, "SIZE_INVALID"],
    ["more bytes than declared", "0123456789x", "0-9", 400, "SIZE_INVALID"],
  ])("refuses %s, and stays usable", async (_name, body, range, status, expected) => {
    const location = await start();
    for (const headers of [{}, { "Transfer-Encoding": "chunked" }]) {
      const answer = await rig.ask("PATCH", location, {
        as: "a",
        body,
        headers: { "Content-Range": range, ...headers },
      });
      expect([answer.status, code(answer)]).toEqual([status, expected]);
      if (status === 416) expect(answer.headers).toMatchObject({ range: "0-0", location });
      expect((await rig.ask("GET", location, { as: "a" })).headers.range).toBe("0-0");
    }
    expect((await chunk(location, "0123456789", "0-9")).status).toBe(202);
    expect((await finish(location, digestOf(Buffer.from("0123456789")))).status).toBe(201);
  });
  it("refuses a chunk again, also at its first Location", async () => {
    const location = await start();
    expect((await chunk(location, "0123456789", "0-9")).status).toBe(202);
    expect((await chunk(location, "0123456789", "0-9")).status).toBe(416);
    expect((await rig.ask("GET", location, { as: "a" })).headers.range).toBe("0-9");
  });
  it("rolls a broken chunk back, hash and all", async () => {
    const location = await start();
    await chunk(location, "0123456789", "0-9");
    expect(
      (
        await rig.ask("PATCH", location, {
          as: "a",
          body: "abc",
          headers: { "Content-Range": "10-19", "Transfer-Encoding": "chunked" },
        })
      ).status,
    ).toBe(400);
    expect((await chunk(location, "abcdefghij", "10-19")).status).toBe(202);
    expect((await finish(location, digestOf(Buffer.from("0123456789abcdefghij")))).status).toBe(201);
  });
  it("ends at a wrong digest, and shows nothing", async () => {
    const location = await start();
    const wrong = digestOf(Buffer.from("other"));
    const answer = await finish(location, wrong, "hello");
    expect([answer.status, code(answer)]).toEqual([400, "DIGEST_INVALID"]);
    expect((await read(wrong)).status).toBe(404);
    expect((await read(digestOf(Buffer.from("hello")))).status).toBe(404);
    const gone = await finish(location, digestOf(Buffer.from("hello")), "hello");
    expect([gone.status, code(gone)]).toEqual([404, "BLOB_UPLOAD_UNKNOWN"]);
  });
  it("is kept when the digest is missing", async () => {
    const location = await start();
    const answer = await rig.ask("PUT", location, { as: "a", body: "hello" });
    expect([answer.status, code(answer)]).toEqual([400, "DIGEST_INVALID"]);
    expect((await finish(location, digestOf(Buffer.from("hello")), "hello")).status).toBe(201);
  });
  it("belongs to its repository", async () => {
    const location = await start();
    for (const [repository, as] of [
      ["a/other", "a"],
      ["b/app", "b"],
    ] as const) {
      const answer = await rig.ask("PATCH", location.replace("a/app", repository), { as, body: "x" });
      expect([answer.status, code(answer)]).toEqual([404, "BLOB_UPLOAD_UNKNOWN"]);
    }
    expect((await chunk(location, "x")).status).toBe(202);
  });
  it("can be given up, once", async () => {
    const location = await start();
    expect((await rig.ask("DELETE", location, { as: "a" })).status).toBe(204);
    expect((await rig.ask("DELETE", location, { as: "a" })).status).toBe(404);
  });
  it("ends when nobody comes back", async () => {
    const [stale, fresh] = [await start(), await start()];
    rig.clock.advance(3000);
    await chunk(fresh, "x");
    rig.clock.advance(3000);
    expect((await rig.ask("GET", stale, { as: "a" })).status).toBe(404);
    expect((await rig.ask("GET", fresh, { as: "a" })).status).toBe(204);
  });
  it("is written by one request at a time", async () => {
    const location = await start();
    const [one, two] = await Promise.all([chunk(location, "0123456789", "0-9"), chunk(location, "abcdefghij", "0-9")]);
    expect([one.status, two.status].sort()).toEqual([202, 416]);
    const bytes = one.status === 202 ? "0123456789" : "abcdefghij";
    expect((await finish(location, digestOf(Buffer.from(bytes)))).status).toBe(201);
  });
  it("keeps what came of a cut stream, and goes on from there", async () => {
    const location = await start();
    await cutPatch(location, "hello ", {});
    await waitFor(async () => (await rig.ask("GET", location, { as: "a" })).headers.range === "0-5");
    await chunk(location, "world");
    expect((await finish(location, digestOf(Buffer.from("hello world")))).status).toBe(201);
  });
  it("forgets what came of a cut chunk with a range", async () => {
    const location = await start();
    const cuts = () => rig.events.filter((event) => event.operation === "registry:UploadChunk").length;
    await cutPatch(location, "hello ", { "Content-Range": "0-99" });
    await waitFor(async () => cuts() === 1);
    expect((await chunk(location, "world", "0-4")).status).toBe(202);
    expect((await finish(location, digestOf(Buffer.from("world")))).status).toBe(201);
  });
});

/** Sends the head of a PATCH with a longer length and part of its body, then cuts the connection. */
function cutPatch(location: string, part: string, headers: Record<string, string>): Promise<void> {
  const all = { Host: HOST, ...credentialsOf("a"), "Content-Length": "100", ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve) => {
    const socket = connect(rig.port, "127.0.0.1");
    socket.once("close", () => resolve());
    // Cut only when the server has certainly begun to read: it answers an interim 100 then.
    socket.once("data", () => socket.write(part, () => setImmediate(() => socket.end())));
    socket.write(`PATCH ${location} HTTP/1.1\r\nExpect: 100-continue\r\n${head.join("")}\r\n`);
  });
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  for (let turns = 0; turns < 2000; turns++) {
    if (await condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("waited in vain");
}

describe("many at once", () => {
  it("the same blob in 20 pushes to 2 repositories", async () => {
    const body = Buffer.alloc(300_000, "x");
    const digests = await Promise.all(
      Array.from({ length: 20 }, (_, i) => rig.pushBlob(i % 2 ? "a/app" : "a/other", body)),
    );
    expect(new Set(digests).size).toBe(1);
    expect((await read(digests[0]!, "a/other")).body.equals(body)).toBe(true);
  });
  it("has a limit of open sessions per repository", async () => {
    await using small = await startRig({ options: { maxUploadsPerRepository: 1 } });
    expect((await small.ask("POST", UPLOADS, { as: "a" })).status).toBe(202);
    const refused = await small.ask("POST", UPLOADS, { as: "a" });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect((await small.ask("POST", "/v2/a/other/blobs/uploads/", { as: "a" })).status).toBe(202);
  });
});

it("refuses before the body is sent, where the client waits for that", async () => {
  const digest = digestOf(Buffer.from("hello"));
  const headers = { Expect: "100-continue", "Content-Length": "1000000000" };
  expect(await interim({ ...headers, ...credentialsOf("b") })).toMatch(/^HTTP\/1.1 403 /);
  expect(await interim({ ...headers, Authorization: "Basic eDp5" })).toMatch(/^HTTP\/1.1 401 /);
  expect(await interim({ ...headers, ...credentialsOf("a") })).toMatch(/^HTTP\/1.1 100 /);

  function interim(all: Record<string, string>): Promise<string> {
    const head = Object.entries({ Host: HOST, ...all }).map(([name, value]) => `${name}: ${value}\r\n`);
    return new Promise((resolve) => {
      const socket = connect(rig.port, "127.0.0.1", () => {
        socket.write(`POST ${UPLOADS}?digest=${digest} HTTP/1.1\r\n${head.join("")}\r\n`);
      });
      socket.once("data", (bytes) => {
        resolve(bytes.toString());
        socket.destroy();
      });
    });
  }
});

describe("mounting one's own blob", () => {
  it("links it", async () => {
    const digest = await rig.pushBlob("a/app", "hello");
    const answer = await rig.ask("POST", `/v2/a/other/blobs/uploads/?mount=${digest}&from=a%2Fapp`, { as: "a" });
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ location: `/v2/a/other/blobs/${digest}`, "docker-content-digest": digest });
    expect((await read(digest, "a/other")).text).toBe("hello");
  });
  it("from a public repository", async () => {
    const digest = await rig.pushBlob("pub/base", "hello");
    expect((await rig.ask("POST", `/v2/b/app/blobs/uploads/?mount=${digest}&from=pub/base`, { as: "b" })).status).toBe(
      201,
    );
  });
  it.each([
    ["two mounts", "mount=x&mount=y&from=a/app", 400],
    ["from without mount", "from=a/app", 202],
    ["a bad digest", "mount=x&from=a/app", 202],
    ["a bad source", `mount=${digestOf(Buffer.from("x"))}&from=../b`, 202],
  ])("%s", async (_name, query, status) => {
    expect((await rig.ask("POST", `/v2/a/other/blobs/uploads/?${query}`, { as: "a" })).status).toBe(status);
  });
});
