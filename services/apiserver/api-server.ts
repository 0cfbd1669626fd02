// The API server as a value: its objects, its tokens, and the three questions that its router asks of it in this order:
// who is it, may they, and what is the answer.
import type { Issuer } from "../oidc/index.ts";
import type { Clock } from "../shared/clock.ts";
import { ConfigurationError } from "../shared/errors.ts";
import type { Random } from "../shared/random.ts";
import { type Authenticator, createAuthenticator } from "./authenticator.ts";
import { applyDefaults } from "./core/admission.ts";
import { createForbidden, decideAuthorization } from "./core/authorize.ts";
import { BOOTSTRAP_OBJECTS } from "./core/bootstrap.ts";
import { isObject } from "./core/fields.ts";
import { listManifestProblems, parseManifest } from "./core/manifest.ts";
import { createProfile, type KubernetesVersion } from "./core/profile.ts";
import { findKind } from "./core/resources.ts";
import { storeNew } from "./operations.ts";
import { findOperation, type ReadyOperation, type RouteContext } from "./routes.ts";
import { createObjectStore, type ObjectStore } from "./store.ts";
import type { Attributes, Manifest, User } from "./types.ts";

export interface ApiServerOptions {
  /** Manifests, as kubectl takes them. */
  readonly objects: readonly unknown[];
  readonly nodes: readonly string[];
  /** Signs and verifies ServiceAccount tokens. */
  readonly issuer: Issuer;
  readonly clock: Clock;
  readonly random: Random;
  /** Bearer token of the administrator (group `system:masters`). */
  readonly adminToken: string;
  /** 1.36 unless told. */
  readonly version?: KubernetesVersion;
  readonly gates?: Readonly<Record<string, boolean>>;
  /** `--api-audiences`; the issuer's URL unless told. */
  readonly apiAudiences?: readonly string[];
  /** `--service-account-max-token-expiration`; no limit unless told. */
  readonly maxTokenExpirationSeconds?: number;
  /** `--service-account-extend-token-expiration`; true unless told. */
  readonly extendTokenExpiration?: boolean;
  /** `--service-account-jwks-uri`. */
  readonly jwksUri?: string;
}

export interface ApiServer {
  /** The bearer token of a node. @throws ConfigurationError if there is no such node. */
  nodeToken(node: string): string;
  /** A new Node object, unless it is there already; returns the node's bearer token. */
  addNode(node: string): string;
  /** Objects, uids, nodes and tokens as at the start. */
  reset(): void;
  /** @throws StatusError Unauthorized */
  authenticate(authorization: string | undefined): Promise<User>;
  /** What allows this request. @throws StatusError Forbidden */
  authorize(user: User, attributes: Attributes): string;
  /**
   * The operation behind a request that is allowed; whether it reads a body is known before it is read.
   * @throws StatusError NotFound or MethodNotAllowed
   */
  findOperation(attributes: Attributes): ReadyOperation;
}

const JWKS_URI = "https://kubernetes.default.svc/openid/v1/jwks";
const MAX_EXPIRATION = { from: 3600, to: 2 ** 32 };

