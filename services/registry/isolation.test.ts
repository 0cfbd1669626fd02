// Sections E and F of the test cases: what one tenant can learn of another (nothing), and pulls that outlive their
// credentials. Answers are compared whole: status, headers, body, after taking out what the client itself sent.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "./core/digest.ts";
import { type Rig, startRig } from "./rig.ts";
import type { Answer, Ask } from "./rig-client.ts";
import { IMAGE_TYPE, imageDocument } from "./rig-image.ts";

let rig: Rig;
let foreign: { digest: string; bytes: Buffer };
/** A layer that only `b/app` has, and a digest that nobody has. */
const D = digestOf(Buffer.from("secret of b"));
const X = digestOf(Buffer.from("nowhere"));

beforeEach(async () => {
  rig = await startRig();
  foreign = await rig.pushImage("b/app", "t", { as: "b", layers: ["secret of b"], config: '{"b":1}' });
});
afterEach(() => rig[Symbol.asyncDispose]());

/** An answer without what differs by nature: ids, and the names that the client sent. */
function shape(answer: Answer, ...sent: readonly string[]): string {
  const { date: _date, ...headers } = answer.headers;
  let text = JSON.stringify({ status: answer.status, headers, body: answer.text });
  for (const name of [...sent].sort((a, b) => b.length - a.length)) text = text.replaceAll(name, "SENT");
  return text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID").replaceAll(/"content-length":"\d+"/g, "");
}

/** Asks for each path as A; all answers must be the same. */
async function allEqual(method: string, paths: readonly string[], sent: readonly string[], ask: Ask = {}) {
  const answers = [];
  for (const path of paths) answers.push(await rig.ask(method, path, { as: "a", ...ask }));
  const [first, ...others] = answers.map((answer) => shape(answer, ...sent));
  for (const other of others) expect(other).toBe(first);
  return answers[0]?.status;
}

describe("a foreign repository", () => {
  it.each(["HEAD", "GET"])("E1 %s: a blob that is there looks like one that is not", async (method) => {
    expect(await allEqual(method, [`/v2/b/app/blobs/${D}`, `/v2/b/app/blobs/${X}`], [D, X])).toBe(403);
    expect((await rig.ask(method, `/v2/b/app/blobs/${D}`, { as: "b" })).status).toBe(200);
  });
  it.each(["HEAD", "GET"])("E3 %s: tags, digests and repositories that are not there look the same", async (method) => {
    const paths = ["b/app/manifests/t", `b/app/manifests/${foreign.digest}`, "b/app/manifests/u", "b/none/manifests/t"];
    const sent = ["b/app", "b/none", foreign.digest];
    expect(
      await allEqual(
        method,
        paths.map((path) => `/v2/${path}`),
        sent,
      ),
    ).toBe(403);
    expect((await rig.ask(method, "/v2/b/app/manifests/t", { as: "b" })).status).toBe(200);
  });
  it("E5: tags and referrers tell nothing", async () => {
    expect(await allEqual("GET", ["/v2/b/app/tags/list", "/v2/b/none/tags/list"], ["b/app", "b/none"])).toBe(403);
    const paths = [`/v2/b/app/referrers/${D}`, `/v2/b/none/referrers/${D}`];
    expect(await allEqual("GET", paths, ["b/app", "b/none"])).toBe(403);
    expect((await rig.ask("GET", "/v2/b/app/tags/list", { as: "b" })).status).toBe(200);
  });
  it("E9: cannot be mounted into, nor pushed to, nor deleted from", async () => {
    const own = await rig.pushBlob("a/app", "own");
    const requests = [
      ["POST", `/v2/b/app/blobs/uploads/?mount=${own}&from=a/app`],
      ["POST", "/v2/b/app/blobs/uploads/"],
      ["PUT", "/v2/b/app/manifests/t"],
      ["DELETE", "/v2/b/app/manifests/t"],
      ["DELETE", `/v2/b/app/blobs/${D}`],
    ] as const;
    for (const [method, path] of requests) {
      expect((await rig.ask(method, path, { as: "a" })).status).toBe(403);
      expect((await rig.ask(method, path.replace("b/app", "b/none"), { as: "a" })).status).toBe(403);
    }
    expect((await rig.ask("POST", "/v2/b/app/blobs/uploads/", { as: "b" })).status).toBe(202);
    expect((await rig.ask("DELETE", "/v2/b/app/manifests/t", { as: "b" })).status).toBe(202);
  });
  it("is not even looked at: neither directory nor content", async () => {
    const looked: string[] = [];
    const { registry } = rig;
    await using watched = await startRig({
      directory: {
        find: (name) => {
          looked.push(name);
          return registry.directory.find(name);
        },
      },
    });
    for (const path of [`blobs/${D}`, "manifests/t", "tags/list", `referrers/${D}`]) {
      await watched.ask("GET", `/v2/b/app/${path}`, { as: "a" });
      await watched.ask("GET", `/v2/b/app/${path}`);
    }
    await watched.ask("POST", `/v2/a/app/blobs/uploads/?mount=${D}&from=b/app`, { as: "a" });
    expect(looked).toEqual(["a/app"]);
  });
  it("E22: is denied, not confirmed, for a known entity tag", async () => {
    const headers = { "If-None-Match": `"${foreign.digest}"` };
    expect((await rig.ask("GET", "/v2/b/app/manifests/t", { as: "a", headers })).status).toBe(403);
    expect((await rig.ask("GET", "/v2/b/app/manifests/t", { as: "b", headers })).status).toBe(304);
    const path = `/v2/b/app/blobs/${D}`;
    expect((await rig.ask("GET", path, { as: "a", headers: { "If-None-Match": `"${D}"` } })).status).toBe(403);
    expect((await rig.ask("GET", path, { as: "b", headers: { "If-None-Match": `"${D}"` } })).status).toBe(304);
  });
});

