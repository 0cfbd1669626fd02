// Blob pulls: ranges as lazy pullers send them, and credentials that expire between two of them (section F).
import { request as startRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "./core/digest.ts";
import { createPlainAuth } from "./plain-auth.ts";
import { type Rig, startRig } from "./rig.ts";
import { credentialsOf, HOST } from "./rig-client.ts";

let rig: Rig;
let digest: string;
const BYTES = Buffer.from(Array.from({ length: 2000 }, (_, index) => index % 251));

beforeEach(async () => {
  rig = await startRig();
  digest = await rig.pushBlob("a/app", BYTES);
});
afterEach(() => rig[Symbol.asyncDispose]());

const get = (headers: Record<string, string>, method = "GET") =>
  rig.ask(method, `/v2/a/app/blobs/${digest}`, { as: "a", headers });

describe("a blob", () => {
  it("whole, with everything that clients look at", async () => {
    for (const method of ["GET", "HEAD"]) {
      const answer = await get({ "Accept-Encoding": "zstd;q=1.0,gzip;q=0.8,deflate;q=0.5" }, method);
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        "content-length": "2000",
        "content-type": "application/octet-stream",
        "docker-content-digest": digest,
        "accept-ranges": "bytes",
        etag: `"${digest}"`,
        "cache-control": "private, max-age=31536000, immutable",
        vary: "Authorization",
      });
      expect(answer.headers["content-encoding"]).toBeUndefined();
      expect(answer.body).toEqual(method === "GET" ? BYTES : Buffer.alloc(0));
    }
  });
  it.each([
    ["bytes=0-1", 0, 1],
    ["bytes=1990-", 1990, 1999],
    ["bytes=-5", 1995, 1999],
    ["bytes=100-99999", 100, 1999],
  ])("%s", async (range, start, end) => {
    const answer = await get({ Range: range });
    expect(answer.status).toBe(206);
    expect(answer.headers["content-range"]).toBe(`bytes ${start}-${end}/2000`);
    expect(answer.body).toEqual(BYTES.subarray(start, end + 1));
  });
  it.each(["bytes=2000-", "bytes=500-0", "bytes=-0"])("%s cannot be satisfied", async (range) => {
    const answer = await get({ Range: range });
    expect([answer.status, answer.headers["content-range"]]).toEqual([416, "bytes */2000"]);
    expect((await get({ Range: range }, "HEAD")).status).toBe(200);
  });
  it("in several ranges, as one multipart body of the announced length", async () => {
    const answer = await get({ Range: "bytes=0-99,1000-1099" });
    expect(answer.status).toBe(206);
    expect(answer.headers["content-length"]).toBe(String(answer.body.length));
    const boundary = /^multipart\/byteranges; boundary=(\w+)$/.exec(answer.headers["content-type"] ?? "")?.[1];
    const parts = answer.body.toString("latin1").split(`\r\n--${boundary}`);
    expect(parts).toHaveLength(4);
    expect([parts[0], parts[3]]).toEqual(["", "--\r\n"]);
    for (const [part, start, end] of [
      [parts[1], 0, 99],
      [parts[2], 1000, 1099],
    ] as const) {
      const [head, body] = (part ?? "").split("\r\n\r\n");
      expect(head).toContain(`Content-Range: bytes ${start}-${end}/2000`);
      expect(Buffer.from(body ?? "", "latin1")).toEqual(BYTES.subarray(start, end + 1));
    }
  });
  it.each([
    ["400", 400],
    ["200", 200],
  ] as const)("in several ranges, with multiRange %s: %i", async (multiRange, status) => {
    await using other = await startRig({ options: { multiRange } });
    const path = `/v2/a/app/blobs/${await other.pushBlob("a/app", BYTES)}`;
    expect((await other.ask("GET", path, { as: "a", headers: { Range: "bytes=0-1,4-5" } })).status).toBe(status);
    expect((await other.ask("GET", path, { as: "a", headers: { Range: "bytes=0-1" } })).status).toBe(206);
  });
  it("honours If-Range and If-None-Match", async () => {
    expect((await get({ Range: "bytes=0-1", "If-Range": `"${digest}"` })).status).toBe(206);
    expect((await get({ Range: "bytes=0-1", "If-Range": '"other"' })).status).toBe(200);
    expect((await get({ "If-None-Match": `"${digest}"` })).status).toBe(304);
    expect((await get({ "If-None-Match": '"other"' })).status).toBe(200);
  });
  it("under a malformed digest is refused", async () => {
    const answer = await rig.ask("GET", "/v2/a/app/blobs/sha256:short", { as: "a" });
    expect([answer.status, JSON.parse(answer.text).errors[0].code]).toEqual([400, "DIGEST_INVALID"]);
  });
});

