import { describe, expect, it } from "vitest";
import { allowsRange, decideRange, matchesEtag } from "./range.ts";

const WHOLE = { kind: "whole" };
const NO = { kind: "unsatisfiable" };
const parts = (...ranges: [number, number][]) => ({
  kind: "parts",
  ranges: ranges.map(([start, end]) => ({ start, end })),
});

describe("a Range header on 1000 bytes", () => {
  it.each([
    [undefined, WHOLE],
    ["bytes=0-0", parts([0, 0])],
    ["bytes=10-19", parts([10, 19])],
    ["bytes=990-", parts([990, 999])],
    ["bytes=-1", parts([999, 999])],
    ["bytes=-5000", parts([0, 999])],
    ["bytes=0-5000", parts([0, 999])],
    ["bytes=500-0", NO],
    ["bytes=1000-", NO],
    ["bytes=-0", NO],
    ["bytes=0-99, 900-", parts([0, 99], [900, 999])],
    ["bytes=0-1,5000-", parts([0, 1])],
    ["bytes=0-1,500-0", NO],
    ["items=0-1", WHOLE],
    ["bytes=abc", WHOLE],
    ["bytes=-", WHOLE],
    ["bytes=", WHOLE],
    [`bytes=${Array(100).fill("0-0").join(",")}`, parts(...Array<[number, number]>(100).fill([0, 0]))],
    [`bytes=${Array(101).fill("0-0").join(",")}`, NO],
  ])("%s", (header, expected) => expect(decideRange(header, 1000)).toEqual(expected));

  it("is never satisfiable on an empty blob", () => expect(decideRange("bytes=0-", 0)).toEqual(NO));
});

describe("conditions", () => {
  it.each([
    [undefined, false],
    ['"d"', true],
    ['W/"d"', true],
    ['"x", "d"', true],
    ["*", true],
    ['"x"', false],
    ["d", false],
  ])("If-None-Match: %s", (header, expected) => expect(matchesEtag(header, "d")).toBe(expected));
  it.each([
    [undefined, true],
    ['"d"', true],
    ['W/"d"', false],
    ['"x"', false],
  ])("If-Range: %s", (header, expected) => expect(allowsRange(header, "d")).toBe(expected));
});
