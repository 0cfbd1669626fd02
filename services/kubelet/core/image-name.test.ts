// Image names (kubelet.md 0.1, 2.1, 7.1, 7.3, 13.2) and Go's durations.
import { describe, expect, test } from "vitest";
import { parseChallenges } from "./challenge.ts";
import { parseGoDuration, renderGoDuration } from "./go-duration.ts";
import { parseImageName, renderRepository, renderRuntimeName } from "./image-name.ts";
import { applyDefaultTag, cutTagAndDigest, defaultPullPolicy } from "./image-tag.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each([
  ["nginx:1.2", "docker.io/library/nginx"],
  ["a/b", "docker.io/a/b"],
  ["index.docker.io/a/b", "docker.io/a/b"],
  ["docker.io/x", "docker.io/library/x"],
  ["localhost/x", "localhost/x"],
  [`h:5000/x@${DIGEST}`, "h:5000/x"],
  ["UPPER/foo", "UPPER/foo"],
  ["REG.example/x", "REG.example/x"],
])("%s is the repository %s", (image, repository) => {
  expect(renderRepository(parseImageName(image))).toBe(repository);
});

test.each([
  "Foo",
  "foo/Bar",
  "http://reg.example/x",
  "a".repeat(64),
  "reg.example/x:",
  "",
  `x@sha256:${"a".repeat(63)}`,
  "reg.example/../x",
])("%j is no image name", (image) => {
  expect(() => parseImageName(image)).toThrow();
});

test.each([
  ["app", "app:latest", "app", "docker.io/library/app:latest", "Always"],
  ["h:5000/app", "h:5000/app:latest", "h:5000/app", "h:5000/app:latest", "Always"],
  ["app:1", "app:1", "app", "docker.io/library/app:1", "IfNotPresent"],
  [`app:1@${DIGEST}`, `app:1@${DIGEST}`, "app", `docker.io/library/app@${DIGEST}`, "IfNotPresent"],
  [`app:latest@${DIGEST}`, `app:latest@${DIGEST}`, "app", `docker.io/library/app@${DIGEST}`, "Always"],
])("%s: with tag %s, cut %s, in the runtime %s, policy %s", (image, tagged, cut, runtime, policy) => {
  expect([
    applyDefaultTag(image),
    cutTagAndDigest(image),
    renderRuntimeName(parseImageName(image)),
    defaultPullPolicy(image),
  ]).toEqual([tagged, cut, runtime, policy]);
});

describe("durations", () => {
  test.each([
    ["10m", 600_000, "10m0s"],
    ["0s", 0, "0s"],
    ["0", 0, "0s"],
    ["1h2m3.5s", 3_723_500, "1h2m3.5s"],
    ["-1m", -60_000, "-1m0s"],
    ["39ms", 39, "39ms"],
    ["1.5s", 1500, "1.5s"],
    ["100us", 0.1, "100µs"],
  ])("%s is %s ms, rendered %s", (text, ms, rendered) => {
    expect(parseGoDuration(text)).toBe(ms);
    expect(renderGoDuration(ms)).toBe(rendered);
  });

  test.each([
    ["10", 'missing unit in duration "10"'],
    ["", 'invalid duration ""'],
    ["ten", 'invalid duration "ten"'],
    ["1d", 'unknown unit "d" in duration "1d"'],
  ])("%j is refused: %s", (text, problem) => {
    expect(parseGoDuration(text)).toEqual({ problem });
  });
});

test.each([
  ['Basic realm="https://x/",service="y"', [{ scheme: "basic", parameters: { realm: "https://x/", service: "y" } }]],
  [
    'Basic realm="a", Bearer realm="https://t",service="s",scope="repository:x:pull,push",error="insufficient_scope"',
    [
      {
        scheme: "bearer",
        parameters: { realm: "https://t", service: "s", scope: "repository:x:pull,push", error: "insufficient_scope" },
      },
      { scheme: "basic", parameters: { realm: "a" } },
    ],
  ],
  ["Negotiate", []],
  [undefined, []],
])("the challenges of %s", (header, challenges) => {
  expect(parseChallenges(header)).toEqual(challenges);
});
