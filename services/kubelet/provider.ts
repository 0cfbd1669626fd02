// One credential provider (kubelet.md 2.2–2.5, 3.1): who it runs for, what it remembers, and why it gave nothing.
import { join } from "node:path";
import type { Clock } from "../shared/clock.ts";
import type { EventSink } from "../shared/event.ts";
import { redact } from "../shared/redact.ts";
import { hashToken, renderFlightKey } from "./core/cache-keys.ts";
import { CredentialCache, decideExpiry } from "./core/credential-cache.ts";
import type { CredentialSource } from "./core/keyring.ts";
import { findMatchingPattern } from "./core/match-images.ts";
import {
  type AuthMap,
  type PluginResponse,
  PluginResponseError,
  parsePluginResponse,
  renderPluginRequest,
} from "./core/plugin-response.ts";
import type { Pod } from "./core/pod.ts";
import type { CredentialProvider } from "./core/provider-config.ts";
import { runPlugin } from "./exec.ts";
import { type AccountDeps, findAccount, type ProviderAccount, ProviderRefusal } from "./provider-account.ts";
import { type ProviderOccasion, recordExec, recordSkip, renderStderr } from "./provider-events.ts";
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

export interface ProviderDeps extends AccountDeps {
  readonly pluginDirectory: string;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly identity: (() => Promise<NodeIdentity>) | undefined;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly events: EventSink;
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
      if (error.outcome === "skipped") recordSkip(this.#deps.events, this.#occasion(query), error);
      const { report } = this.#report(error.outcome, error.message);
      return { report: { ...report, reason: error.reason } };
    }
  }

  async #provideMatched(query: ProviderQuery): Promise<ProviderAnswer> {
    const { tokenAttributes: tokens, name: provider } = this.config;
    const { pod, trace } = query;
    const account = tokens ? await findAccount(this.#deps, { provider, pod, trace, tokens }) : undefined;
    const source = account?.source ?? { kind: "none" as const, name: `provider ${this.config.name}` };
    const cached = this.#cache.find(query.image, account?.key, this.#deps.clock.now());
    if (cached)
      return { ...this.#report("cached", `${cached.keyType} entry of an earlier run`), auth: cached.auth, source };
    const { auth, shared } = await this.#fly(query, account);
    const because = shared ? "shared the run of a concurrent request" : describeAuth(auth);
    return { ...this.#report("executed", because), auth, source };
  }

  /** One run for all who ask the same at the same time (2.5). */
  async #fly(query: ProviderQuery, account: ProviderAccount | undefined): Promise<{ auth: AuthMap; shared: boolean }> {
    const tokenHash = account ? hashToken(account.token) : "";
    const key = renderFlightKey(query.image, account && { tokenHash, annotations: account.key.annotations });
    const running = this.#flights.get(key);
    if (running) return { auth: await running, shared: true };
    const flight = this.#execute(query, account).finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return { auth: await flight, shared: false };
  }

  async #execute(query: ProviderQuery, account: ProviderAccount | undefined): Promise<AuthMap> {
    const { events } = this.#deps;
    if (account?.jti) events.join?.(account.jti, query.trace);
    const { result, environment } = await this.#run(query, account);
    const run = { account, result, environment };
    const refuse = (reason: string, message: string): ProviderRefusal => {
      const refusal = new ProviderRefusal("failed", reason, message);
      recordExec(events, this.#occasion(query), { ...run, refusal });
      return refusal;
    };
    if (!result.ok) {
      const text = `error execing credential provider plugin ${this.config.name} for image ${query.image}: ${result.text}: ${renderStderr(result.stderr)}`;
      throw refuse(`plugin-${result.failure}`, EXEC_PREFIX + text);
    }
    try {
      const forbiddenPassword = this.#forbiddenPassword(account);
      const response = parsePluginResponse(result.stdout, { apiVersion: this.config.apiVersion, forbiddenPassword });
      recordExec(events, this.#occasion(query), run);
      this.#keep(query, account, response);
      return response.auth;
    } catch (error) {
      if (!(error instanceof PluginResponseError)) throw error;
      throw refuse("plugin-answer-refused", (error.prefixed ? EXEC_PREFIX : "") + redact(error.message));
    }
  }

  #keep(query: ProviderQuery, account: ProviderAccount | undefined, response: PluginResponse): void {
    const fallback = this.config.defaultCacheDurationMs ?? 0;
    const expiresAt = decideExpiry(response.cacheDurationMs, fallback, this.#deps.clock.now());
    if (!expiresAt) return;
    const { cacheKeyType, auth } = response;
    this.#cache.store({ keyType: cacheKeyType, image: query.image, account: account?.key, expiresAt }, auth);
  }

  #occasion({ pod, image, trace }: ProviderQuery): ProviderOccasion {
    return { provider: this.config.name, pod, image, trace };
  }

  #forbiddenPassword(account: ProviderAccount | undefined): string | undefined {
    const { profile } = this.#deps;
    return profile.cacheType && this.config.tokenAttributes?.cacheType !== "Token" ? account?.token : undefined;
  }

  async #run(query: ProviderQuery, account: ProviderAccount | undefined) {
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
}

function describeAuth(auth: AuthMap): string {
  const keys = Object.keys(auth);
  return keys.length === 0
    ? "the plugin answered without credentials"
    : `the plugin answered credentials for ${keys.join(", ")}`;
}
