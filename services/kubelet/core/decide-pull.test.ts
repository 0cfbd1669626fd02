// Corners of the decision that need more than a Pod or two: limits, empty hashes, versions (kubelet.md 6.1, 6.5, 6.6).
import { describe, expect, test } from "vitest";
import type { ImagePulledRecord, KubeletVersion, RecordedSecret } from "../types.ts";
import { decideWithCredentials, decideWithoutCredentials, type PullFacts } from "./decide-pull.ts";
import type { Credential } from "./keyring.ts";
import { findMappingKey } from "./mapping-key.ts";
import { PROFILES } from "./profiles.ts";
import { applyPull } from "./record-update.ts";
import { decideVerificationSkip, findAllowlistProblem } from "./verification-policy.ts";

const IMAGE = "registry.local:5000/team-a/app:v1";
const NAME = "registry.local:5000/team-a/app";
const NOW = new Date("2026-01-01T00:00:00Z");

const secretOf = (uid: string, credentialHash: string): RecordedSecret => ({
  uid,
  namespace: "n",
  name: `s-${uid}`,
  credentialHash,
});
const credentialOf = (uid: string, hash: string): Credential => ({
  username: "u",
  password: "p",
  email: "",
  source: { kind: "secret", uid, namespace: "n", name: `s-${uid}` },
  hash,
});
const recordOf = (secrets: RecordedSecret[]): ImagePulledRecord => ({
  imageRef: "id",
  lastUpdatedTime: NOW,
  credentialMapping: { [NAME]: { kubernetesSecrets: secrets } },
});

function decide(secrets: RecordedSecret[], credential: Credential) {
  const facts: PullFacts = {
    image: IMAGE,
    imageRef: "id",
    policy: { name: "NeverVerifyPreloadedImages", allowlist: [] },
    profile: PROFILES["1.36"],
    record: recordOf(secrets),
    intent: false,
  };
  const open = decideWithoutCredentials(facts);
  return "mustPull" in open ? open : decideWithCredentials(open, [credential]);
}

const hundred = Array.from({ length: 100 }, (_, index) => secretOf(`u${index}`, `h${index}`));

test.each([
  {
    id: "10: same secret, other content",
    secrets: [secretOf("a", "h")],
    credential: credentialOf("a", "x"),
    mustPull: false,
    writes: true,
  },
  {
    id: "14: among 100, same secret, other content",
    secrets: hundred,
    credential: credentialOf("u5", "x"),
    mustPull: true,
    writes: false,
  },
  {
    id: "14: twin among 99",
    secrets: hundred.slice(0, 99),
    credential: credentialOf("u5", "x"),
    mustPull: false,
    writes: true,
  },
  {
    id: "15: among 100, known content, unknown secret",
    secrets: hundred,
    credential: credentialOf("new", "h5"),
    mustPull: false,
    writes: false,
  },
  {
    id: "15: twin among 99",
    secrets: hundred.slice(0, 99),
    credential: credentialOf("new", "h5"),
    mustPull: false,
    writes: true,
  },
  {
    id: "16: both hashes empty, same secret",
    secrets: [secretOf("a", "")],
    credential: credentialOf("a", ""),
    mustPull: false,
    writes: false,
  },
  {
    id: "16: both hashes empty, other secret",
    secrets: [secretOf("a", "")],
    credential: credentialOf("b", ""),
    mustPull: true,
    writes: false,
  },
])("$id", ({ secrets, credential, mustPull, writes }) => {
  const decision = decide(secrets, credential);
  expect({ mustPull: decision.mustPull, writes: "update" in decision && decision.update !== undefined }).toEqual({
    mustPull,
    writes,
  });
});

describe("versions", () => {
  test.each<[KubeletVersion, string, string]>([
    ["1.35", "ubuntu:24.04", "docker.io/library/ubuntu"],
    ["1.36", "ubuntu:24.04", "ubuntu"],
    ["1.36", `ubuntu@sha256:${"a".repeat(64)}`, "ubuntu"],
    ["1.36", "h:5000/x:1", "h:5000/x"],
  ])("%s maps %s to %s", (version, image, key) => {
    expect(findMappingKey(image, PROFILES[version])).toBe(key);
  });

  test.each<[KubeletVersion, string, string, boolean]>([
    ["1.36", "ubuntu", "ubuntu:24.04", true],
    ["1.36", "docker.io/library/ubuntu", "ubuntu:24.04", false],
    ["1.36", "h:5000/*", "h:5000/a/b:1", true],
    ["1.35", NAME, IMAGE, false],
    ["1.35", NAME, NAME, true],
    ["1.35", "registry.local:5000/team-a/*", IMAGE, true],
  ])("%s: allowlist %s covers %s: %s", (version, entry, image, covered) => {
    const policy = { name: "NeverVerifyAllowlistedImages" as const, allowlist: [entry] };
    const skip = decideVerificationSkip(policy, { image, byKubelet: true, profile: PROFILES[version] });
    expect(skip).toBe(covered ? "allowlisted" : undefined);
  });

  test.each([
    ["h:5000", "neither tag nor digest is accepted in an image reference: h:5000"],
    ["h:5000/*", undefined],
    ["*", "not a valid"],
    ["/*", "at least registry hostname is required"],
    ["host/x*", "not a valid wildcard"],
    ["host/*/y", "not a valid wildcard"],
    ["host/", "failed to parse image name"],
    ["", "empty"],
    [" a", "spaces"],
    ["host/team/app", undefined],
  ])("allowlist entry %j", (entry, problem) => {
    const found = findAllowlistProblem(entry, PROFILES["1.36"]);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });
});

test("records are only written when something changed", () => {
  const target = { imageRef: "id", name: NAME, now: NOW };
  const first = applyPull(undefined, target, credentialOf("a", "h"));
  expect(first?.credentialMapping[NAME]?.kubernetesSecrets).toEqual([secretOf("a", "h")]);
  expect(applyPull(first, target, credentialOf("a", "h"))).toBeUndefined();
  expect(applyPull(first, target, undefined)?.credentialMapping[NAME]).toEqual({ nodePodsAccessible: true });
});
