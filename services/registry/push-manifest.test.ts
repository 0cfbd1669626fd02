// Section C of the test cases: manifests, tags, referrers, deletes.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "./core/digest.ts";
import { type Rig, startRig } from "./rig.ts";
import type { Answer } from "./rig-client.ts";
import { IMAGE_TYPE, imageDocument } from "./rig-image.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
const error = (answer: Answer) => JSON.parse(answer.text).errors[0];
const get = (path: string, as = "a") => rig.ask("GET", `/v2/${path}`, { as });
const put = (path: string, body: Buffer | string, type: string = IMAGE_TYPE) =>
  rig.ask("PUT", `/v2/${path}`, { as: "a", body, headers: type ? { "Content-Type": type } : {} });

async function blob(repository: string, text: string): Promise<{ digest: string; size: number }> {
  return { digest: await rig.pushBlob(repository, text), size: text.length };
}

describe("what a manifest names", () => {
  it("must be in its repository: elsewhere is nowhere", async () => {
    const config = await blob("a/app", "{}");
    const layer = await blob("a/other", "layer");
    const absent = { digest: digestOf(Buffer.from("nowhere")), size: 5 };
    const answers = [];
    for (const one of [layer, absent]) {
      const answer = await put("a/app/manifests/1", imageDocument(config, [one]));
      expect([answer.status, error(answer).code]).toEqual([400, "MANIFEST_BLOB_UNKNOWN"]);
      expect(error(answer).detail).toEqual([{ digest: one.digest }]);
      answers.push(answer.text.replaceAll(one.digest, "D"));
    }
    expect(answers[0]).toBe(answers[1]);
    expect((await get("a/app/manifests/1")).status).toBe(404);
    await rig.pushBlob("a/app", "layer");
    expect((await put("a/app/manifests/1", imageDocument(config, [layer]))).status).toBe(201);
  });
  it("must have the size that it gives", async () => {
    const [config, layer] = [await blob("a/app", "{}"), await blob("a/app", "layer")];
    const answer = await put("a/app/manifests/1", imageDocument(config, [{ ...layer, size: 6 }]));
    expect([answer.status, error(answer).code]).toEqual([400, "SIZE_INVALID"]);
    expect((await put("a/app/manifests/1", imageDocument(config, [layer]))).status).toBe(201);
  });
  it("must be manifests, in an index", async () => {
    const image = await rig.pushImage("a/app", "1");
    const other = await rig.pushImage("a/other", "1", { config: '{"x":1}' });
    const index = (child: { digest: string; bytes: Buffer }) =>
      Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          manifests: [{ mediaType: IMAGE_TYPE, digest: child.digest, size: child.bytes.length }],
        }),
      );
    expect((await put("a/app/manifests/i", index(other), INDEX_TYPE)).status).toBe(400);
    expect((await put("a/app/manifests/i", index(image), INDEX_TYPE)).status).toBe(201);
    await using sparse = await startRig({ options: { sparseIndexes: true } });
    const body = index(other);
    const headers = { "Content-Type": INDEX_TYPE };
    expect((await sparse.ask("PUT", "/v2/a/app/manifests/i", { as: "a", body, headers })).status).toBe(201);
  });
});

