// What each operation may be called with: constraints of the service model, in its order (spec aws 2.2, 2.3 row 1, 2.5).
import type { QueryCall } from "../../shared/aws/query.ts";
import { StsError } from "../errors.ts";
import { type Constraint, checkMembers, type Member } from "./constraints.ts";
import { UNVERIFIED_TEXTS } from "./unverified.ts";

/** What AssumeRole and AssumeRoleWithWebIdentity have in common. */
export interface RoleParameters {
  readonly roleArn: string;
  readonly sessionName: string;
  readonly policy?: string;
  readonly policyArns: readonly string[];
  /** Undefined where the caller did not say. */
  readonly durationSeconds?: number;
}

export interface AssumeRoleParameters extends RoleParameters {
  readonly tags: Readonly<Record<string, string>>;
  readonly transitiveTagKeys: readonly string[];
  readonly sourceIdentity?: string;
  readonly externalId?: string;
}

const NAME_PATTERN = "[\\w+=,.@-]*";
const ROLE_ARN: Constraint = { required: true, minLength: 20, maxLength: 2048 };
const SESSION_NAME: Constraint = { required: true, minLength: 2, maxLength: 64, pattern: NAME_PATTERN };
const TOKEN: Constraint = { required: true, minLength: 4, maxLength: 20_000, sensitive: true };
const PROVIDER_ID: Constraint = { minLength: 4, maxLength: 2048 };
const POLICY_ARN: Constraint = { required: true, minLength: 20, maxLength: 2048 };
const POLICY: Constraint = { minLength: 1, maxLength: 2048, pattern: "[\\u0009\\u000A\\u000D\\u0020-\\u00FF]+" };
const DURATION: Constraint = { range: [900, 43_200] };
const TAG_KEY: Constraint = { required: true, minLength: 1, maxLength: 128 };
const TAG_VALUE: Constraint = { required: true, maxLength: 256 };
const EXTERNAL_ID: Constraint = { minLength: 2, maxLength: 1224, pattern: "[\\w+=,.@:\\/-]*" };
const SOURCE_IDENTITY: Constraint = { minLength: 2, maxLength: 64, pattern: NAME_PATTERN };
const ACCESS_KEY_ID: Constraint = { required: true, minLength: 16, maxLength: 128, pattern: "[\\w]*" };
const USER_DURATION: Constraint = { range: [900, 129_600] };

/** @throws StsError `invalid-parameter` naming every member that is wrong */
export function parseWebIdentityParameters(query: QueryCall): RoleParameters & { readonly token: string } {
  const token = query.text("WebIdentityToken");
  const providerId = query.text("ProviderId");
  checkMembers([
    { name: "roleArn", value: query.text("RoleArn"), constraint: ROLE_ARN },
    { name: "roleSessionName", value: query.text("RoleSessionName"), constraint: SESSION_NAME },
    { name: "webIdentityToken", value: token, constraint: TOKEN },
    { name: "providerId", value: providerId, constraint: PROVIDER_ID },
    ...listPolicyMembers(query),
  ]);
  // Only tokens of www.amazon.com and graph.facebook.com come with a provider id, and those are OAuth access tokens.
  if (providerId !== undefined) throw new StsError("invalid-parameter", UNVERIFIED_TEXTS.providerIdGiven);
  return { ...readRoleParameters(query), token: token ?? "" };
}

/** @throws StsError `invalid-parameter` */
export function parseAssumeRoleParameters(query: QueryCall): AssumeRoleParameters {
  const tags = query.structures("Tags");
  const transitiveTagKeys = query.texts("TransitiveTagKeys");
  const [sourceIdentity, externalId] = [query.text("SourceIdentity"), query.text("ExternalId")];
  checkMembers([
    { name: "roleArn", value: query.text("RoleArn"), constraint: ROLE_ARN },
    { name: "roleSessionName", value: query.text("RoleSessionName"), constraint: SESSION_NAME },
    ...listPolicyMembers(query),
    ...tags.flatMap((tag, index): Member[] => [
      { name: `tags.${index + 1}.member.key`, value: tag.Key, constraint: TAG_KEY },
      { name: `tags.${index + 1}.member.value`, value: tag.Value, constraint: TAG_VALUE },
    ]),
    { name: "externalId", value: externalId, constraint: EXTERNAL_ID },
    { name: "sourceIdentity", value: sourceIdentity, constraint: SOURCE_IDENTITY },
  ]);
  checkCount("tags", tags.length, 50);
  checkCount("transitiveTagKeys", transitiveTagKeys.length, 50);
  if (query.text("SerialNumber") !== undefined || query.text("TokenCode") !== undefined) {
    throw new StsError("invalid-parameter", UNVERIFIED_TEXTS.multiFactorGiven);
  }
  return {
    ...readRoleParameters(query),
    tags: readTags(tags),
    transitiveTagKeys,
    ...(sourceIdentity === undefined ? {} : { sourceIdentity }),
    ...(externalId === undefined ? {} : { externalId }),
  };
}

/** @returns seconds, 12 hours unless told. @throws StsError `invalid-parameter` */
export function parseSessionTokenDuration(query: QueryCall): number {
  const value = query.text("DurationSeconds");
  checkMembers([{ name: "durationSeconds", value, constraint: USER_DURATION }]);
  return value === undefined ? 43_200 : Number(value);
}

/** @throws StsError `invalid-parameter` */
export function parseAccessKeyId(query: QueryCall): string {
  const value = query.text("AccessKeyId");
  checkMembers([{ name: "accessKeyId", value, constraint: ACCESS_KEY_ID }]);
  return value ?? "";
}

function listPolicyMembers(query: QueryCall): Member[] {
  const arns = query.structures("PolicyArns");
  checkCount("policyArns", arns.length, 10);
  return [
    ...arns.map((entry, index) => ({
      name: `policyArns.${index + 1}.member.arn`,
      value: entry.arn,
      constraint: POLICY_ARN,
    })),
    { name: "policy", value: query.text("Policy"), constraint: POLICY },
    { name: "durationSeconds", value: query.text("DurationSeconds"), constraint: DURATION },
  ];
}

/** Reads what checkMembers has let through. */
function readRoleParameters(query: QueryCall): RoleParameters {
  const [policy, durationSeconds] = [query.text("Policy"), query.text("DurationSeconds")];
  return {
    roleArn: query.text("RoleArn") ?? "",
    sessionName: query.text("RoleSessionName") ?? "",
    policyArns: query.structures("PolicyArns").map((entry) => entry.arn ?? ""),
    ...(policy === undefined ? {} : { policy }),
    ...(durationSeconds === undefined ? {} : { durationSeconds: Number(durationSeconds) }),
  };
}

function readTags(tags: readonly Readonly<Record<string, string>>[]): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const tag of tags) {
    const key = tag.Key ?? "";
    // Tag keys are compared without case: two spellings of one key are one tag given twice.
    const taken = [...found.keys()].some((known) => known.toLowerCase() === key.toLowerCase());
    if (taken) throw new StsError("invalid-parameter", UNVERIFIED_TEXTS.duplicateTag(key));
    found.set(key, tag.Value ?? "");
  }
  return Object.fromEntries(found);
}

function checkCount(name: string, count: number, limit: number): void {
  if (count > limit) throw new StsError("invalid-parameter", UNVERIFIED_TEXTS.tooMany(name, limit));
}
