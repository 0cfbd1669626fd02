// One run of the kubelet, from start to stop: everything that is lost when it restarts.
import { ConfigurationError } from "../shared/errors.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { checkExecutable, checkPluginDirectory, prepareDirectories, readConfigFiles } from "./config-files.ts";
import { BackOff } from "./core/back-off.ts";
import { hashConfigFiles } from "./core/config-hash.ts";
import { type KubeletSettings, parseKubeletConfiguration } from "./core/kubelet-configuration.ts";
import type { Pod } from "./core/pod.ts";
import { PROFILES, type Profile } from "./core/profiles.ts";
import {
  type ConfigFile,
  type CredentialProvider,
  decodeProviderConfig,
  ProviderConfigError,
} from "./core/provider-config.ts";
import { checkProviderRules } from "./core/provider-config-rules.ts";
import { CredentialSources } from "./credentials.ts";
import type { EnsureDeps } from "./ensure-image.ts";
import { KubeletCrash } from "./errors.ts";
import { ImageRecords } from "./image-records.ts";
import { Provider } from "./provider.ts";
import { PullRate, PullSlots } from "./pull-slots.ts";
import { createRecordCache } from "./record-cache.ts";
import type { Runtime } from "./runtime.ts";
import { TokenSource } from "./token-source.ts";
import { createTraceparent } from "./trace.ts";
import type { KubeletOptions, RecordStore } from "./types.ts";

/** Annotations that only simulated nodes know. */
export const POD_ANNOTATIONS = { badToken: "pullproof.dev/bad-token", crash: "pullproof.dev/crash-kubelet" } as const;

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface Session {
  readonly profile: Profile;
  readonly settings: KubeletSettings;
  readonly ensure: EnsureDeps;
  readonly store: RecordStore;
  readonly tokens: TokenSource;
  readonly configHash: string | undefined;
  readonly life: AbortController;
  /** Set once a Pod made the kubelet crash. */
  readonly crashed: () => boolean;
}

/**
 * Reads and checks the configuration and builds a run on it.
 * @throws ConfigurationError with the real kubelet's start-up text
 */
export async function startSession(options: KubeletOptions, records: RecordStore, runtime: Runtime): Promise<Session> {
  const { version, clock, dialer, random, rootDirectory } = options;
  const profile = PROFILES[version];
  const settings = parseKubeletConfiguration(options.configuration, profile);
  const { configs, hash } = await loadProviders(options, profile, settings);
  const home = prepareDirectories(rootDirectory);
  const life = new AbortController();
  const crash = createCrashPoint(life);
  const traceparent = (trace: string) => createTraceparent(trace, random);
  const api = createApiClient({ url: options.apiServerUrl, token: options.apiServerToken, dialer });
  const tokens = createTokenSource(options, api);
  const plugin = { ...createProviderDeps(options, home), profile, signal: life.signal, api, tokens, traceparent };
  const providers = configs.map((config) => new Provider(config, plugin));
  const store = openStore(records, settings, profile);
  const imageRecords = new ImageRecords({ store, policy: settings.policy, profile, clock });
  if (settings.ensureSecretPulledImages) imageRecords.convertIntents(runtime.list());
  const ensure: EnsureDeps = {
    profile,
    settings,
    runtime,
    dialer,
    clock,
    traceparent,
    records: imageRecords,
    credentials: new CredentialSources({ api, clock, rootDirectory, providers, traceparent }),
    backOff: new BackOff(),
    slots: new PullSlots(settings.pullSlots),
    rate: settings.pullRate ? new PullRate(settings.pullRate) : undefined,
    signal: life.signal,
    crashPoint: crash.pass,
    failures: new Map(),
  };
  return { profile, settings, ensure, store, tokens, configHash: hash, life, crashed: crash.happened };
}