describe("a pushed manifest", () => {
  it("comes back byte for byte, with its type", async () => {
    const [config, layer] = [await blob("a/app", "{}"), await blob("a/app", "layer")];
    const bytes = Buffer.from(`\n ${imageDocument(config, [layer]).toString().replaceAll(",", " ,\t")} \n`);
    const answer = await put("a/app/manifests/odd", bytes);
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({
      location: `/v2/a/app/manifests/${digestOf(bytes)}`,
      "docker-content-digest": digestOf(bytes),
    });
    for (const reference of ["odd", digestOf(bytes)]) {
      const got = await get(`a/app/manifests/${reference}`);
      expect(got.body).toEqual(bytes);
      expect(got.headers["content-type"]).toBe(IMAGE_TYPE);
    }
    expect((await get(`a/app/blobs/${digestOf(bytes)}`)).body).toEqual(bytes);
  });
  it("must hash to the digest it is pushed under", async () => {
    const config = await blob("a/app", "{}");
    const bytes = imageDocument(config, []);
    const wrong = await put(`a/app/manifests/${digestOf(Buffer.from("x"))}`, bytes);
    expect([wrong.status, error(wrong).code]).toEqual([400, "DIGEST_INVALID"]);
    expect((await put(`a/app/manifests/${digestOf(bytes)}`, bytes)).status).toBe(201);
    expect((await put("a/app/manifests/sha256:short", bytes)).status).toBe(400);
  });
  it("needs a valid tag", async () => {
    const bytes = imageDocument(await blob("a/app", "{}"), []);
    expect(error(await put("a/app/manifests/.bad", bytes)).code).toBe("MANIFEST_INVALID");
    const twice = await put(`a/app/manifests/${digestOf(bytes)}?tag=ok&tag=.bad`, bytes);
    expect(twice.status).toBe(400);
    expect((await get("a/app/manifests/ok")).status).toBe(404);
  });
  it("under sha512 with tags answers by those tags with that digest", async () => {
    const bytes = imageDocument(await blob("a/app", "{}"), []);
    const digest = digestOf(bytes, "sha512");
    const answer = await put(`a/app/manifests/${digest}?tag=x&tag=y`, bytes);
    expect([answer.status, answer.headers["oci-tag"]]).toEqual([201, "x, y"]);
    expect((await rig.ask("HEAD", "/v2/a/app/manifests/x", { as: "a" })).headers["docker-content-digest"]).toBe(digest);
    expect((await get(`a/app/manifests/${digestOf(bytes)}`)).status).toBe(404);
  });
  it.each([{ "Content-Type": IMAGE_TYPE }, { "Content-Type": IMAGE_TYPE, "Transfer-Encoding": "chunked" }])(
    "may have 4 MiB and no byte more (%j)",
    async (headers) => {
      const config = await blob("a/app", "{}");
      const limit = 4 * 1024 * 1024;
      const base = imageDocument(config, []);
      const exact = Buffer.concat([base, Buffer.alloc(limit - base.length, " ")]);
      const over = Buffer.concat([exact, Buffer.from(" ")]);
      const refused = await rig.ask("PUT", "/v2/a/app/manifests/big", { as: "a", body: over, headers });
      expect([refused.status, error(refused).code]).toEqual([413, "SIZE_INVALID"]);
      expect((await rig.ask("PUT", "/v2/a/app/manifests/big", { as: "a", body: exact, headers })).status).toBe(201);
    },
  );
  it.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["nothing", ""],
  ])("is refused as %s", async (_name, body) => {
    const answer = await put("a/app/manifests/1", body);
    expect([answer.status, error(answer).code]).toEqual([400, "MANIFEST_INVALID"]);
  });
});

describe("tags", () => {
  const list = async (query = "", repository = "a/app") => {
    const answer = await get(`${repository}/tags/list${query}`);
    return {
      status: answer.status,
      tags: answer.status === 200 ? JSON.parse(answer.text).tags : [],
      link: answer.headers.link,
    };
  };
  it("are listed in byte order, paged, linked", async () => {
    expect(await list()).toEqual({ status: 200, tags: [], link: undefined });
    const bytes = imageDocument(await blob("a/app", "{}"), []);
    for (const tag of ["b", "a", "C", "1", "_"]) await put(`a/app/manifests/${tag}`, bytes);
    expect((await list()).tags).toEqual(["1", "C", "_", "a", "b"]);
    expect(await list("?n=0")).toEqual({ status: 200, tags: [], link: undefined });
    expect(await list("?n=2")).toEqual({
      status: 200,
      tags: ["1", "C"],
      link: '</v2/a/app/tags/list?n=2&last=C>; rel="next"',
    });
    expect((await list("?last=a")).tags).toEqual(["b"]);
    expect((await list("?last=zz")).tags).toEqual([]);
    expect((await list("?n=x")).status).toBe(400);
    const seen: string[] = [];
    for (let next: string | undefined = "/v2/a/app/tags/list?n=2"; next; ) {
      const answer: Answer = await rig.ask("GET", next, { as: "a" });
      seen.push(...JSON.parse(answer.text).tags);
      await put(`a/app/manifests/0-${seen.length}`, bytes);
      next = /<([^>]+)>/.exec(String(answer.headers.link ?? ""))?.[1];
    }
    expect(seen).toEqual(["1", "C", "_", "a", "b"]);
  });
  it("move, and go one by one", async () => {
    const first = await rig.pushImage("a/app", "1");
    const second = await rig.pushImage("a/app", "1", { config: '{"v":2}' });
    expect((await get("a/app/manifests/1")).body).toEqual(second.bytes);
    expect((await get(`a/app/manifests/${first.digest}`)).status).toBe(200);
    expect((await rig.ask("DELETE", "/v2/a/app/manifests/1", { as: "a" })).status).toBe(202);
    expect((await get("a/app/manifests/1")).status).toBe(404);
    expect((await get(`a/app/manifests/${second.digest}`)).status).toBe(200);
    expect((await rig.ask("DELETE", "/v2/a/app/manifests/1", { as: "a" })).status).toBe(404);
  });
  it("all go with their manifest", async () => {
    const { digest, bytes } = await rig.pushImage("a/app", "1");
    for (const tag of ["2", "3"]) await put(`a/app/manifests/${tag}`, bytes);
    await rig.pushImage("a/app", "other", { config: '{"v":2}' });
    expect((await rig.ask("DELETE", `/v2/a/app/manifests/${digest}`, { as: "a" })).status).toBe(202);
    for (const reference of ["1", "2", "3", digest])
      expect((await get(`a/app/manifests/${reference}`)).status).toBe(404);
    expect((await list()).tags).toEqual(["other"]);
    expect((await rig.ask("DELETE", `/v2/a/app/manifests/${digest}`, { as: "a" })).status).toBe(404);
  });
  it("of a repository that does not exist", async () => {
    const answer = await get("a/none/tags/list");
    expect([answer.status, error(answer).code]).toEqual([404, "NAME_UNKNOWN"]);
  });
});

