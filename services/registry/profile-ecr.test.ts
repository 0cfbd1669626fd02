// The profile `ecr`: shapes of refusals (spec aws 5.1, 5.2) and ECR's oddities, which can be switched off.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "./core/digest.ts";
import { type Rig, startRig } from "./rig.ts";
import { HOST } from "./rig-client.ts";
import { IMAGE_TYPE, imageDocument } from "./rig-image.ts";
import type { AuthenticationRefusal, Authenticator } from "./types.ts";

const ACCOUNT = "111122223333";
/** Takes the refusal from the user's name; anybody else is signed in. */
const authenticator: Authenticator = {
  authenticate(authorization) {
    const user =
      Buffer.from(authorization?.slice(6) ?? "", "base64")
        .toString()
        .split(":")[0] ?? "";
    if (user === "") return { kind: "refused", refusal: "no-credentials" };
    if (user !== "a") return { kind: "refused", refusal: user as AuthenticationRefusal };
    return { kind: "principal", principal: { name: "arn:a", anonymous: false, detail: 1 } };
  },
};
const authorizer = {
  authorize: ({ repository }: { repository: string }) =>
    repository.startsWith("b/")
      ? {
          effect: "deny" as const,
          reason: "implicit-deny",
          decidedBy: "none",
          message: "User: arn:a is not authorized",
        }
      : { effect: "allow" as const, reason: "allowed", decidedBy: "policy" },
};
const directory = { find: (name: string) => (name === "a/none" ? undefined : { immutableTags: name === "a/fixed" }) };
const PARTS = { profile: "ecr", authenticator, authorizer, directory } as const;
const options = { registryId: ACCOUNT };

let rig: Rig;
let plain: Rig;
beforeEach(async () => {
  rig = await startRig({ ...PARTS, options });
  plain = await startRig({ ...PARTS, options: { ...options, ecrQuirks: false } });
});
afterEach(async () => {
  await rig[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
});

describe("credentials", () => {
  const CHALLENGE = `Basic realm="https://${HOST}/",service="ecr.amazonaws.com"`;
  it.each(["no-credentials", "bad-credentials"])("%s: 401 as plain text", async (user) => {
    for (const method of ["GET", "HEAD"]) {
      const answer = await rig.ask(method, "/v2/", { as: user });
      expect(answer.status).toBe(401);
      expect(answer.headers).toMatchObject({
        "www-authenticate": CHALLENGE,
        "docker-distribution-api-version": "registry/2.0",
        "content-type": "text/plain; charset=utf-8",
        "content-length": "15",
      });
      expect(answer.text).toBe(method === "GET" ? "Not Authorized\n" : "");
    }
  });
  it.each([
    ["malformed", 400],
    ["wrong-region", 400],
    ["expired", 403],
  ])("%s: %i without a challenge", async (user, status) => {
    const answer = await rig.ask("GET", "/v2/a/app/manifests/1", { as: user });
    expect(answer.status).toBe(status);
    expect(answer.headers["www-authenticate"]).toBeUndefined();
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.text.endsWith("}\n")).toBe(true);
    if (user === "expired") {
      const message = "Your authorization token has expired. Reauthenticate and try again.";
      expect(JSON.parse(answer.text)).toEqual({ errors: [{ code: "DENIED", message }] });
    }
  });
  it("good: 200 with an empty body", async () => {
    const answer = await rig.ask("GET", "/v2/", { as: "a" });
    expect([answer.status, answer.text]).toEqual([200, ""]);
  });
});

it("denies before it looks: there and not there, in the authorizer's words", async () => {
  for (const name of ["b/app", "b/none"]) {
    const answer = await rig.ask("GET", `/v2/${name}/manifests/1`, { as: "a" });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text)).toEqual({ errors: [{ code: "DENIED", message: "User: arn:a is not authorized" }] });
    expect(answer.headers["www-authenticate"]).toBeUndefined();
  }
  const missing = await rig.ask("GET", "/v2/a/none/manifests/1", { as: "a" });
  const message = `The repository with name 'a/none' does not exist in the registry with id '${ACCOUNT}'`;
  expect([missing.status, missing.text]).toEqual([
    404,
    `${JSON.stringify({ errors: [{ code: "NAME_UNKNOWN", message }] })}\n`,
  ]);
  const push = await rig.ask("POST", "/v2/a/none/blobs/uploads/", { as: "a" });
  expect([push.status, JSON.parse(push.text).errors[0].message]).toEqual([404, message]);
});

