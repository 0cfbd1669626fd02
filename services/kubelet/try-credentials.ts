// Pulls with one credential after the other until the registry agrees (kubelet.md 2.7), and says what decided.
import { monotonicMs } from "../shared/clock.ts";
import type { Dialer } from "../shared/dial.ts";
import type { Credential } from "./core/keyring.ts";
import { reportPull } from "./credential-reports.ts";
import { RegistryPullError } from "./errors.ts";
import { pullImage } from "./pull.ts";
import type { PullRate } from "./pull-slots.ts";
import type { Runtime } from "./runtime.ts";
import type { CredentialReport, ProviderReport, Reason, RuntimeImage } from "./types.ts";

export interface PullDeps {
  readonly runtime: Runtime;
  readonly dialer: Dialer;
  readonly rate: PullRate | undefined;
  readonly signal: AbortSignal;
  readonly traceparent: (trace: string) => string;
}

type PullResult = { readonly reports: readonly CredentialReport[] } & (
  | { readonly image: RuntimeImage; readonly used: Credential | undefined; readonly tookMs: number }
  | { readonly failures: readonly RegistryPullError[] }
);

const QPS_EXCEEDED = "pull QPS exceeded";

/** An empty list is one anonymous try; after credentials failed there is none. */
export async function tryCredentials(
  deps: PullDeps,
  pull: { readonly image: string; readonly credentials: readonly Credential[]; readonly trace: string },
): Promise<PullResult> {
  const { image, credentials, trace } = pull;
  const failures: RegistryPullError[] = [];
  if (deps.rate && !deps.rate.take()) {
    return { failures: [new RegistryPullError("pull-failed", QPS_EXCEEDED)], reports: [] };
  }
  for (const login of credentials.length > 0 ? credentials : [undefined]) {
    const started = monotonicMs();
    try {
      const pulled = await pullImage({ ...deps, image, login, traceparent: () => deps.traceparent(trace) });
      const reports = reportPull(credentials, failures, true);
      return { image: pulled, used: login, tookMs: monotonicMs() - started, reports };
    } catch (error) {
      if (!(error instanceof RegistryPullError)) throw error;
      failures.push(error);
    }
    if (deps.signal.aborted) break;
  }
  return { failures, reports: reportPull(credentials, failures, false) };
}

/** The registry's refusal, or, where nothing was sent, why there was nothing to send. */
export function explainFailures(
  failures: readonly RegistryPullError[],
  providers: readonly ProviderReport[],
): { reason: Reason; decidedBy?: string } {
  const refused = failures.find((failure) => failure.kind === "registry-refused") ?? failures[0];
  if (refused?.message === QPS_EXCEEDED) return { reason: "qps-exceeded", decidedBy: "registryPullQPS" };
  const reason = refused?.kind ?? "pull-failed";
  const silent = providers.find(({ outcome }) => outcome === "skipped" || outcome === "failed");
  if (reason === "no-credentials" && silent) {
    return { reason, decidedBy: `provider ${silent.name} ${silent.outcome}: ${silent.because}` };
  }
  const decidedBy = refused?.detail ?? refused?.message;
  return decidedBy === undefined ? { reason } : { reason, decidedBy };
}

/** Reason and owner of the credential that worked. */
export function describeUse(used: Credential | undefined): { reason: Reason; decidedBy: string } {
  if (!used) return { reason: "pulled-anonymously", decidedBy: "no credential" };
  const { source } = used;
  if (source.kind === "none") return { reason: "pulled-with-node-credential", decidedBy: source.name };
  const name = `${source.namespace}/${source.name} (${source.uid})`;
  return source.kind === "secret"
    ? { reason: "pulled-with-secret", decidedBy: `Secret ${name}` }
    : { reason: "pulled-with-service-account", decidedBy: `ServiceAccount ${name}` };
}

/** One distinct text as it is, several as Go's aggregate lists them (2.7). */
export function joinErrors(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct.join("") : `[${distinct.join(", ")}]`;
}