/**
 * An API server with these objects and nodes.
 * @throws ConfigurationError for bad options, and for all mistakes in the manifests at once.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const context = createContext(options);
  const { authenticator, store, facts } = context;
  seed(options, context);
  const nodes = createNodeRegistry(options, context);
  for (const node of options.nodes) nodes.add(node);
  store.seal();
  const admin = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
  authenticator.register(options.adminToken, admin);
  return {
    addNode: nodes.add,
    nodeToken(node) {
      const token = nodes.token(node);
      if (token === undefined) throw new ConfigurationError(`no node ${node} in this cluster`);
      return token;
    },
    reset() {
      store.reset();
      nodes.reset();
    },
    authenticate: (authorization) => authenticator.authenticate(authorization),
    authorize(user, attributes) {
      const decision = decideAuthorization(user, attributes, facts);
      if (decision.allowed) return decision.by;
      throw createForbidden(user, attributes, decision);
    },
    findOperation: (attributes) => findOperation(attributes, context),
  };
}

function createContext(options: ApiServerOptions): RouteContext & { readonly store: ObjectStore } {
  const { issuer, clock, random, maxTokenExpirationSeconds: maxExpirationSeconds = 0 } = options;
  const { from, to } = MAX_EXPIRATION;
  if (maxExpirationSeconds !== 0 && !(maxExpirationSeconds >= from && maxExpirationSeconds <= to)) {
    throw new ConfigurationError(
      `expected maxTokenExpirationSeconds from ${from} to ${to}, found ${maxExpirationSeconds}`,
    );
  }
  const store = createObjectStore();
  const apiAudiences = options.apiAudiences ?? [issuer.url];
  const authenticator: Authenticator = createAuthenticator({ issuer, clock, objects: store, apiAudiences });
  const profile = createProfile(options.version ?? "1.36", options.gates);
  const extendExpiration = options.extendTokenExpiration ?? true;
  const facts = { objects: store, profile };
  const now = () => clock.now();
  const jwksUri = options.jwksUri ?? JWKS_URI;
  const tokens = { issuer, authenticator, facts, apiAudiences, maxExpirationSeconds, extendExpiration };
  return { store, random, now, jwksUri, ...tokens };
}

function seed({ objects }: ApiServerOptions, context: RouteContext): void {
  const problems = listManifestProblems(objects);
  if (problems.length > 0) {
    const lines = problems.map(({ index, path, message }) => `object ${index} ${path.join(".")}: ${message}`);
    throw new ConfigurationError(`mistakes in the cluster's objects:\n${lines.join("\n")}`);
  }
  const own = objects.filter(isObject).map((object) => {
    const found = findKind(object.apiVersion, object.kind);
    if (!found) throw new ConfigurationError(`unknown kind ${object.kind}`);
    const manifest = parseManifest(object, found.resource);
    const place = found.resource.namespaced ? { namespace: manifest.metadata.namespace ?? "default" } : {};
    return { name: found.name, manifest: { ...manifest, metadata: { ...manifest.metadata, ...place } } };
  });
  const bootstrap = BOOTSTRAP_OBJECTS.map((manifest) => ({
    name: findKind(manifest.apiVersion, manifest.kind)?.name ?? "",
    manifest,
  }));
  // A list of manifests has no order of its own: Namespaces first, Pods last.
  const order = (name: string) => (name === "namespaces" ? 0 : name === "pods" ? 2 : 1);
  const all = [...bootstrap, ...own].sort((a, b) => order(a.name) - order(b.name));
  for (const { name, manifest } of all) storeSeed(name, manifest, context);
}

// What comes with every cluster or Namespace may be declared again, with annotations of its own.
function storeSeed(name: string, manifest: Manifest, context: RouteContext): void {
  const { namespace = "", name: objectName = "", labels, annotations } = manifest.metadata;
  const exists = context.store.find(name, namespace, objectName);
  if (!exists) {
    storeNew(name, manifest, context);
    return;
  }
  const metadata = { ...exists.metadata, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  context.store.put(name, { ...applyDefaults(manifest), metadata });
}

// Node objects live in the store; which token stands for which node is known here only.
function createNodeRegistry(options: ApiServerOptions, context: RouteContext & { store: ObjectStore }) {
  const { authenticator, store } = context;
  const tokens = new Map<string, string>();
  return {
    token: (node: string) => tokens.get(node),
    add(node: string): string {
      const metadata = { name: node, labels: labelsOf(node) };
      if (!store.find("nodes", "", node)) storeNew("nodes", { apiVersion: "v1", kind: "Node", metadata }, context);
      const token = tokens.get(node) ?? options.random.bytes(32).toString("base64url");
      tokens.set(node, token);
      authenticator.register(token, createNodeUser(node));
      return token;
    },
    reset() {
      for (const [node, token] of tokens) {
        if (options.nodes.includes(node)) continue;
        authenticator.forget(token);
        tokens.delete(node);
      }
    },
  };
}

function createNodeUser(node: string): User {
  return { name: `system:node:${node}`, groups: ["system:nodes", "system:authenticated"] };
}

function labelsOf(node: string): Record<string, string> {
  return { "kubernetes.io/hostname": node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" };
}
