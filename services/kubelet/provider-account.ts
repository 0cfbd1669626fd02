// ServiceAccount mode of a provider (kubelet.md 3.1, steps 2 to 6): account, annotations, token, or why the plugin is not run.
import type { ApiClient } from "./api-client.ts";
import { hashToken, type ServiceAccountKey } from "./core/cache-keys.ts";
import type { CredentialSource } from "./core/keyring.ts";
import type { Pod } from "./core/pod.ts";
import type { Profile } from "./core/profiles.ts";
import type { TokenAttributes } from "./core/provider-config.ts";
import type { TokenSource } from "./token-source.ts";

/** What a run in ServiceAccount mode has in hand. */
export interface ProviderAccount {
  readonly key: ServiceAccountKey;
  readonly token: string;
  readonly jti: string | undefined;
  readonly source: CredentialSource;
}

/** Why nothing came of a provider: `skipped` before the plugin ran, `failed` after. */
export class ProviderRefusal extends Error {
  readonly outcome: "skipped" | "failed";
  readonly reason: string;

  constructor(outcome: "skipped" | "failed", reason: string, message: string) {
    super(message);
    this.name = "ProviderRefusal";
    this.outcome = outcome;
    this.reason = reason;
  }
}

export interface AccountDeps {
  readonly profile: Profile;
  readonly api: ApiClient;
  readonly tokens: TokenSource;
  readonly traceparent: (trace: string) => string;
  /** Makes the bad twin of a fresh token for this Pod, if it asks for one. */
  readonly spoilFor: (pod: Pod) => ((token: string) => Promise<string>) | undefined;
}

export interface AccountQuery {
  readonly provider: string;
  readonly pod: Pod;
  readonly trace: string;
  readonly tokens: TokenAttributes;
}

/**
 * The account a plugin runs for; undefined for a Pod without one where none is required.
 * @throws ProviderRefusal with the kubelet's log line
 */
export async function findAccount(deps: AccountDeps, query: AccountQuery): Promise<ProviderAccount | undefined> {
  const { pod, tokens } = query;
  const name = pod.serviceAccountName;
  if (name === undefined) {
    if (!tokens.requireServiceAccount) return undefined;
    const message = "the Pod has no ServiceAccount and the provider requires one";
    throw new ProviderRefusal("skipped", "service-account-missing", message);
  }
  const { uid, annotations: found } = await readAccount(deps, query, name);
  const annotations = collectAnnotations(tokens, found, `${pod.namespace}/${name}`);
  const { token, jti } = await requestToken(deps, query, { name, uid });
  const perToken = deps.profile.cacheType && tokens.cacheType === "Token";
  const coordinates = { uid, namespace: pod.namespace, name };
  return {
    key: { ...coordinates, annotations, ...(perToken ? { tokenHash: hashToken(token) } : {}) },
    token,
    jti,
    source: deps.profile.serviceAccountSources
      ? { kind: "service-account", ...coordinates }
      : { kind: "none", name: `provider ${query.provider}` },
  };
}

/** Live from the API server, every time. */
async function readAccount(deps: AccountDeps, { pod, trace }: AccountQuery, name: string) {
  try {
    return await deps.api.getServiceAccount(pod.namespace, name, deps.traceparent(trace));
  } catch (error) {
    const message = `failed to get service account: ${messageOf(error)}`;
    throw new ProviderRefusal("skipped", "service-account-unreadable", message);
  }
}

async function requestToken(deps: AccountDeps, query: AccountQuery, account: { name: string; uid: string }) {
  const { pod, tokens, trace } = query;
  const wish = {
    namespace: pod.namespace,
    serviceAccount: account.name,
    uid: deps.profile.tokenRequestUid ? account.uid : undefined,
    audience: tokens.serviceAccountTokenAudience,
    pod: { name: pod.name, uid: pod.uid },
    traceparent: deps.traceparent(trace),
    spoil: deps.spoilFor(pod),
  };
  try {
    return await deps.tokens.find(wish);
  } catch (error) {
    const message = `failed to get service account token: ${messageOf(error)}`;
    const forbidden = message.includes("is forbidden") && message.includes("audience");
    throw new ProviderRefusal("skipped", forbidden ? "audience-forbidden" : "token-refused", message);
  }
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
