// The identities of the world: the room's only state. Documents are parsed on the way in, decisions are core's.
import type { OidcProvider, Policy, Role, User } from "./types.ts";

/** Everything that can be looked up, each by the one key that requests bring. */
export interface IamState {
  readonly roles: Map<string, Role>;
  readonly users: Map<string, User>;
  /** By account and issuer URL. */
  readonly providers: Map<string, OidcProvider>;
}

/** Keeps accounts, their roles, users and providers; `seal` marks the state that `reset` goes back to. */
export class IamStore {
  readonly accounts: ReadonlySet<string>;
  /** Customer managed policies by ARN. */
  readonly managedPolicies = new Map<string, Policy>();
  #state: IamState = emptyState();
  #seed: IamState = emptyState();
  readonly #accessKeys = new Map<string, { readonly user: User; readonly secret: string }>();

  constructor(accounts: Iterable<string>) {
    this.accounts = new Set(accounts);
  }

  seal(): void {
    this.#seed = copyState(this.#state);
  }

  reset(): void {
    this.#state = copyState(this.#seed);
    this.#accessKeys.clear();
    for (const user of this.#state.users.values()) this.#indexKeys(user);
  }

  role(account: string, name: string): Role | undefined {
    return this.#state.roles.get(nameKey(account, name));
  }

  roles(): readonly Role[] {
    return [...this.#state.roles.values()];
  }

  putRole(role: Role): void {
    this.#state.roles.set(nameKey(role.accountId, role.name), role);
  }

  deleteRole(account: string, name: string): boolean {
    return this.#state.roles.delete(nameKey(account, name));
  }

  user(account: string, name: string): User | undefined {
    return this.#state.users.get(nameKey(account, name));
  }

  putUser(user: User): void {
    const key = nameKey(user.accountId, user.name);
    for (const { id } of this.#state.users.get(key)?.accessKeys ?? []) this.#accessKeys.delete(id);
    this.#state.users.set(key, user);
    this.#indexKeys(user);
  }

  accessKey(id: string): { readonly user: User; readonly secret: string } | undefined {
    return this.#accessKeys.get(id);
  }

  provider(account: string, url: string): OidcProvider | undefined {
    return this.#state.providers.get(`${account} ${url}`);
  }

  putProvider(provider: OidcProvider): void {
    this.#state.providers.set(`${provider.accountId} ${provider.url}`, provider);
  }

  #indexKeys(user: User): void {
    for (const { id, secret } of user.accessKeys) this.#accessKeys.set(id, { user, secret });
  }
}

function emptyState(): IamState {
  return { roles: new Map(), users: new Map(), providers: new Map() };
}

function copyState({ roles, users, providers }: IamState): IamState {
  return { roles: new Map(roles), users: new Map(users), providers: new Map(providers) };
}

/** Names of roles and of users are unique within an account, whatever their path and case. */
function nameKey(account: string, name: string): string {
  return `${account}/${name.toLowerCase()}`;
}
