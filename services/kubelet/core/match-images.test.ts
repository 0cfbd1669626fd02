// The match table of kubelet.md 1.6.
import { expect, test } from "vitest";
import { findMatchingPattern, matchesImage } from "./match-images.ts";

test.each([
  ["*.reg.example", "a.reg.example/x", true],
  ["*.reg.example", "reg.example/x", false],
  ["*.reg.example", "a.b.reg.example/x", false],
  ["a.*.example", "a.reg.example/x", true],
  ["a.reg.*", "a.reg.example/x", true],
  ["pre*-x.reg.example", "pre1-x.reg.example/x", true],
  ["pre*-x.reg.example", "pre1-y.reg.example/x", false],
  ["*a*b", "xaxxb/x", true],
  ["*a*b", "xbxxa/x", false],
  ["*reg.example", "myreg.example/x", true],
  ["reg.example", "reg.example:5000/x", false],
  ["reg.example:5000", "reg.example/x", false],
  ["reg.example:5000", "reg.example:5000/x", true],
  ["reg.example/team-a", "reg.example/team-a/app", true],
  ["reg.example/team-a", "reg.example/team-a-evil/app", true],
  ["reg.example/team-a/", "reg.example/team-a/app", true],
  ["reg.example/team-a/", "reg.example/team-a-evil/app", false],
  ["reg.example/*", "reg.example/app", false],
  ["*", "reg.example/x", false],
  ["*", "localhost/x", true],
  ["https://reg.example", "reg.example/x", false],
  ["reg.example:", "reg.example/x", true],
  ["REG.example", "reg.example/x", false],
  ["REG.example", "REG.example/x", true],
  ["reg.example:*", "reg.example:5000/x", false],
  ["%zz.example", "a.example/x", false],
  ["*.dkr.ecr.*.amazonaws.com", "111122223333.dkr.ecr.us-west-2.amazonaws.com/team-a/app", true],
])("%s against %s: %s", (pattern, target, expected) => {
  expect(matchesImage(pattern, target)).toBe(expected);
});

test("a mismatch says what kept it from matching", () => {
  expect(findMatchingPattern(["reg.example", "*.io"], "reg.example:5000/x")).toEqual({
    matches: false,
    because: "reg.example: port (none) is not the image's port 5000; *.io: port (none) is not the image's port 5000",
  });
  expect(findMatchingPattern(["nope", "reg.example"], "reg.example/x")).toEqual({
    matches: true,
    pattern: "reg.example",
  });
});
