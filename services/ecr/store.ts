// Repositories by account, region and name: the room's only mutable state.
import type { Repository, RepositoryKey, RepositoryStore } from "./types.ts";

/** A store that starts with, and can go back to, the given repositories. */
export function createRepositoryStore(seeds: readonly Repository[]): RepositoryStore {
  const registries = new Map<string, Map<string, Repository>>();

  function registry(account: string, region: string): Map<string, Repository> {
    const key = `${account}/${region}`;
    const found = registries.get(key) ?? new Map<string, Repository>();
    registries.set(key, found);
    return found;
  }

  function put(repository: Repository): void {
    registry(repository.account, repository.region).set(repository.name, repository);
  }

  function reset(): void {
    registries.clear();
    for (const seed of seeds) put(seed);
  }

  reset();
  return {
    put,
    reset,
    find: (key: RepositoryKey) => registries.get(`${key.account}/${key.region}`)?.get(key.name),
    list: (account, region) =>
      [...(registries.get(`${account}/${region}`)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1)),
    remove: (key) => registries.get(`${key.account}/${key.region}`)?.delete(key.name) ?? false,
  };
}