describe("foreign content through one's own repository", () => {
  it.each(["HEAD", "GET"])("E2 %s: a blob of others is not there, and does not get there", async (method) => {
    expect(await allEqual(method, [`/v2/a/app/blobs/${D}`, `/v2/a/app/blobs/${X}`], [D, X])).toBe(404);
    expect((await rig.ask("GET", `/v2/a/app/blobs/${D}`, { as: "a" })).status).toBe(404);
  });
  it("E4: neither is a manifest by its digest", async () => {
    const answer = await rig.ask("GET", `/v2/a/app/manifests/${foreign.digest}`, { as: "a" });
    expect([answer.status, JSON.parse(answer.text).errors[0].code]).toEqual([404, "MANIFEST_UNKNOWN"]);
    expect((await rig.ask("GET", `/v2/b/app/manifests/${foreign.digest}`, { as: "b" })).status).toBe(200);
  });
  it("E6, E7: mounting it opens a session like any other", async () => {
    const uploads = "/v2/a/app/blobs/uploads/";
    const queries = [
      `?mount=${D}&from=b/app`,
      `?mount=${X}&from=b/app`,
      `?mount=${D}&from=b/none`,
      `?mount=${D}`,
      `?mount=${X}`,
    ];
    const status = await allEqual(
      "POST",
      queries.map((query) => uploads + query),
      [],
    );
    expect(status).toBe(202);
    expect((await rig.ask("GET", `/v2/a/app/blobs/${D}`, { as: "a" })).status).toBe(404);
    expect(rig.events.find((event) => event.operation === "registry:MountBlob")).toMatchObject({
      decision: "allow",
      notes: { mount: "source-denied: no-grant" },
    });
    const twin = await rig.pushBlob("a/other", "own");
    expect((await rig.ask("POST", `${uploads}?mount=${twin}&from=a/other`, { as: "a" })).status).toBe(201);
  });
  it("E11: referrers pushed elsewhere are not listed", async () => {
    const subject = { mediaType: IMAGE_TYPE, digest: foreign.digest, size: foreign.bytes.length };
    await rig.pushImage("b/app", "sig", { as: "b", extra: { subject } });
    const list = async (repository: string, as: string) =>
      JSON.parse((await rig.ask("GET", `/v2/${repository}/referrers/${foreign.digest}`, { as })).text).manifests.length;
    expect(await list("a/app", "a")).toBe(0);
    expect(await list("b/app", "b")).toBe(1);
  });
  it("E12: one tenant's deletes leave the other's equal image whole", async () => {
    const own = await rig.pushImage("a/app", "t", { layers: ["secret of b"], config: '{"b":1}' });
    expect(own.digest).toBe(foreign.digest);
    for (const path of [`manifests/${own.digest}`, `blobs/${D}`]) {
      expect((await rig.ask("DELETE", `/v2/a/app/${path}`, { as: "a" })).status).toBe(202);
    }
    expect((await rig.ask("GET", "/v2/b/app/manifests/t", { as: "b" })).body).toEqual(foreign.bytes);
    expect((await rig.ask("GET", `/v2/b/app/blobs/${D}`, { as: "b" })).text).toBe("secret of b");
  });
  it("E13: naming it in a manifest fails like naming nothing", async () => {
    const config = { digest: await rig.pushBlob("a/app", "{}"), size: 2 };
    const headers = { "Content-Type": IMAGE_TYPE };
    const answers = [];
    for (const digest of [D, X]) {
      const body = imageDocument(config, [{ digest, size: 11 }]);
      answers.push(shape(await rig.ask("PUT", "/v2/a/app/manifests/t", { as: "a", body, headers }), digest));
    }
    expect(answers[0]).toContain("MANIFEST_BLOB_UNKNOWN");
    expect(answers[0]).toBe(answers[1]);
  });
  it("E14: pushing equal bytes is a push like any other", async () => {
    const path = `/v2/a/app/blobs/uploads/?digest=${D}`;
    expect((await rig.ask("POST", path, { as: "a" })).status).toBe(202);
    expect((await rig.ask("POST", path, { as: "a", body: "secret of b" })).status).toBe(201);
    expect((await rig.ask("DELETE", `/v2/a/app/blobs/${D}`, { as: "a" })).status).toBe(202);
    expect((await rig.ask("GET", `/v2/b/app/blobs/${D}`, { as: "b" })).status).toBe(200);
  });
  it("E16: sessions of others do not exist", async () => {
    const session = (await rig.ask("POST", "/v2/b/app/blobs/uploads/", { as: "b" })).headers["docker-upload-uuid"];
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const none = "00000000-0000-4000-8000-000000000000";
      const paths = [session, none].map((id) => `/v2/a/app/blobs/uploads/${id}`);
      expect(await allEqual(method, paths, [])).toBe(404);
    }
    expect((await rig.ask("GET", `/v2/b/app/blobs/uploads/${session}`, { as: "b" })).status).toBe(204);
  });
});

