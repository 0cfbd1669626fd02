import { describe, expect, it } from "vitest";
import { DEFAULT_WORLD } from "./default-world.ts";
import { isIntended, parseWorldObject } from "./world.ts";

const world = parseWorldObject(DEFAULT_WORLD);
const ECR_A = "111122223333.dkr.ecr.us-west-2.amazonaws.com";

describe("what tenants intend", () => {
  it.each([
    ["team-a", `${ECR_A}/team-a/app:1`, true],
    ["team-a", `${ECR_A}/team-a/deep/er@sha256:0000`, true],
    ["team-b", `${ECR_A}/team-a/app:1`, false],
    ["team-b", `${ECR_A}/shared/base:1`, true],
    ["team-b", `${ECR_A}/shared`, false],
    ["team-b", "444455556666.dkr.ecr.us-west-2.amazonaws.com/team-b/app", true],
    ["team-a", "444455556666.dkr.ecr.us-west-2.amazonaws.com/team-b/app", false],
    ["team-a", "registry.pullproof.test:5000/team-a/app:1", false],
    ["team-a", "registry.pullproof.test/public/hello:1@sha256:0000", true],
    ["default", "registry.pullproof.test/public/hello", false],
    ["default", "docker.io/library/busybox", true],
    ["team-a", "docker.io/library/busybox", false],
  ])("%s may use %s: %s", (namespace, image, expected) => {
    expect(isIntended(world, namespace, image)).toBe(expected);
  });

  it("is everything where no tenant is declared", () => {
    const { tenants: _, ...rest } = DEFAULT_WORLD;
    expect(isIntended(parseWorldObject(rest), "team-b", `${ECR_A}/team-a/app`)).toBe(true);
  });
});
