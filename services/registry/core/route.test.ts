import { describe, expect, it } from "vitest";
import { parseRoute } from "./route.ts";

const D = `sha256:${"a".repeat(64)}`;

describe("paths are routed from the right", () => {
  it.each([
    ["", "base", "", ""],
    ["_catalog", "catalog", "", ""],
    ["_oci/ext/discover", "extensions", "", ""],
    ["a/app/blobs/uploads/", "uploads", "a/app", ""],
    ["a/app/blobs/uploads", "uploads", "a/app", ""],
    ["a/app/blobs/uploads/42", "session", "a/app", "42"],
    ["x/blobs/uploads/list", "session", "x", "list"],
    [`a/app/blobs/${D}`, "blob", "a/app", D],
    [`a/app/blobs/${D.replace(":", "%3A")}`, "blob", "a/app", D],
    ["a/manifests/1", "manifest", "a", "1"],
    ["a/manifests/b/tags/list", "tags", "a/manifests/b", "list"],
    ["a/blobs/uploads/app/manifests/1", "manifest", "a/blobs/uploads/app", "1"],
    [`a/blobs/uploads/blobs/${D}`, "blob", "a/blobs/uploads", D],
    [`a/referrers/${D}`, "referrers", "a", D],
    ["te%61m/app/manifests/1", "manifest", "team/app", "1"],
  ])("/v2/%s is %s of %s", (rest, kind, name, reference) => {
    const route = parseRoute(rest);
    expect(route).toMatchObject({ kind, name, nameOk: true });
    if (kind !== "uploads") expect(route.reference).toBe(reference);
  });

  it.each([
    "a",
    "a/app",
    "manifests/1",
    "blobs/uploads/",
    "a/manifests/1/",
    "a/manifests/",
    "a/tags/list/",
    "a/tags/lost",
    "/",
  ])("/v2/%s is nothing", (rest) => expect(parseRoute(rest).kind).toBe("unknown"));

  it.each([
    ["A/App/manifests/1"],
    ["a//app/manifests/1"],
    ["a/../b/manifests/1"],
    ["a/app/../../b/app/manifests/1"],
    ["a/%2e%2e/b/manifests/1"],
    ["a/%252e%252e/b/manifests/1"],
    ["a%2Fapp/manifests/1"],
    ["a%00/manifests/1"],
    ["a/-x/manifests/1"],
    ["a/%zz/manifests/1"],
    [`${"a".repeat(256)}/manifests/1`],
  ])("/v2/%s has no valid name", (rest) => expect(parseRoute(rest)).toMatchObject({ kind: "manifest", nameOk: false }));
});
