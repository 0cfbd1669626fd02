// Builds roles, users and providers from what is declared, refusing what IAM would refuse.
import { parseArn } from "../../shared/aws/arn.ts";
import { IamError } from "../errors.ts";
import type { OidcProvider, Policy, Role, RoleSeed, User, UserSeed } from "../types.ts";
import { parsePolicy } from "./policy.ts";

/** What identifies the entity to build. */
export interface EntityName {
  readonly account: string;
  readonly name: string;
  /** `AROA…` or `AIDA…` */
  readonly id: string;
}

export type ManagedPolicyLookup = (arn: string) => Policy | undefined;

/** @throws IamError ValidationError, NoSuchEntity or MalformedPolicyDocument. */
export function createRole(entity: EntityName, seed: RoleSeed, managed: ManagedPolicyLookup): Role {
  const path = checkName(entity, seed.path);
  if (seed.trustPolicy === undefined) {
    throw new IamError("ValidationError", `role ${entity.name}: expected a trust policy, found none`);
  }
  const seconds = seed.maxSessionDuration ?? 3600;
  if (!Number.isInteger(seconds) || seconds < 3600 || seconds > 43_200) {
    throw invalid(`role ${entity.name}: maxSessionDuration`, "3600 to 43200 seconds", String(seconds));
  }
  return {
    accountId: entity.account,
    name: entity.name,
    path,
    arn: `arn:aws:iam::${entity.account}:role${path}${entity.name}`,
    id: entity.id,
    trustPolicy: parsePolicy("trust", `trust policy of ${entity.name}`, seed.trustPolicy),
    maxSessionDurationSeconds: seconds,
    tags: seed.tags ?? {},
    ...createPermissions(entity.name, seed, managed),
  };
}

/** @throws IamError ValidationError, NoSuchEntity or MalformedPolicyDocument. */
export function createUser(entity: EntityName, seed: UserSeed, managed: ManagedPolicyLookup): User {
  const path = checkName(entity, seed.path);
  for (const { id, secret } of seed.accessKeys ?? []) {
    if (!/^\w{16,128}$/.test(id))
      throw invalid(`user ${entity.name}: access key id`, "16 to 128 letters and digits", id);
    if (secret === "")
      throw new IamError("ValidationError", `user ${entity.name}: expected a secret for key ${id}, found none`);
  }
  return {
    accountId: entity.account,
    name: entity.name,
    path,
    arn: `arn:aws:iam::${entity.account}:user${path}${entity.name}`,
    id: entity.id,
    accessKeys: seed.accessKeys ?? [],
    tags: seed.tags ?? {},
    ...createPermissions(entity.name, seed, managed),
  };
}

/** The key of a provider is its URL without the scheme, taken literally: case, port and trailing slash count. */
export function createOidcProvider(
  account: string,
  seed: { readonly url: string; readonly clientIds: readonly string[]; readonly thumbprints?: readonly string[] },
): OidcProvider {
  const { url, clientIds, thumbprints = [] } = seed;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const legal = parsed && /^https?:$/.test(parsed.protocol) && !/[?#]/.test(url) && url.length <= 255;
  if (!legal) throw invalid("OIDC provider", "an https URL of at most 255 characters without query", url);
  if (clientIds.length > 100 || clientIds.some((id) => id === "" || id.length > 255)) {
    throw invalid(`OIDC provider ${url}: clientIds`, "at most 100 of 1 to 255 characters", String(clientIds.length));
  }
  if (thumbprints.length > 5 || thumbprints.some((print) => !/^[0-9a-fA-F]{40}$/.test(print))) {
    throw invalid(`OIDC provider ${url}: thumbprints`, "at most 5 of 40 hexadecimal digits", thumbprints.join(", "));
  }
  const provider = url.replace(/^https?:\/\//, "");
  const arn = `arn:aws:iam::${account}:oidc-provider/${provider}`;
  return { accountId: account, arn, provider, url, clientIds, thumbprints };
}

type Permissions = Pick<Role, "policies" | "managedPolicies" | "permissionsBoundary">;
type PermissionsSeed = Pick<RoleSeed, "policies" | "managedPolicies" | "permissionsBoundary">;

function createPermissions(owner: string, seed: PermissionsSeed, managed: ManagedPolicyLookup): Permissions {
  const find = (arn: string): Policy => {
    const policy = managed(arn);
    if (policy) return policy;
    const expected = parseArn(arn) ? "a managed policy of this account" : "the ARN of a managed policy";
    throw new IamError("NoSuchEntity", `${owner}: expected ${expected}, found "${arn}"`);
  };
  const boundary = seed.permissionsBoundary === undefined ? undefined : find(seed.permissionsBoundary);
  return {
    policies: Object.entries(seed.policies ?? {}).map(([name, document]) =>
      parsePolicy("identity", `${owner}/${name}`, document),
    ),
    managedPolicies: (seed.managedPolicies ?? []).map(find),
    ...(boundary ? { permissionsBoundary: { ...boundary, kind: "boundary" } } : {}),
  };
}

/** The path, `/` unless given. */
function checkName({ name }: EntityName, path = "/"): string {
  if (!/^[\w+=,.@-]{1,64}$/.test(name)) throw invalid("name", "1 to 64 of letters, digits and +=,.@-_", name);
  if (!/^\/([\x21-\x7e]+\/)?$/.test(path) || path.length > 512) throw invalid(`path of ${name}`, "/ or /a/b/", path);
  return path;
}

function invalid(what: string, expected: string, found: string): IamError {
  return new IamError("ValidationError", `${what}: expected ${expected}, found "${found}"`);
}
