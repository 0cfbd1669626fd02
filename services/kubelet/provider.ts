// One credential provider (kubelet.md 2.2–2.5, 3.1): who it runs for, what it remembers, and why it gave nothing.
import { join } from "node:path";
import type { Clock } from "../shared/clock.ts";
import type { EventSink } from "../shared/event.ts";
import { redact } from "../shared/redact.ts";
import type { ApiClient } from "./api-client.ts";
import { hashToken, renderFlightKey, type ServiceAccountKey } from "./core/cache-keys.ts";
import { CredentialCache, decideExpiry } from "./core/credential-cache.ts";
import type { CredentialSource } from "./core/keyring.ts";
import { findMatchingPattern } from "./core/match-images.ts";
import { type AuthMap, PluginResponseError, parsePluginResponse, renderPluginRequest } from "./core/plugin-response.ts";
import type { Pod } from "./core/pod.ts";
import type { Profile } from "./core/profiles.ts";
import type { CredentialProvider, TokenAttributes } from "./core/provider-config.ts";
import { type PluginResult, runPlugin } from "./exec.ts";
import type { TokenSource } from "./token-source.ts";
import type { NodeIdentity, ProviderReport } from "./types.ts";

/** What a provider is asked. */
export interface ProviderQuery {
  readonly pod: Pod;
  /** Repository name without tag and digest. */
  readonly image: string;
  readonly trace: string;
}

/** What came of it: credentials or none, always with the story. */
export interface ProviderAnswer {
  readonly report: ProviderReport;
  readonly auth?: AuthMap;
  readonly source?: CredentialSource;
}

export interface ProviderDeps {
  readonly profile: Profile;
  readonly pluginDirectory: string;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly identity: (() => Promise<NodeIdentity>) | undefined;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly signal: AbortSignal;
  readonly api: ApiClient;
  readonly tokens: TokenSource;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly traceparent: (trace: string) => string;
  /** Makes the bad twin of a fresh token for this Pod, if it asks for one. */
  readonly spoilFor: (pod: Pod) => ((token: string) => Promise<string>) | undefined;
}

/** What a run in ServiceAccount mode has in hand. */
interface Account {
  readonly key: ServiceAccountKey;
  readonly token: string;
  readonly jti: string | undefined;
  readonly source: CredentialSource;
}

/** Why nothing came: `skipped` before the plugin ran, `failed` after. */
class ProviderRefusal extends Error {
  readonly outcome: "skipped" | "failed";
  readonly reason: string;

  constructor(outcome: "skipped" | "failed", reason: string, message: string) {
    super(message);
    this.outcome = outcome;
    this.reason = reason;
  }
}

const EXEC_PREFIX = "failed to get credential from external registry credential provider: ";

/** A configured provider with its cache; both are lost at restart. */
export class Provider {
  readonly config: CredentialProvider;
  readonly #deps: ProviderDeps;
  readonly #cache: CredentialCache;
  readonly #flights = new Map<string, Promise<AuthMap>>();

  constructor(config: CredentialProvider, deps: ProviderDeps) {
    this.config = config;
    this.#deps = deps;
    this.#cache = new CredentialCache(deps.profile.globalCacheKey, deps.clock.now());
  }

  /** Never throws for a plugin's fault: every failure is an answer without credentials (3.1). */
  async provide(query: ProviderQuery): Promise<ProviderAnswer> {
    const match = findMatchingPattern(this.config.matchImages, query.image);
    if (!match.matches) return this.#report("not-matched", match.because);
    try {
      return await this.#provideMatched(query);
    } catch (error) {
      if (!(error instanceof ProviderRefusal)) throw error;
      if (error.outcome === "skipped") this.#recordSkip(query, error);
      const { report } = this.#report(error.outcome, error.message);
      return { report: { ...report, reason: error.reason } };
    }
  }

