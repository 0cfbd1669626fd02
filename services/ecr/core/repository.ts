// Repositories as the API speaks of them: names, URIs, wire form and the texts of their refusals (spec aws 4.3, 4.4).
import { renderRepositoryArn } from "../../shared/aws/arn.ts";
import { renderEcrHost } from "../../shared/aws/registry-host.ts";
import { EcrError } from "../errors.ts";
import type { Repository, RepositoryKey } from "../types.ts";
import type { TextConstraint } from "./input.ts";

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";

/** What a repository may be called. */
export const REPOSITORY_NAME: TextConstraint = {
  minLength: 2,
  maxLength: 256,
  pattern: `${COMPONENT}(?:/${COMPONENT})*`,
};

/** The `repository` object; every member is there every time, since Terraform compares them. */
export function renderRepository(repository: Repository): Readonly<Record<string, unknown>> {
  const { account, name } = repository;
  return {
    repositoryArn: renderRepositoryArn(repository),
    registryId: account,
    repositoryName: name,
    repositoryUri: `${renderEcrHost(repository)}/${name}`,
    createdAt: repository.createdAt,
    imageTagMutability: repository.imageTagMutability,
    imageScanningConfiguration: { scanOnPush: repository.scanOnPush },
    encryptionConfiguration: repository.encryption,
  };
}

/** The refusals that speak of one repository. */
export const REPOSITORY_REFUSALS = {
  RepositoryNotFoundException: (key: RepositoryKey) =>
    `The repository with name '${key.name}' does not exist in the registry with id '${key.account}'`,
  RepositoryAlreadyExistsException: (key: RepositoryKey) =>
    `The repository with name '${key.name}' already exists in the registry with id '${key.account}'`,
  RepositoryNotEmptyException: (key: RepositoryKey) =>
    `The repository with name '${key.name}' in registry with id '${key.account}' cannot be deleted because it still contains images`,
  RepositoryPolicyNotFoundException: (key: RepositoryKey) =>
    `Repository policy does not exist for the repository with name '${key.name}' in the registry with id '${key.account}'`,
} as const;

/** One of these refusals, ready to throw. */
export function repositoryRefusal(code: keyof typeof REPOSITORY_REFUSALS, key: RepositoryKey): EcrError {
  return new EcrError(code, REPOSITORY_REFUSALS[code](key));
}