it("F6: the requests of a lazy puller", async () => {
  const steps = [
    [await get({ Range: "bytes=0-1" }), 206],
    [await get({}, "HEAD"), 200],
    [await get({ Range: "bytes=0-99,1000-1099" }), 206],
  ] as const;
  for (const [answer, status] of steps) expect(answer.status).toBe(status);
});

describe("credentials that expire during a pull", () => {
  /** The rig's accounts, but good for one hour only. */
  async function startExpiring(profile: "oci" | "ecr"): Promise<Rig> {
    const repositories = { "a/app": { grants: { a: ["pull", "push"] } } } as const;
    const plain = createPlainAuth({ auth: "basic", users: { a: { password: "a-password" } }, repositories });
    let expired = false;
    const expiring = await startRig({
      profile,
      authorizer: plain.authorizer,
      directory: plain.directory,
      authenticator: {
        authenticate: (authorization) => {
          expired ||= expiring.clock.now().getTime() >= Date.parse("2026-01-01T01:00:00Z");
          const stale = expired && authorization === credentialsOf("a").Authorization;
          if (stale) return { kind: "refused", refusal: "expired", lineage: "L" };
          return plain.authenticator.authenticate(authorization?.replace(/^Fresh /, "Basic "));
        },
      },
    });
    return expiring;
  }
  const FRESH = { Authorization: credentialsOf("a").Authorization!.replace("Basic", "Fresh") };

  it.each([
    ["oci", 401, "UNAUTHORIZED", `Basic realm="${HOST}"`],
    ["ecr", 403, "DENIED", undefined],
  ] as const)(
    "F2, F3, F5 (%s): the next range is refused with %i, fresh ones go on",
    async (profile, status, code, challenge) => {
      await using expiring = await startExpiring(profile);
      const blob = await expiring.pushBlob("a/app", BYTES);
      const path = `/v2/a/app/blobs/${blob}`;
      const first = await expiring.ask("GET", path, { as: "a", headers: { Range: "bytes=0-999" } });
      expect(first.status).toBe(206);
      expiring.clock.advance(3600);
      const refused = await expiring.ask("GET", path, { as: "a", headers: { Range: "bytes=1000-" } });
      expect([refused.status, JSON.parse(refused.text).errors[0].code]).toEqual([status, code]);
      expect(refused.headers["www-authenticate"]).toBe(challenge);
      expect(expiring.events.at(-1)).toMatchObject({ decision: "deny", reason: "expired", lineage: "L", status });
      const rest = await expiring.ask("GET", path, { headers: { ...FRESH, Range: "bytes=1000-" } });
      expect([rest.status, rest.headers["content-range"]]).toEqual([206, "bytes 1000-1999/2000"]);
      expect(digestOf(Buffer.concat([first.body, rest.body]))).toBe(blob);
    },
  );

  it("F1: a body under way is not cut", async () => {
    await using expiring = await startExpiring("oci");
    const bytes = expiring.registry.random.bytes(8 * 1024 * 1024);
    const path = `/v2/a/app/blobs/${await expiring.pushBlob("a/app", bytes)}`;
    const received = await new Promise<Buffer>((resolve, reject) => {
      const headers = { Host: HOST, ...credentialsOf("a") };
      const request = startRequest({ port: expiring.port, host: "127.0.0.1", path, headers });
      request.on("error", reject).on("response", (response) => {
        const chunks: Buffer[] = [];
        response.once("data", () => expiring.clock.advance(3600));
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => resolve(Buffer.concat(chunks)));
      });
      request.end();
    });
    expect(received.equals(bytes)).toBe(true);
    expect((await expiring.ask("GET", path, { as: "a" })).status).toBe(401);
  });
});