  async #provideMatched(query: ProviderQuery): Promise<ProviderAnswer> {
    const account = this.config.tokenAttributes
      ? await this.#findAccount(query, this.config.tokenAttributes)
      : undefined;
    const source = account?.source ?? { kind: "none" as const, name: `provider ${this.config.name}` };
    const cached = this.#cache.find(query.image, account?.key, this.#deps.clock.now());
    if (cached)
      return { ...this.#report("cached", `${cached.keyType} entry of an earlier run`), auth: cached.auth, source };
    const { auth, shared } = await this.#fly(query, account);
    const because = shared ? "shared the run of a concurrent request" : describeAuth(auth);
    return { ...this.#report("executed", because), auth, source };
  }

  /** Steps 2 to 6 of 3.1. */
  async #findAccount(query: ProviderQuery, tokens: TokenAttributes): Promise<Account | undefined> {
    const { pod } = query;
    if (pod.serviceAccountName === undefined) {
      if (!tokens.requireServiceAccount) return undefined;
      throw new ProviderRefusal(
        "skipped",
        "service-account-missing",
        "the Pod has no ServiceAccount and the provider requires one",
      );
    }
    const name = pod.serviceAccountName;
    const traceparent = this.#deps.traceparent(query.trace);
    const account = await this.#deps.api.getServiceAccount(pod.namespace, name, traceparent).catch((error: unknown) => {
      throw new ProviderRefusal(
        "skipped",
        "service-account-unreadable",
        `failed to get service account: ${messageOf(error)}`,
      );
    });
    const annotations = collectAnnotations(tokens, account.annotations, `${pod.namespace}/${name}`);
    const wish = {
      namespace: pod.namespace,
      serviceAccount: name,
      uid: this.#deps.profile.tokenRequestUid ? account.uid : undefined,
      audience: tokens.serviceAccountTokenAudience,
      pod: { name: pod.name, uid: pod.uid },
      traceparent: this.#deps.traceparent(query.trace),
      spoil: this.#deps.spoilFor(pod),
    };
    const { token, jti } = await this.#deps.tokens.find(wish).catch((error: unknown) => {
      const message = `failed to get service account token: ${messageOf(error)}`;
      throw new ProviderRefusal(
        "skipped",
        message.includes("audience") ? "audience-forbidden" : "token-refused",
        message,
      );
    });
    const perToken = this.#deps.profile.cacheType && tokens.cacheType === "Token";
    const coordinates = { uid: account.uid, namespace: pod.namespace, name };
    return {
      key: { ...coordinates, annotations, ...(perToken ? { tokenHash: hashToken(token) } : {}) },
      token,
      jti,
      source: this.#deps.profile.serviceAccountSources
        ? { kind: "service-account", ...coordinates }
        : { kind: "none", name: `provider ${this.config.name}` },
    };
  }

  /** One run for all who ask the same at the same time (2.5). */
  async #fly(query: ProviderQuery, account: Account | undefined): Promise<{ auth: AuthMap; shared: boolean }> {
    const tokenHash = account ? hashToken(account.token) : "";
    const key = renderFlightKey(query.image, account && { tokenHash, annotations: account.key.annotations });
    const running = this.#flights.get(key);
    if (running) return { auth: await running, shared: true };
    const flight = this.#execute(query, account).finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return { auth: await flight, shared: false };
  }

  async #execute(query: ProviderQuery, account: Account | undefined): Promise<AuthMap> {
    const { clock, events } = this.#deps;
    if (account?.jti) events.join?.(account.jti, query.trace);
    const { result, environment } = await this.#run(query, account);
    const refuse = (reason: string, message: string): ProviderRefusal => {
      this.#recordExec(query, { account, result, environment, reason, message });
      return new ProviderRefusal("failed", reason, message);
    };
    if (!result.ok) {
      const text = `error execing credential provider plugin ${this.config.name} for image ${query.image}: ${result.text}: ${redact(result.stderr)}`;
      throw refuse(`plugin-${result.failure}`, EXEC_PREFIX + text);
    }
    try {
      const response = parsePluginResponse(result.stdout, {
        apiVersion: this.config.apiVersion,
        forbiddenPassword: this.#forbiddenPassword(account),
      });
      this.#recordExec(query, { account, result, environment });
      const expiresAt = decideExpiry(response.cacheDurationMs, this.config.defaultCacheDurationMs ?? 0, clock.now());
      const { cacheKeyType, auth } = response;
      if (expiresAt)
        this.#cache.store({ keyType: cacheKeyType, image: query.image, account: account?.key, expiresAt }, auth);
      return auth;
    } catch (error) {
      if (!(error instanceof PluginResponseError)) throw error;
      throw refuse("plugin-answer-refused", (error.prefixed ? EXEC_PREFIX : "") + redact(error.message));
    }
  }

  #forbiddenPassword(account: Account | undefined): string | undefined {
    const { profile } = this.#deps;
    return profile.cacheType && this.config.tokenAttributes?.cacheType !== "Token" ? account?.token : undefined;
  }

  async #run(query: ProviderQuery, account: Account | undefined) {
    const identity = await this.#deps.identity?.();
    if (identity) this.#deps.events.join?.(identity.lineage, query.trace);
    const configured = Object.fromEntries(this.config.env.map(({ name, value }) => [name, value]));
    const environment = { ...this.#deps.environment, ...identity?.environment, ...configured };
    const result = await runPlugin({
      path: join(this.#deps.pluginDirectory, this.config.name),
      args: this.config.args,
      environment,
      directory: this.#deps.workingDirectory,
      stdin: renderPluginRequest({
        apiVersion: this.config.apiVersion,
        image: query.image,
        token: account?.token,
        annotations: account?.key.annotations,
      }),
      timeoutMs: this.#deps.timeoutMs,
      graceMs: this.#deps.graceMs,
      signal: this.#deps.signal,
    });
    return { result, environment };
  }

  #report(outcome: ProviderReport["outcome"], because: string): { report: ProviderReport } {
    return { report: { name: this.config.name, outcome, because } };
  }

  #recordSkip(query: ProviderQuery, refusal: ProviderRefusal): void {
    this.#deps.events.record({
      operation: "kubelet:SkipProvider",
      room: "kubelet",
      trace: query.trace,
      principal: principalOf(query.pod),
      resource: query.image,
      status: 0,
      decision: "deny",
      reason: refusal.reason,
      decidedBy: `provider ${this.config.name}`,
      durationMs: 0,
      notes: { because: refusal.message },
    });
  }

  #recordExec(query: ProviderQuery, run: ExecRecord): void {
    const { result, account } = run;
    this.#deps.events.record({
      operation: "kubelet:ExecPlugin",
      room: "kubelet",
      trace: query.trace,
      ...(account?.jti ? { lineage: account.jti } : {}),
      principal: principalOf(query.pod),
      resource: query.image,
      status: 0,
      decision: run.reason ? "deny" : "none",
      ...(run.reason ? { reason: run.reason } : {}),
      decidedBy: `provider ${this.config.name}`,
      durationMs: result.durationMs,
      notes: {
        environment: Object.keys(run.environment).sort(),
        ...(run.message ? { because: run.message } : {}),
        ...(result.stderr ? { stderr: redact(result.stderr).slice(0, 4000) } : {}),
      },
    });
  }
}

