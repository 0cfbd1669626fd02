// Accounts and grants of a plain registry: implements Authenticator, Authorizer and RepositoryDirectory from a world.
import { createHash, timingSafeEqual } from "node:crypto";
import { ConfigurationError } from "../shared/errors.ts";
import { compilePattern, decideGrant, type RepositoryGrants } from "./core/grants.ts";
import { REGISTRY_OPERATIONS } from "./core/operation.ts";
import type {
  AccessDecision,
  Authentication,
  Authenticator,
  AuthorizationRequest,
  Authorizer,
  RegistryPrincipal,
  RepositoryDirectory,
} from "./types.ts";

export interface PlainAuthOptions {
  /** `none`: everybody may do everything. */
  readonly auth: "none" | "basic" | "bearer";
  readonly users?: Readonly<Record<string, { readonly password: string }>>;
  /** By name, or by pattern (`team-a/**`); patterns grant, but only names make repositories exist. */
  readonly repositories?: Readonly<Record<string, RepositoryGrants>>;
  /** Let a push make the repository it names (false). */
  readonly autoCreate?: boolean;
}

export interface PlainAuth {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly directory: RepositoryDirectory;
  /** Replaces the grants of a repository, which exists from then on; counts from the next request. */
  setRepository(name: string, grants: RepositoryGrants): void;
  /** Back to the repositories given at the start. */
  reset(): void;
}

/**
 * The accounts of a plain registry.
 * @throws ConfigurationError for `auth: bearer`, which needs a token endpoint
 */
export function createPlainAuth(options: PlainAuthOptions): PlainAuth {
  if (options.auth === "bearer") {
    throw new ConfigurationError("expected auth none or basic, found bearer: token endpoints are not served yet", {
      hint: "use auth: basic",
    });
  }
  const repositories = new Repositories(options.repositories ?? {});
  const open = options.auth === "none";
  return {
    authenticator: open ? { authenticate: () => ANONYMOUS } : createBasicAuthenticator(options.users ?? {}),
    authorizer: { authorize: open ? () => OPEN : (request) => decide(repositories, request) },
    directory: {
      find: (name) => (repositories.exists(name) ? MUTABLE : undefined),
      names: () => repositories.names(),
      ...(options.autoCreate ? { create: (name: string) => repositories.add(name) } : {}),
    },
    setRepository: (name, grants) => repositories.set(name, grants),
    reset: () => repositories.reset(),
  };
}

const MUTABLE = { immutableTags: false };
const OPEN: AccessDecision = { effect: "allow", reason: "open-registry", decidedBy: "auth: none" };
const SIGNED_IN: AccessDecision = { effect: "allow", reason: "signed-in", decidedBy: "auth: basic" };
const NOT_SIGNED_IN: AccessDecision = { effect: "deny", reason: "anonymous-not-allowed", decidedBy: "auth: basic" };
const LISTABLE: AccessDecision = { effect: "allow", reason: "filtered-list", decidedBy: "auth: basic" };
const ANONYMOUS: Authentication = {
  kind: "principal",
  principal: { name: "anonymous", anonymous: true, detail: undefined },
};
const REFUSED: Authentication = { kind: "refused", refusal: "bad-credentials" };
const MALFORMED: Authentication = { kind: "refused", refusal: "malformed" };
/** What skopeo and podman send when they have no credentials: the empty pair. */
const NO_PAIR = "Basic Og==";

/** Users and passwords as HTTP Basic credentials (RFC 7617). Unknown users and wrong passwords look the same. */
function createBasicAuthenticator(users: Readonly<Record<string, { readonly password: string }>>): Authenticator {
  const known = new Map<string, { readonly hash: Buffer; readonly principal: RegistryPrincipal }>();
  for (const [name, { password }] of Object.entries(users)) {
    known.set(name, { hash: sha256(password), principal: { name, anonymous: false, detail: name } });
  }
  return {
    authenticate(authorization) {
      if (authorization === undefined || authorization === NO_PAIR) return ANONYMOUS;
      const encoded = /^Basic +([A-Za-z0-9+/_=-]+) *$/i.exec(authorization)?.[1];
      if (encoded === undefined) return MALFORMED;
      const pair = Buffer.from(encoded, "base64").toString("utf8");
      const colon = pair.indexOf(":");
      if (colon < 0) return MALFORMED;
      const user = known.get(pair.slice(0, colon));
      if (!user || !timingSafeEqual(sha256(pair.slice(colon + 1)), user.hash)) return REFUSED;
      return { kind: "principal", principal: user.principal };
    },
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function decide(repositories: Repositories, request: AuthorizationRequest): AccessDecision {
  const { principal, repository, operation } = request;
  const action = REGISTRY_OPERATIONS[operation];
  if (action === "none") return principal.anonymous ? NOT_SIGNED_IN : SIGNED_IN;
  if (repository === "") return LISTABLE;
  const user = principal.anonymous ? undefined : principal.name;
  return decideGrant(repositories.covering(repository), user, action);
}

type Entry = readonly [key: string, grants: RepositoryGrants];

/** The repositories table: exact names and patterns. */
class Repositories {
  readonly #given: Readonly<Record<string, RepositoryGrants>>;
  readonly #exact = new Map<string, Entry>();
  readonly #patterns: { readonly test: RegExp; readonly entry: Entry }[] = [];

  constructor(given: Readonly<Record<string, RepositoryGrants>>) {
    this.#given = given;
    this.reset();
  }

  exists(name: string): boolean {
    return this.#exact.has(name);
  }

  names(): Iterable<string> {
    return this.#exact.keys();
  }

  add(name: string): void {
    if (!this.#exact.has(name)) this.#exact.set(name, [name, {}]);
  }

  set(key: string, grants: RepositoryGrants): void {
    const test = compilePattern(key);
    if (test) this.#patterns.push({ test, entry: [key, grants] });
    else this.#exact.set(key, [key, grants]);
  }

  covering(name: string): readonly Entry[] {
    const exact = this.#exact.get(name);
    const patterns = this.#patterns.filter(({ test }) => test.test(name)).map(({ entry }) => entry);
    return exact ? [exact, ...patterns] : patterns;
  }

  reset(): void {
    this.#exact.clear();
    this.#patterns.length = 0;
    for (const [key, grants] of Object.entries(this.#given)) this.set(key, grants);
  }
}