describe("the catalog", () => {
  const catalog = async (as: string | undefined, query = "") => {
    const answer = await rig.ask("GET", `/v2/_catalog${query}`, as ? { as } : {});
    return { names: JSON.parse(answer.text).repositories, link: answer.headers.link };
  };
  const OWN = ["a/app", "a/blobs/uploads/app", "a/manifests/b/tags", "a/other", "pub/base"];
  it.each([
    ["a", OWN],
    ["b", ["b/app", "pub/base"]],
    [undefined, ["pub/base"]],
  ])("E10: of %s", async (as, names) => expect(await catalog(as)).toEqual({ names, link: undefined }));
  it("E10: pages are counted after filtering", async () => {
    expect(await catalog("b", "?n=1")).toEqual({
      names: ["b/app"],
      link: '</v2/_catalog?n=1&last=b%2Fapp>; rel="next"',
    });
    expect(await catalog("b", "?n=1&last=b%2Fapp")).toEqual({ names: ["pub/base"], link: undefined });
  });
});

it("E15: timing of what is there and what is not (reported)", async () => {
  const times = new Map<string, number[]>();
  for (let round = 0; round < 40; round++) {
    for (const digest of [D, X]) {
      const before = performance.now();
      await rig.ask("POST", `/v2/a/app/blobs/uploads/?mount=${digest}&from=b/app`, { as: "a" });
      times.set(digest, [...(times.get(digest) ?? []), performance.now() - before]);
    }
  }
  const median = (digest: string) => times.get(digest)?.sort((a, b) => a - b)[20] ?? Number.NaN;
  console.info(`E6 medians: present ${median(D).toFixed(2)} ms, absent ${median(X).toFixed(2)} ms`);
  expect(times.get(D)).toHaveLength(40);
});

it("E18: revoked rights count at once, with the same password", async () => {
  const ask = () => rig.ask("GET", "/v2/b/app/manifests/t", { as: "b" });
  expect((await ask()).status).toBe(200);
  rig.auth.setRepository("b/app", {});
  expect((await ask()).status).toBe(403);
  rig.auth.setRepository("b/app", { grants: { b: ["pull"] } });
  expect((await ask()).status).toBe(200);
  expect((await rig.ask("PUT", "/v2/b/app/manifests/t", { as: "b" })).status).toBe(403);
  rig.auth.setRepository("b/app", { anonymous: ["pull"] });
  expect((await rig.ask("GET", "/v2/b/app/manifests/t")).status).toBe(200);
});
