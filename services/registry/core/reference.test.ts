import { describe, expect, it } from "vitest";
import { isName, isTag, parseReference } from "./reference.ts";

const D = `sha256:${"a".repeat(64)}`;

describe("grammars", () => {
  it.each(["a", "a.b", "a_b", "a__b", "a---b", "a0/b-1/c", "a".repeat(255)])("%s is a name", (name) => {
    expect(isName(name)).toBe(true);
  });
  it.each(["", "A", "a..b", "a___b", ".a", "a.", "a/", "/a", "a_-b", "a b", "a".repeat(256)])(
    "%s is no name",
    (name) => {
      expect(isName(name)).toBe(false);
    },
  );
  it("does not backtrack on hostile names", () => {
    expect(isName(`${"a-".repeat(120)}!`)).toBe(false);
  });
  it.each([
    ["1", true],
    ["_x.Y-9", true],
    ["a".repeat(128), true],
    ["a".repeat(129), false],
    [".INVALID_MANIFEST_NAME", false],
    ["", false],
  ])("tag %s: %s", (tag, ok) => expect(isTag(tag)).toBe(ok));
  it.each([
    [D, { digest: D }],
    [`sha512:${"0".repeat(128)}`, { digest: `sha512:${"0".repeat(128)}` }],
    [D.toUpperCase(), undefined],
    ["sha256:totallywrong", undefined],
    [`blake3:${"a".repeat(64)}`, undefined],
    ["latest", { tag: "latest" }],
    ["..", undefined],
  ])("reference %s", (text, expected) => expect(parseReference(text)).toEqual(expected));
});
