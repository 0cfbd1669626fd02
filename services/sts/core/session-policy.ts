// What a caller narrows a session with, and how much of the allotted space it takes (spec aws 2.3, row 15).
import { StsError } from "../errors.ts";
import { UNVERIFIED_LIMITS, UNVERIFIED_TEXTS } from "./unverified.ts";

/** Policies and tags that travel inside a session. */
export interface SessionLimits {
  readonly policy?: string;
  readonly policyArns: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The share of the allotted space in whole percent, or undefined where neither policies nor tags were passed.
 * Differs: the real service compresses in a way of its own; here the text counts, without blanks.
 * @throws StsError `packed-policy-too-large`
 */
export function measurePackedPolicy(limits: SessionLimits): number | undefined {
  const { policy, policyArns, tags } = limits;
  const parts = [...(policy === undefined ? [] : [compact(policy)]), ...policyArns, ...Object.entries(tags).flat()];
  if (parts.length === 0) return undefined;
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const percent = Math.ceil((100 * bytes) / UNVERIFIED_LIMITS.packedPolicyBytes);
  if (percent > 100) throw new StsError("packed-policy-too-large", UNVERIFIED_TEXTS.packedPolicyTooLarge(percent));
  return percent;
}

/**
 * Managed session policies must belong to the role's account, or to AWS.
 * @throws StsError `invalid-parameter`
 */
export function checkPolicyArns(policyArns: readonly string[], account: string): void {
  for (const arn of policyArns) {
    const owner = /^arn:[\w-]+:iam::(\d{12}|aws):policy\/.+$/.exec(arn)?.[1];
    if (owner !== account && owner !== "aws") {
      throw new StsError("invalid-parameter", UNVERIFIED_TEXTS.foreignManagedPolicy(arn, account));
    }
  }
}

function compact(policy: string): string {
  return JSON.stringify(JSON.parse(policy));
}
