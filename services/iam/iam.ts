// Wires store and core into the room's one interface.
import { createUniqueId } from "../shared/aws/arn.ts";
import type { AwsPrincipal } from "../shared/aws/principal.ts";
import type { Clock } from "../shared/clock.ts";
import type { Random } from "../shared/random.ts";
import { bindPrincipals } from "./core/bind.ts";
import { createOidcProvider, createRole, createUser } from "./core/entities.ts";
import { type AccessFacts, decideAccess, decideWebIdentity } from "./core/evaluate.ts";
import { parsePolicy } from "./core/policy.ts";
import { IamError } from "./errors.ts";
import { IamStore } from "./store.ts";
import type { AccountSeed, Iam, Policy, RequestContext, Role, User } from "./types.ts";

export interface IamOptions {
  readonly accounts: readonly AccountSeed[];
  readonly random: Random;
  /** Where given, `aws:CurrentTime` and `aws:EpochTime` are known to every policy. */
  readonly clock?: Clock;
}

/** IAM with these accounts. @throws IamError for a seed that IAM would refuse. */
export function createIam({ accounts, random, clock }: IamOptions): Iam {
  const store = new IamStore(checkAccounts(accounts));
  const parseSession = createSessionPolicyCache();
  const context = clock && (() => timeContext(clock));
  const writers = createWriters(store, random);
  seedAccounts(store, accounts, writers);
  store.seal();
  return {
    hasAccount: (id) => store.accounts.has(id),
    accountIds: () => [...store.accounts],
    findRole: (arn) => findRole(store, arn),
    findRoleByName: (account, name) => store.role(account, name),
    findUser: (arn) => findUser(store, arn),
    findUserByAccessKey: (id) => store.accessKey(id),
    findOidcProvider: (account, issuerUrl) => store.provider(account, issuerUrl),
    listRoles: () => store.roles(),
    decideWebIdentity: (request) => decideWebIdentity(request, { role: findRole(store, request.roleArn), context }),
    decideAccess: (request) =>
      decideAccess(request, { ...factsOf(request.principal, { store, parseSession }), context }),
    bindPrincipals: (policy) => bindPrincipals(policy, (arn) => findId(store, arn)),
    ...writers,
    reset: () => store.reset(),
  };
}

type Writers = Pick<Iam, "putRole" | "deleteRole" | "putUser" | "putOidcProvider">;

function createWriters(store: IamStore, random: Random): Writers {
  const managed = (arn: string) => store.managedPolicies.get(arn);
  return {
    putRole(account, name, seed) {
      needAccount(store, account);
      const id = store.role(account, name)?.id ?? createUniqueId("AROA", account, random);
      return bindTrust(store, createRole({ account, name, id }, seed, managed));
    },
    deleteRole: (account, name) => store.deleteRole(account, name),
    putUser(account, name, seed) {
      needAccount(store, account);
      const id = store.user(account, name)?.id ?? createUniqueId("AIDA", account, random);
      const user = createUser({ account, name, id }, seed, managed);
      for (const key of user.accessKeys) {
        const owner = store.accessKey(key.id)?.user;
        if (owner && owner.id !== id) throw exists(`access key ${key.id} belongs to ${owner.arn} already`);
      }
      store.putUser(user);
      return user;
    },
    putOidcProvider(account, seed) {
      needAccount(store, account);
      const provider = createOidcProvider(account, seed);
      store.putProvider(provider);
      return provider;
    },
  };
}

function exists(message: string): IamError {
  return new IamError("EntityAlreadyExists", message);
}

function checkAccounts(accounts: readonly AccountSeed[]): readonly string[] {
  const ids = accounts.map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    if (!/^\d{12}$/.test(id)) throw new IamError("ValidationError", `expected an account of 12 digits, found "${id}"`);
    if (ids.indexOf(id) !== index) throw exists(`account ${id} is declared twice`);
  }
  return ids;
}

function needAccount(store: IamStore, account: string): void {
  if (!store.accounts.has(account))
    throw new IamError("NoSuchEntity", `expected an account of this world, found ${account}`);
}