/** Where Pods can make the kubelet die: the runtime has the image, the record is not yet written. */
function createCrashPoint(life: AbortController) {
  let happened = false;
  return {
    happened: () => happened,
    pass(pod: Pod): void {
      if (pod.annotations[POD_ANNOTATIONS.crash] !== "between-pull-and-record") return;
      happened = true;
      life.abort();
      throw new KubeletCrash();
    },
  };
}

function createProviderDeps(options: KubeletOptions, home: string) {
  return {
    pluginDirectory: options.pluginDirectory,
    workingDirectory: options.rootDirectory,
    environment: { PATH, HOME: home, ...options.environment },
    identity: options.identity,
    timeoutMs: options.pluginTimeoutMs ?? 60_000,
    graceMs: options.pluginGraceMs ?? 2000,
    clock: options.clock,
    events: options.events,
    spoilFor: (pod: Pod) => findSpoiler(options, pod),
  };
}

/** With the gate off nothing of the records is read or written (6.9). */
function openStore(records: RecordStore, settings: KubeletSettings, profile: Profile): RecordStore {
  if (!settings.ensureSecretPulledImages) return records;
  records.prepare();
  return profile.recordCache ? createRecordCache(records, settings) : records;
}

async function loadProviders(
  options: KubeletOptions,
  profile: Profile,
  settings: KubeletSettings,
): Promise<{ configs: CredentialProvider[]; hash: string | undefined }> {
  if (options.credentialProviderConfig === undefined && options.credentialProviderConfigPath === undefined) {
    return { configs: [], hash: undefined };
  }
  try {
    checkPluginDirectory(options.pluginDirectory);
    const files = await findConfigFiles(options, profile);
    const configs = decodeProviderConfig(files, profile);
    checkProviderRules(configs, { profile, tokensEnabled: settings.serviceAccountTokens });
    for (const { name } of configs) checkExecutable(options.pluginDirectory, name);
    const hash = profile.configDirectory ? hashConfigFiles(files.map((file) => file.bytes)) : undefined;
    return { configs, hash };
  } catch (error) {
    if (!(error instanceof ProviderConfigError)) throw error;
    throw new ConfigurationError(`Failed to register CRI auth plugins: ${error.message}`, {
      hint: `correct the credential provider configuration or the plugin directory of node ${options.nodeName}; a real kubelet does not start with it`,
    });
  }
}

async function findConfigFiles(options: KubeletOptions, profile: Profile): Promise<ConfigFile[]> {
  if (options.credentialProviderConfigPath !== undefined) {
    return readConfigFiles(options.credentialProviderConfigPath, profile.configDirectory);
  }
  const value = options.credentialProviderConfig;
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  return [{ path: "credentialProviderConfig", bytes, value, strictProblems: [] }];
}

function findSpoiler(options: KubeletOptions, pod: Pod): ((token: string) => Promise<string>) | undefined {
  const kind = pod.annotations[POD_ANNOTATIONS.badToken];
  if (kind === undefined) return undefined;
  const { spoilToken } = options;
  if (!spoilToken)
    throw new ConfigurationError(`the annotation ${POD_ANNOTATIONS.badToken} needs an issuer that can spoil tokens`);
  return (token) => spoilToken(token, kind);
}

function createTokenSource(options: KubeletOptions, api: ApiClient): TokenSource {
  const { clock, random, events } = options;
  return new TokenSource({
    api,
    clock,
    random,
    onRequest(wish, outcome) {
      const trace = wish.traceparent.split("-")[1];
      events.record({
        operation: "kubelet:RequestToken",
        room: "kubelet",
        ...(trace ? { trace } : {}),
        ...(outcome.jti ? { lineage: outcome.jti } : {}),
        principal: `system:node:${options.nodeName}`,
        resource: `${wish.namespace}/${wish.serviceAccount}`,
        status: 0,
        decision: outcome.error ? "deny" : "none",
        ...(outcome.error ? { reason: "token-refused" } : {}),
        durationMs: 0,
        notes: { audience: wish.audience, ...(outcome.error ? { because: outcome.error } : {}) },
      });
    },
  });
}
