// The operations on repositories themselves: create, describe, delete (spec aws 4.3).
import type { Clock } from "../shared/clock.ts";
import { type AccessDeps, checkRepositoryAccess } from "./access.ts";
import { invalidParameter, readRequiredText, readText, readTexts } from "./core/input.ts";
import { readFlag, readInteger, readStructure, readTags } from "./core/input-values.ts";
import { REPOSITORY_NAME, renderRepository, repositoryRefusal } from "./core/repository.ts";
import { UNVERIFIED_LIMITS, UNVERIFIED_TEXTS } from "./core/unverified.ts";
import type { EcrCall, Repository, RepositoryContents, RepositoryKey, TagMutability } from "./types.ts";

export interface RepositoryDeps extends AccessDeps {
  readonly clock: Clock;
  readonly contents: RepositoryContents | undefined;
}

/** Differs: the two mutabilities with exclusion filters are refused, since the registry could not keep them. */
const MUTABILITIES: Readonly<Record<string, TagMutability>> = { MUTABLE: "MUTABLE", IMMUTABLE: "IMMUTABLE" };

/** The repository that a call names: its registry is the caller's own unless told. @throws EcrError */
export function readRepositoryKey(call: EcrCall): RepositoryKey {
  const account = readRegistryId(call);
  return { account, region: call.region, name: readRequiredText(call.input, "repositoryName", REPOSITORY_NAME) };
}

/** The repository a call names, once the caller may know about it. @throws EcrError */
export function findRepository(call: EcrCall, action: string, deps: AccessDeps): Repository {
  const key = readRepositoryKey(call);
  checkRepositoryAccess(call, { action, repository: key }, deps);
  const found = deps.repositories.find(key);
  if (!found) throw repositoryRefusal("RepositoryNotFoundException", key);
  return found;
}

/** @throws EcrError */
export function createRepository(call: EcrCall, deps: RepositoryDeps): unknown {
  const key = readRepositoryKey(call);
  const { input } = call;
  const mutability = readText(input, "imageTagMutability", { oneOf: Object.keys(MUTABILITIES) }) ?? "MUTABLE";
  const repository: Repository = {
    ...key,
    createdAt: deps.clock.now(),
    imageTagMutability: MUTABILITIES[mutability] ?? "MUTABLE",
    scanOnPush: readFlag(readStructure(input, "imageScanningConfiguration"), "scanOnPush"),
    encryption: readEncryption(call),
    tags: readTags(input),
  };
  const hasTags = Object.keys(repository.tags).length > 0;
  for (const action of ["ecr:CreateRepository", ...(hasTags ? ["ecr:TagResource"] : [])]) {
    checkRepositoryAccess(call, { action, repository: key, requestTags: repository.tags }, deps);
  }
  if (deps.repositories.find(key)) throw repositoryRefusal("RepositoryAlreadyExistsException", key);
  deps.repositories.put(repository);
  return { repository: renderRepository(repository) };
}

/** By names, each of which must exist, or page by page. @throws EcrError */
export function describeRepositories(call: EcrCall, deps: RepositoryDeps): unknown {
  const account = readRegistryId(call);
  const names = readTexts(call.input, "repositoryNames", { limit: 100, constraint: REPOSITORY_NAME });
  const limit = readInteger(call.input, "maxResults", [1, 1000]) ?? UNVERIFIED_LIMITS.pageSize;
  const after = readPageToken(call);
  const action = "ecr:DescribeRepositories";
  if (names) {
    const keys = names.map((name) => ({ account, region: call.region, name }));
    for (const repository of keys) checkRepositoryAccess(call, { action, repository }, deps);
    const repositories = keys.map((key) => {
      const found = deps.repositories.find(key);
      if (!found) throw repositoryRefusal("RepositoryNotFoundException", key);
      return renderRepository(found);
    });
    return { repositories };
  }
  checkRepositoryAccess(call, { action, repository: { account, region: call.region, name: "*" } }, deps);
  const rest = deps.repositories.list(account, call.region).filter(({ name }) => name > after);
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1)?.name : undefined;
  return {
    repositories: page.map(renderRepository),
    ...(last === undefined ? {} : { nextToken: Buffer.from(last).toString("base64") }),
  };
}

/** @throws EcrError */
export function deleteRepository(call: EcrCall, deps: RepositoryDeps): unknown {
  const force = readFlag(call.input, "force");
  const repository = findRepository(call, "ecr:DeleteRepository", deps);
  if (!force && deps.contents?.hasImages(repository)) {
    throw repositoryRefusal("RepositoryNotEmptyException", repository);
  }
  deps.repositories.remove(repository);
  deps.contents?.clear(repository);
  return { repository: renderRepository(repository) };
}

function readRegistryId(call: EcrCall): string {
  return readText(call.input, "registryId", { pattern: "[0-9]{12}" }) ?? call.principal.accountId;
}

function readEncryption(call: EcrCall): Repository["encryption"] {
  const given = readStructure(call.input, "encryptionConfiguration");
  const encryptionType = readText(given, "encryptionType", { oneOf: ["AES256", "KMS", "KMS_DSSE"] }) ?? "AES256";
  const kmsKey = readText(given, "kmsKey", { minLength: 1, maxLength: 2048 });
  return { encryptionType, ...(kmsKey === undefined ? {} : { kmsKey }) };
}

function readPageToken(call: EcrCall): string {
  const token = readText(call.input, "nextToken") ?? "";
  const after = Buffer.from(token, "base64").toString("utf8");
  const own = Buffer.from(after).toString("base64") === token;
  if (!own) throw invalidParameter("nextToken", UNVERIFIED_TEXTS.invalidToken);
  return after;
}
