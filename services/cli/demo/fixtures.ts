// Which facts of a world a row stands on: rows whose facts are missing are not applicable, and never passed. Pure.

/** The parts of `GET world` that are looked at. */
interface WorldView {
  readonly issuers?: readonly { readonly name: string }[];
  readonly accounts?: readonly {
    readonly id: string;
    readonly iam?: { readonly roles?: object; readonly users?: object };
    readonly repositories?: object;
  }[];
  readonly cluster?: {
    readonly objects?: readonly {
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly namespace?: string };
    }[];
    readonly nodes?: readonly { readonly name: string }[];
  };
  readonly registries?: readonly { readonly name: string; readonly users?: object; readonly repositories?: object }[];
  readonly tenants?: readonly { readonly name: string }[];
}

/** Every fixture that the world has, as `kind name`: `node node-1`, `role 111122223333/team-a-pull`, `secret team-a/regcred` … */
export function listFixtures(world: unknown): ReadonlySet<string> {
  const view = (world ?? {}) as WorldView;
  const found = [
    ...(view.issuers ?? []).map(({ name }) => `issuer ${name}`),
    ...(view.tenants ?? []).map(({ name }) => `tenant ${name}`),
    ...(view.cluster?.nodes ?? []).map(({ name }) => `node ${name}`),
    ...(view.accounts ?? []).flatMap(({ id, iam, repositories }) => [
      ...namesIn(iam?.roles).map((name) => `role ${id}/${name}`),
      ...namesIn(iam?.users).map((name) => `user ${id}/${name}`),
      ...namesIn(repositories).map((name) => `repository ${id}/${name}`),
    ]),
    ...(view.registries ?? []).flatMap(({ name, users, repositories }) => [
      ...namesIn(users).map((user) => `registry-user ${name}/${user}`),
      ...namesIn(repositories).map((repository) => `registry ${name}/${repository}`),
    ]),
    ...(view.cluster?.objects ?? []).map(
      ({ kind, metadata }) =>
        `${kind.toLowerCase()} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`,
    ),
  ];
  return new Set(found);
}

function namesIn(map: object | undefined): readonly string[] {
  return Object.keys(map ?? {});
}
