import { expect, it } from "vitest";
import { findOperation } from "./operation.ts";

it.each([
  ["manifest", "GET", false, "GetManifest"],
  ["uploads", "POST", false, "StartUpload"],
  ["uploads", "POST", true, "MountBlob"],
  ["blob", "GET", true, "GetBlob"],
  ["manifest", "POST", false, undefined],
  ["manifest", "constructor", false, undefined],
  ["unknown", "GET", false, undefined],
] as const)("%s %s (mounting: %s) is %s", (kind, method, mounting, operation) => {
  expect(findOperation(kind, method, mounting)).toBe(operation);
});