function seedAccounts(store: IamStore, accounts: readonly AccountSeed[], put: Writers): void {
  for (const { id, managedPolicies = {} } of accounts) {
    for (const [name, document] of Object.entries(managedPolicies)) {
      store.managedPolicies.set(`arn:aws:iam::${id}:policy/${name}`, parsePolicy("identity", name, document));
    }
  }
  for (const { id, oidcProviders = [], roles = {}, users = {} } of accounts) {
    for (const seed of oidcProviders) {
      if (store.provider(id, seed.url)) throw exists(`account ${id} has provider ${seed.url} twice`);
      store.putProvider(createOidcProvider(id, seed));
    }
    for (const [name, seed] of Object.entries(roles)) {
      if (store.role(id, name)) throw exists(`account ${id} has role ${name} twice`);
      put.putRole(id, name, seed);
    }
    for (const [name, seed] of Object.entries(users)) put.putUser(id, name, seed);
  }
  // only now does every name that a trust policy may use exist
  for (const role of store.roles()) bindTrust(store, role);
}

/** Stores the role; one may trust oneself, so its own id has to be known before. */
function bindTrust(store: IamStore, role: Role): Role {
  store.putRole(role);
  const trustPolicy = bindPrincipals(role.trustPolicy, (arn) => findId(store, arn));
  const bound = trustPolicy === role.trustPolicy ? role : { ...role, trustPolicy };
  store.putRole(bound);
  return bound;
}

function findRole(store: IamStore, arn: string): Role | undefined {
  const role = store.role(...splitEntityArn(arn));
  return role?.arn === arn ? role : undefined;
}

function findUser(store: IamStore, arn: string): User | undefined {
  const user = store.user(...splitEntityArn(arn));
  return user?.arn === arn ? user : undefined;
}

/** Account and name; whoever is found by them has to have this very ARN. */
function splitEntityArn(arn: string): [account: string, name: string] {
  return [arn.split(":", 5)[4] ?? "", arn.slice(arn.lastIndexOf("/") + 1)];
}

function findId(store: IamStore, arn: string): string | undefined {
  return findRole(store, arn)?.id ?? findUser(store, arn)?.id;
}

type SessionPolicyParser = (text: string) => Policy;

interface FactSources {
  readonly store: IamStore;
  readonly parseSession: SessionPolicyParser;
}

/** What the account knows about a principal right now. */
function factsOf(principal: AwsPrincipal, { store, parseSession }: FactSources): Omit<AccessFacts, "context"> {
  if (principal.kind === "root") return { known: store.accounts.has(principal.accountId), policies: [], tags: {} };
  const entity = principal.kind === "user" ? findUser(store, principal.arn) : findRole(store, principal.roleArn);
  const id = principal.kind === "user" ? principal.userId : principal.roleId;
  if (entity?.id !== id) return { known: false, policies: [], tags: {} };
  return {
    known: true,
    policies: [...entity.policies, ...entity.managedPolicies],
    boundary: entity.permissionsBoundary,
    sessionPolicies: principal.kind === "user" ? undefined : sessionPoliciesOf(principal, { store, parseSession }),
    tags: entity.tags,
  };
}

function sessionPoliciesOf(
  { sessionPolicies, sessionPolicyArns }: Extract<AwsPrincipal, { kind: "assumed-role" }>,
  { store, parseSession }: FactSources,
): readonly Policy[] | undefined {
  if (sessionPolicies.length === 0 && sessionPolicyArns.length === 0) return undefined;
  const managed = sessionPolicyArns.map((arn): Policy => {
    // a policy that is gone allows nothing
    const policy = store.managedPolicies.get(arn) ?? { name: arn, version: "2012-10-17", statements: [] };
    return { ...policy, kind: "session" };
  });
  return [...sessionPolicies.map(parseSession), ...managed];
}

const CACHED_SESSION_POLICIES = 1000;

/** Session policies come sealed in credentials and are asked on every request: parsed once, not once per request. */
function createSessionPolicyCache(): SessionPolicyParser {
  const cache = new Map<string, Policy>();
  return (text) => {
    const known = cache.get(text);
    if (known) return known;
    const policy = parsePolicy("session", "session policy", text);
    if (cache.size >= CACHED_SESSION_POLICIES) cache.clear();
    cache.set(text, policy);
    return policy;
  };
}

function timeContext(clock: Clock): RequestContext {
  const now = clock.now();
  return {
    "aws:CurrentTime": now.toISOString().replace(/\.\d{3}Z$/, "Z"),
    "aws:EpochTime": String(Math.floor(now.getTime() / 1000)),
  };
}
