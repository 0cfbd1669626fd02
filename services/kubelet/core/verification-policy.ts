// When an image on the node must be re-checked at all (kubelet.md 6.1): the policy, its allowlist and their start-up rules.
import type { Reason } from "../types.ts";
import { InvalidImageNameError, parseImageName, renderRepository } from "./image-name.ts";
import { cutTagAndDigest } from "./image-tag.ts";
import type { Profile } from "./profiles.ts";

/** The values of `imagePullCredentialsVerificationPolicy`. */
export const VERIFICATION_POLICIES = [
  "NeverVerify",
  "NeverVerifyPreloadedImages",
  "NeverVerifyAllowlistedImages",
  "AlwaysVerify",
] as const;

/** A policy with what it needs. */
export interface VerificationPolicy {
  readonly name: (typeof VERIFICATION_POLICIES)[number];
  readonly allowlist: readonly string[];
}

/** Why no verification is needed, or undefined if it is. */
export function decideVerificationSkip(
  policy: VerificationPolicy,
  facts: { readonly image: string; readonly byKubelet: boolean; readonly profile: Profile },
): Extract<Reason, "never-verify" | "preloaded" | "allowlisted"> | undefined {
  switch (policy.name) {
    case "NeverVerify":
      return "never-verify";
    case "NeverVerifyPreloadedImages":
      return facts.byKubelet ? undefined : "preloaded";
    case "NeverVerifyAllowlistedImages":
      return isAllowlisted(policy.allowlist, facts.image, facts.profile) ? "allowlisted" : undefined;
    case "AlwaysVerify":
      return undefined;
  }
}

function isAllowlisted(allowlist: readonly string[], image: string, profile: Profile): boolean {
  const name = profile.allowlistCompares === "name" ? cutTagAndDigest(image) : image;
  return allowlist.some((entry) => (entry.endsWith("/*") ? name.startsWith(entry.slice(0, -1)) : name === entry));
}

/** Undefined for a valid allowlist entry, else the kubelet's reason. */
export function findAllowlistProblem(entry: string, profile: Profile): string | undefined {
  if (entry === "") return "image pattern is empty";
  if (entry.trim() !== entry) return `leading/trailing spaces are not allowed: ${entry}`;
  const wildcard = entry.endsWith("/*");
  const name = wildcard ? entry.slice(0, -2) : entry;
  if (name === "" || name.includes("*")) {
    return wildcard && name === ""
      ? `at least registry hostname is required: ${entry}`
      : `not a valid wildcard pattern, only patterns ending with '/*' are allowed: ${entry}`;
  }
  return wildcard ? prefixProblem(name, entry) : nameProblem(name, profile);
}

function prefixProblem(name: string, entry: string): string | undefined {
  // A bare host is enough before `/*`; with a path it must read as an image name.
  if (/^[A-Za-z0-9.-]+(:\d+)?$/.test(name)) return undefined;
  try {
    const parsed = parseImageName(name);
    if (parsed.tag === undefined && parsed.digest === undefined) return undefined;
    return `neither tag nor digest is accepted in an image reference: ${entry}`;
  } catch (error) {
    if (error instanceof InvalidImageNameError) return `failed to parse image name ${entry}: ${error.message}`;
    throw error;
  }
}

function nameProblem(name: string, profile: Profile): string | undefined {
  try {
    const parsed = parseImageName(name);
    if (parsed.tag !== undefined || parsed.digest !== undefined) {
      return `neither tag nor digest is accepted in an image reference: ${name}`;
    }
    if (profile.allowlistCompares === "raw" && renderRepository(parsed) !== name) {
      return `failed to parse image name ${name}: repository name must be canonical`;
    }
    return undefined;
  } catch (error) {
    if (error instanceof InvalidImageNameError) return `failed to parse image name ${name}: ${error.message}`;
    throw error;
  }
}