describe("oddities, and the same without ecrQuirks", () => {
  const both = async (method: string, path: string, ask = {}) =>
    [await rig.ask(method, path, { as: "a", ...ask }), await plain.ask(method, path, { as: "a", ...ask })] as const;
  const first = (text: string) => {
    const [{ code, message }] = JSON.parse(text).errors;
    return { code, message };
  };

  it("chunks: 201 with the first chunk's Range, absolute Locations, no status", async () => {
    for (const [one, quirks] of [
      [rig, true],
      [plain, false],
    ] as const) {
      const location = (await one.ask("POST", "/v2/a/app/blobs/uploads/", { as: "a" })).headers.location ?? "";
      expect(location.startsWith(quirks ? `http://${HOST}/v2/a/app/blobs/uploads/` : "/v2/a/app/blobs/uploads/")).toBe(
        true,
      );
      const path = location.replace(`http://${HOST}`, "");
      const chunks = [];
      for (const body of ["0123456789", "abcde"]) chunks.push(await one.ask("PATCH", path, { as: "a", body }));
      expect(chunks.map(({ status }) => status)).toEqual(quirks ? [201, 201] : [202, 202]);
      expect(chunks.map(({ headers }) => headers.range)).toEqual(quirks ? ["0-9", "0-9"] : ["0-9", "0-14"]);
      expect((await one.ask("GET", path, { as: "a" })).status).toBe(quirks ? 404 : 204);
      const digest = digestOf(Buffer.from("0123456789abcde"));
      expect((await one.ask("PUT", `${path}?digest=${digest}`, { as: "a" })).status).toBe(201);
      expect((await one.ask("GET", `/v2/a/app/blobs/${digest}`, { as: "a" })).status).toBe(200);
    }
  });
  it("a wrong digest", async () => {
    const [ecr, oci] = await both("POST", `/v2/a/app/blobs/uploads/?digest=${digestOf(Buffer.from("x"))}`, {
      body: "y",
    });
    const message = "None of the provided layer digests match the calculated layer digest";
    expect([ecr.status, first(ecr.text)]).toEqual([400, { code: "BLOB_UPLOAD_INVALID", message }]);
    expect(first(oci.text).code).toBe("DIGEST_INVALID");
  });
  it("a bad manifest, and one whose layers are missing", async () => {
    const headers = { "Content-Type": IMAGE_TYPE };
    const [bad, badOci] = await both("PUT", "/v2/a/app/manifests/1", { body: "{", headers });
    const message = "Invalid parameter at 'ImageManifest' failed to satisfy constraint: 'Invalid JSON syntax'";
    expect([bad.status, first(bad.text)]).toEqual([405, { code: "UNSUPPORTED", message }]);
    expect(badOci.status).toBe(400);
    const [x, y] = ["x", "y"].map((text) => ({ digest: digestOf(Buffer.from(text)), size: 1 }));
    const body = imageDocument(x!, [y!]);
    const [missing, missingOci] = await both("PUT", "/v2/a/app/manifests/1", { body, headers });
    expect([missing.status, first(missing.text)]).toEqual([
      404,
      {
        code: "BLOB_UNKNOWN",
        message:
          `Layers with digests '[${x?.digest}, ${y?.digest}]' required for pushing image into repository with name ` +
          `'a/app' in the registry with id '${ACCOUNT}' do not exist`,
      },
    ]);
    expect([missingOci.status, first(missingOci.text).code]).toEqual([400, "MANIFEST_BLOB_UNKNOWN"]);
  });
  it("manifests that are not there, and malformed tags", async () => {
    const [absent] = await both("GET", "/v2/a/app/manifests/1");
    expect([absent.status, first(absent.text)]).toEqual([
      404,
      { code: "MANIFEST_UNKNOWN", message: "Requested image not found" },
    ]);
    const [ecr, oci] = await both("HEAD", "/v2/a/app/manifests/.bad");
    expect([ecr.status, oci.status]).toEqual([400, 404]);
  });
  it("mounting is off", async () => {
    const answers = [];
    for (const one of [rig, plain]) {
      const digest = await one.pushBlob("a/app", "x");
      answers.push(
        (await one.ask("POST", `/v2/a/other/blobs/uploads/?mount=${digest}&from=a/app`, { as: "a" })).status,
      );
    }
    expect(answers).toEqual([202, 201]);
  });
  it("lists", async () => {
    const [ecr, oci] = await both("GET", "/v2/a/app/tags/list");
    expect([ecr.headers["content-type"], oci.headers["content-type"]]).toEqual([
      "text/plain; charset=utf-8",
      "application/json",
    ]);
    const [large, clamped] = await both("GET", "/v2/a/app/tags/list?n=1001");
    expect([large.status, first(large.text).code, clamped.status]).toEqual([405, "UNSUPPORTED", 200]);
    const [unknown, empty] = await both("GET", `/v2/a/none/referrers/${digestOf(Buffer.from("x"))}`);
    expect([unknown.status, empty.status]).toEqual([404, 200]);
  });
  it("blob HEAD knows the media type that a manifest gives", async () => {
    const types = [];
    for (const one of [rig, plain]) {
      await one.pushImage("a/app", "1", { layers: ["layer"] });
      const path = `/v2/a/app/blobs/${digestOf(Buffer.from("layer"))}`;
      types.push((await one.ask("HEAD", path, { as: "a" })).headers["content-type"]);
      types.push((await one.ask("GET", path, { as: "a" })).headers["content-type"]);
    }
    const stream = "application/octet-stream";
    expect(types).toEqual(["application/vnd.oci.image.layer.v1.tar", stream, stream, stream]);
  });
});

it("C17: an immutable tag stays, and may be pushed again as it is", async () => {
  for (const one of [rig, plain]) {
    const { bytes } = await one.pushImage("a/fixed", "1");
    const config = { digest: await one.pushBlob("a/fixed", '{"v":2}'), size: 7 };
    const ask = { as: "a", body: imageDocument(config, []), headers: { "Content-Type": IMAGE_TYPE } };
    const refused = await one.ask("PUT", "/v2/a/fixed/manifests/1", ask);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text).errors[0]).toEqual({
      code: "TAG_INVALID",
      message:
        "The image tag '1' already exists in the 'a/fixed' repository and cannot be overwritten because the repository is immutable.",
    });
    expect((await one.ask("GET", "/v2/a/fixed/manifests/1", { as: "a" })).body).toEqual(bytes);
    expect((await one.ask("PUT", "/v2/a/fixed/manifests/1", { ...ask, body: bytes })).status).toBe(201);
    expect((await one.ask("PUT", "/v2/a/fixed/manifests/2", ask)).status).toBe(201);
    await one.pushImage("a/app", "1");
    await one.pushBlob("a/app", '{"v":2}');
    expect((await one.ask("PUT", "/v2/a/app/manifests/1", ask)).status).toBe(201);
  }
});
