// The operations on repository policies (spec aws 4.3).
import { type Iam, IamError, parsePolicy } from "../iam/index.ts";
import { type AccessDeps, checkRepositoryAccess } from "./access.ts";
import { invalidParameter, readRequiredText } from "./core/input.ts";
import { readFlag } from "./core/input-values.ts";
import { repositoryRefusal } from "./core/repository.ts";
import { findUnknownPrincipal } from "./core/repository-policy.ts";
import { UNVERIFIED_TEXTS } from "./core/unverified.ts";
import { findRepository } from "./repositories.ts";
import type { EcrCall, Repository, RepositoryKey, RepositoryPolicy } from "./types.ts";

/** The parameter, as the real messages spell it. */
const PARAMETER = "PolicyText";

/**
 * Reads a policy document and ties the principals it names to what they are now.
 * @param document JSON text, or the parsed value of a world file
 * @throws EcrError InvalidParameterException
 */
export function parseRepositoryPolicy(document: unknown, key: RepositoryKey, iam: Iam): RepositoryPolicy {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  const policy = parse(text, key);
  const unknown = findUnknownPrincipal(policy, {
    hasAccount: (id) => iam.hasAccount(id),
    hasIdentity: (arn) => iam.findRole(arn) !== undefined || iam.findUser(arn) !== undefined,
  });
  if (unknown !== undefined)
    throw invalidParameter(PARAMETER, "Principal not found", new Error(`no principal ${unknown}`));
  return { text, parsed: iam.bindPrincipals(policy) };
}

/** @throws EcrError */
export function setRepositoryPolicy(call: EcrCall, deps: AccessDeps): unknown {
  const text = readRequiredText(call.input, "policyText", { maxLength: 10_240 });
  const force = readFlag(call.input, "force");
  const repository = findRepository(call, "ecr:SetRepositoryPolicy", deps);
  const changed = { ...repository, policy: parseRepositoryPolicy(text, repository, deps.iam) };
  deps.repositories.put(changed);
  if (!force) keepWayBack(call, { repository, deps });
  return render(repository, text);
}

/** @throws EcrError */
export function getRepositoryPolicy(call: EcrCall, deps: AccessDeps): unknown {
  const repository = findRepository(call, "ecr:GetRepositoryPolicy", deps);
  return render(repository, textOf(repository));
}

/** @throws EcrError */
export function deleteRepositoryPolicy(call: EcrCall, deps: AccessDeps): unknown {
  const repository = findRepository(call, "ecr:DeleteRepositoryPolicy", deps);
  const text = textOf(repository);
  const { policy: _, ...rest } = repository;
  deps.repositories.put(rest);
  return render(repository, text);
}

function parse(text: string, key: RepositoryKey): RepositoryPolicy["parsed"] {
  try {
    return parsePolicy("resource", `repository policy of ${key.name}`, text);
  } catch (cause) {
    if (!(cause instanceof IamError)) throw cause;
    throw invalidParameter(PARAMETER, "Invalid repository policy provided", cause);
  }
}

/** Without `force` a caller cannot lock itself out: if the new policy would, the old one comes back. */
function keepWayBack(call: EcrCall, { repository, deps }: { repository: Repository; deps: AccessDeps }): void {
  try {
    checkRepositoryAccess(call, { action: "ecr:SetRepositoryPolicy", repository }, deps);
  } catch (cause) {
    deps.repositories.put(repository);
    throw invalidParameter(PARAMETER, UNVERIFIED_TEXTS.lockOut, cause);
  }
}

function textOf(repository: Repository): string {
  if (!repository.policy) throw repositoryRefusal("RepositoryPolicyNotFoundException", repository);
  return repository.policy.text;
}

function render({ account, name }: RepositoryKey, policyText: string): unknown {
  return { registryId: account, repositoryName: name, policyText };
}