describe("referrers", () => {
  const subject = { mediaType: IMAGE_TYPE, digest: digestOf(Buffer.from("not yet here")), size: 12 };
  const referrers = async (digest: string, query = "", repository = "a/app") => {
    const answer = await get(`${repository}/referrers/${digest}${query}`);
    return { answer, manifests: answer.status === 200 ? JSON.parse(answer.text).manifests : undefined };
  };
  it("are listed with type and annotations, also before their subject is there", async () => {
    const config = await blob("a/app", "{}");
    const extra = { subject, artifactType: "a/signature", annotations: { k: "v" } };
    const bytes = imageDocument(config, [], extra);
    const answer = await put("a/app/manifests/sig", bytes);
    expect([answer.status, answer.headers["oci-subject"]]).toEqual([201, subject.digest]);
    await put("a/app/manifests/sbom", imageDocument(config, [], { subject }));
    const all = await referrers(subject.digest);
    expect(all.answer.headers["content-type"]).toBe(INDEX_TYPE);
    expect(all.manifests).toHaveLength(2);
    expect(all.manifests[0]).toEqual({
      mediaType: IMAGE_TYPE,
      size: bytes.length,
      digest: digestOf(bytes),
      artifactType: "a/signature",
      annotations: { k: "v" },
    });
    expect(all.manifests[1].artifactType).toBe("application/vnd.oci.image.config.v1+json");
    const filtered = await referrers(subject.digest, "?artifactType=a/signature");
    expect(filtered.manifests).toEqual([all.manifests[0]]);
    expect(filtered.answer.headers["oci-filters-applied"]).toBe("artifactType");
    await rig.ask("DELETE", `/v2/a/app/manifests/${digestOf(bytes)}`, { as: "a" });
    expect((await referrers(subject.digest)).manifests).toEqual([all.manifests[1]]);
  });
  it("of an unknown digest, or in a repository never pushed to, are none", async () => {
    const unknown = await referrers(subject.digest);
    const never = await referrers(subject.digest, "", "a/none");
    expect([unknown.answer.status, never.answer.status]).toEqual([200, 200]);
    expect(never.answer.text).toBe(`{"schemaVersion":2,"mediaType":"${INDEX_TYPE}","manifests":[]}`);
    expect(unknown.answer.text).toBe(never.answer.text);
    expect((await referrers("sha256:x")).answer.status).toBe(400);
  });
});

describe("deletes", () => {
  it("unlink a blob here and nowhere else", async () => {
    const digest = await rig.pushBlob("a/app", "shared");
    await rig.pushBlob("a/other", "shared");
    expect((await rig.ask("DELETE", `/v2/a/app/blobs/${digest}`, { as: "a" })).status).toBe(202);
    expect((await rig.ask("DELETE", `/v2/a/app/blobs/${digest}`, { as: "a" })).status).toBe(404);
    expect((await get(`a/app/blobs/${digest}`)).status).toBe(404);
    expect((await get(`a/other/blobs/${digest}`)).text).toBe("shared");
  });
  it("can be switched off", async () => {
    for (const [options, tag, digest] of [
      [{ deletes: false }, 405, 405],
      [{ tagDelete: false }, 405, 202],
    ] as const) {
      await using fixed = await startRig({ options });
      const image = await fixed.pushImage("a/app", "1");
      expect((await fixed.ask("DELETE", "/v2/a/app/manifests/1", { as: "a" })).status).toBe(tag);
      expect((await fixed.ask("DELETE", `/v2/a/app/manifests/${image.digest}`, { as: "a" })).status).toBe(digest);
    }
  });
});

it("makes repositories on push only where that is allowed", async () => {
  const path = "/v2/a/new/blobs/uploads/";
  const refused = await rig.ask("POST", path, { as: "a" });
  expect([refused.status, error(refused).code]).toEqual([404, "NAME_UNKNOWN"]);
  await using open = await startRig({ autoCreate: true });
  expect((await open.ask("GET", "/v2/a/new/tags/list", { as: "a" })).status).toBe(404);
  expect((await open.ask("POST", path, { as: "a" })).status).toBe(202);
  expect((await open.ask("GET", "/v2/a/new/tags/list", { as: "a" })).status).toBe(200);
  expect((await open.ask("POST", path, { as: "b" })).status).toBe(403);
});
