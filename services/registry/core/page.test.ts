import { describe, expect, it } from "vitest";
import { cutPage, type PageLimits, parsePage } from "./page.ts";

const LIMITS: PageLimits = { max: 3, tooLarge: "clamp", withoutN: 100 };
const TAGS = ["a", "b", "c", "d"];

describe("a page of a, b, c, d", () => {
  it.each([
    ["", ["a", "b", "c", "d"], undefined],
    ["n=0", [], undefined],
    ["n=2", ["a", "b"], "n=2&last=b"],
    ["n=2&last=b", ["c", "d"], undefined],
    ["n=2&last=bb", ["c", "d"], undefined],
    ["n=1&last=%00", ["a"], "n=1&last=a"],
    ["last=z", [], undefined],
    ["n=99", ["a", "b", "c"], "n=3&last=c"],
  ])("?%s", (query, items, next) => {
    expect(cutPage(TAGS, parsePage(new URLSearchParams(query), LIMITS), LIMITS)).toEqual({ items, next });
  });
  it.each(["n=x", "n=-1", "n=", "n=1.5"])("?%s is refused", (query) => {
    expect(() => parsePage(new URLSearchParams(query), LIMITS)).toThrow(
      expect.objectContaining({ refusal: "page-invalid" }),
    );
  });
  it("is refused above the limit where the profile says so", () => {
    const refuse = { ...LIMITS, tooLarge: "refuse" } as const;
    expect(() => parsePage(new URLSearchParams("n=4"), refuse)).toThrow(
      expect.objectContaining({ refusal: "page-too-large" }),
    );
    expect(parsePage(new URLSearchParams("n=3"), refuse)).toEqual({ n: 3, last: undefined });
  });
});
