// The operations on a repository's resource tags (spec aws 4.3).
import { parseArn } from "../shared/aws/arn.ts";
import { type AccessDeps, checkRepositoryAccess } from "./access.ts";
import { invalidParameter, readRequiredText, readTexts } from "./core/input.ts";
import { readTags } from "./core/input-values.ts";
import { repositoryRefusal } from "./core/repository.ts";
import { UNVERIFIED_TEXTS } from "./core/unverified.ts";
import type { EcrCall, Repository } from "./types.ts";

/** @throws EcrError */
export function listTagsForResource(call: EcrCall, deps: AccessDeps): unknown {
  const { tags } = findByArn(call, "ecr:ListTagsForResource", { deps });
  return { tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) };
}

/** @throws EcrError */
export function tagResource(call: EcrCall, deps: AccessDeps): unknown {
  const requestTags = readTags(call.input);
  const repository = findByArn(call, "ecr:TagResource", { deps, requestTags });
  deps.repositories.put({ ...repository, tags: readTags(call.input, repository.tags) });
  return {};
}

/** @throws EcrError */
export function untagResource(call: EcrCall, deps: AccessDeps): unknown {
  const constraint = { minLength: 1, maxLength: 128 };
  const tagKeys = readTexts(call.input, "tagKeys", { limit: 200, constraint });
  if (!tagKeys) throw invalidParameter("tagKeys", UNVERIFIED_TEXTS.missingMember);
  const repository = findByArn(call, "ecr:UntagResource", { deps });
  const kept = Object.entries(repository.tags).filter(([key]) => !tagKeys.includes(key));
  deps.repositories.put({ ...repository, tags: Object.fromEntries(kept) });
  return {};
}

function findByArn(
  call: EcrCall,
  action: string,
  { deps, requestTags }: { deps: AccessDeps; requestTags?: Readonly<Record<string, string>> },
): Repository {
  const arn = parseArn(readRequiredText(call.input, "resourceArn"));
  const name = arn?.service === "ecr" ? /^repository\/(.+)$/.exec(arn.resource)?.[1] : undefined;
  if (!arn || name === undefined || arn.region !== call.region) {
    throw invalidParameter("resourceArn", UNVERIFIED_TEXTS.notARepositoryArn);
  }
  const key = { account: arn.account, region: arn.region, name };
  checkRepositoryAccess(call, { action, repository: key, ...(requestTags ? { requestTags } : {}) }, deps);
  const found = deps.repositories.find(key);
  if (!found) throw repositoryRefusal("RepositoryNotFoundException", key);
  return found;
}
