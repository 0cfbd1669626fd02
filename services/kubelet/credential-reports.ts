// What is told about the credentials of a Pod: which were compared with a record, which were tried at the registry.
import type { PullDecision } from "./core/decide-pull.ts";
import type { Credential } from "./core/keyring.ts";
import type { RegistryPullError } from "./errors.ts";
import type { CredentialReport } from "./types.ts";

/** The comparison with a pull record: all or none of the Pod's credentials, and whether one was in it. */
export function reportComparison(credentials: readonly Credential[], decision: PullDecision): CredentialReport[] {
  return credentials.map((credential) => {
    const { source } = credential;
    const named =
      source.kind !== "none" &&
      !decision.mustPull &&
      decision.decidedBy.includes(`${source.namespace}/${source.name} (${source.uid})`);
    return { ...describe(credential), outcome: named ? "in-record" : "not-in-record" };
  });
}

/** The tries at the registry, in order; without credentials there is one anonymous try. */
export function reportPull(
  credentials: readonly Credential[],
  failures: readonly RegistryPullError[],
  succeeded: boolean,
): CredentialReport[] {
  const tried = credentials.length > 0 ? credentials.map(describe) : [{ source: "anonymous" as const }];
  return tried.map((credential, index) => {
    const failure = failures[index];
    if (failure) return { ...credential, outcome: "refused", because: failure.detail ?? failure.message };
    return { ...credential, outcome: succeeded && index === failures.length ? "accepted" : "not-tried" };
  });
}

function describe({ source, username }: Credential): Omit<CredentialReport, "outcome"> {
  if (source.kind === "none") return { source: "none", name: source.name, username };
  return { source: source.kind, name: `${source.namespace}/${source.name}`, username };
}