interface ExecRecord {
  readonly account: Account | undefined;
  readonly result: PluginResult;
  readonly environment: Readonly<Record<string, string>>;
  readonly reason?: string;
  readonly message?: string;
}

/** Required keys must exist (an empty value is fine), optional ones are added if present; nothing else is ever sent. */
function collectAnnotations(
  tokens: TokenAttributes,
  found: Readonly<Record<string, string>>,
  account: string,
): Record<string, string> {
  const missing = tokens.requiredServiceAccountAnnotationKeys.filter((key) => found[key] === undefined);
  if (missing.length > 0) {
    const message = `ServiceAccount ${account} lacks the required annotation ${missing.join(", ")}: the plugin is not run`;
    throw new ProviderRefusal("skipped", "annotation-missing", message);
  }
  const keys = [...tokens.requiredServiceAccountAnnotationKeys, ...tokens.optionalServiceAccountAnnotationKeys];
  return Object.fromEntries(keys.flatMap((key) => (found[key] === undefined ? [] : [[key, found[key]]])));
}

function describeAuth(auth: AuthMap): string {
  const keys = Object.keys(auth);
  return keys.length === 0
    ? "the plugin answered without credentials"
    : `the plugin answered credentials for ${keys.join(", ")}`;
}

function principalOf(pod: Pod): string {
  return `system:serviceaccount:${pod.namespace}:${pod.serviceAccountName ?? ""}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
