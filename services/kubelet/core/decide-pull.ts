// May a Pod use an image that is already on the node? The decision of KEP-2535, step by step as kubelet.md 6.6 numbers it.
import type { ImagePulledRecord, Reason, RecordedCredentials, RecordedSecret } from "../types.ts";
import type { Credential } from "./keyring.ts";
import { findMappingKey } from "./mapping-key.ts";
import type { Profile } from "./profiles.ts";
import { MAX_RECORDED_SECRETS, mergeSecret, sameCoordinates } from "./record-entry.ts";
import { decideVerificationSkip, type VerificationPolicy } from "./verification-policy.ts";

/** Label of `kubelet_imagemanager_image_mustpull_checks_total`. */
type CheckResult = "credentialPolicyAllowed" | "credentialRecordFound" | "mustAuthenticate" | "error";

/** The outcome, with the text that explains it. */
export type PullDecision =
  | {
      readonly mustPull: false;
      readonly result: CheckResult;
      readonly reason: Reason;
      readonly decidedBy: string;
      /** The entry as it must be written, if the decision changed it. */
      readonly update?: RecordedCredentials;
    }
  | { readonly mustPull: true; readonly result: CheckResult; readonly because: string };

/** A decision that first needs the Pod's credentials. */
export interface OpenDecision {
  readonly entry: RecordedCredentials;
  readonly name: string;
}

/** What is known about the image on the node. */
export interface PullFacts {
  /** The spec string. */
  readonly image: string;
  readonly imageRef: string;
  readonly policy: VerificationPolicy;
  readonly profile: Profile;
  /** `broken`: there is a record file that cannot be read. */
  readonly record: ImagePulledRecord | undefined | "broken";
  /** Is there an intent for this spec string, counted in memory or on disk? `broken`: cannot tell. */
  readonly intent: boolean | "broken";
}

/** Steps 1 to 8: everything that can be decided without looking up credentials. */
export function decideWithoutCredentials(facts: PullFacts): PullDecision | OpenDecision {
  if (facts.imageRef === "") return mustPull("the image is not on the node");
  if (facts.record === "broken") return mustPull("the pull record cannot be read", "error");
  if (facts.intent === "broken") return mustPull("the pull intent cannot be read", "error");
  const byKubelet = facts.record !== undefined || facts.intent;
  const skip = decideVerificationSkip(facts.policy, { image: facts.image, byKubelet, profile: facts.profile });
  if (skip) {
    return {
      mustPull: false,
      result: "credentialPolicyAllowed",
      reason: skip,
      decidedBy: `policy ${facts.policy.name}`,
    };
  }
  if (!facts.record) return mustPull(`no pull record for ${facts.imageRef}`);
  const name = findMappingKey(facts.image, facts.profile);
  if (name === undefined) return mustPull("the image name cannot be parsed", "error");
  const entry = facts.record.credentialMapping[name];
  if (!entry) return mustPull(`the pull record of ${facts.imageRef} has no entry for ${name}`);
  if (entry.nodePodsAccessible) {
    return {
      ...ALLOWED_BY_RECORD,
      reason: "record-node-accessible",
      decidedBy: `record of ${name}: nodePodsAccessible`,
    };
  }
  if (!entry.kubernetesSecrets?.length && !entry.kubernetesServiceAccounts?.length) {
    return mustPull(`the entry for ${name} names nobody`);
  }
  return { entry, name };
}

const ALLOWED_BY_RECORD = { mustPull: false, result: "credentialRecordFound" } as const;

/** Steps 9 to 12: do the Pod's credentials meet the entry? */
export function decideWithCredentials(open: OpenDecision, credentials: readonly Credential[]): PullDecision {
  const secrets = credentials.flatMap(({ source, hash }): RecordedSecret[] =>
    source.kind === "secret"
      ? [{ uid: source.uid, namespace: source.namespace, name: source.name, credentialHash: hash }]
      : [],
  );
  for (const secret of secrets) {
    for (const recorded of open.entry.kubernetesSecrets ?? []) {
      const decision = decideSecret(open, secret, recorded);
      if (decision) return decision;
    }
  }
  const account = credentials.find(({ source }) => source.kind === "service-account")?.source;
  const recorded = open.entry.kubernetesServiceAccounts?.find(
    (other) => account?.kind === "service-account" && sameCoordinates(other, account),
  );
  if (recorded) {
    const decidedBy = `record of ${open.name}: ServiceAccount ${recorded.namespace}/${recorded.name} (${recorded.uid})`;
    return { ...ALLOWED_BY_RECORD, reason: "record-service-account", decidedBy };
  }
  return mustPull(
    `the entry for ${open.name} names ${renderHolders(open.entry)}; the Pod presents ${renderPresented(credentials)}`,
  );
}

function decideSecret(open: OpenDecision, secret: RecordedSecret, recorded: RecordedSecret): PullDecision | undefined {
  const room = (open.entry.kubernetesSecrets?.length ?? 0) < MAX_RECORDED_SECRETS;
  const known = sameCoordinates(secret, recorded);
  const decidedBy = `record of ${open.name}: Secret ${recorded.namespace}/${recorded.name} (${recorded.uid})`;
  // An empty hash never counts as content (case 16 of kubelet.md 9).
  if (recorded.credentialHash !== "" && recorded.credentialHash === secret.credentialHash) {
    const update = !known && room ? { update: mergeSecret(open.entry, secret) } : {};
    return { ...ALLOWED_BY_RECORD, reason: "record-secret-hash", decidedBy, ...update };
  }
  if (!known || !room) return undefined;
  const update = mergeSecret(open.entry, secret);
  return {
    ...ALLOWED_BY_RECORD,
    reason: "record-secret-coordinates",
    decidedBy,
    ...(update === open.entry ? {} : { update }),
  };
}

function mustPull(because: string, result: CheckResult = "mustAuthenticate"): PullDecision {
  return { mustPull: true, result, because };
}

function renderHolders(entry: RecordedCredentials): string {
  const secrets = (entry.kubernetesSecrets ?? []).map(
    (secret) => `Secret ${secret.namespace}/${secret.name} (${secret.uid})`,
  );
  const accounts = (entry.kubernetesServiceAccounts ?? []).map(
    (account) => `ServiceAccount ${account.namespace}/${account.name} (${account.uid})`,
  );
  return [...secrets, ...accounts].join(", ");
}

function renderPresented(credentials: readonly Credential[]): string {
  const parts = credentials.map(({ source }) =>
    source.kind === "none"
      ? `a credential of ${source.name}`
      : `${source.kind === "secret" ? "Secret" : "ServiceAccount"} ${source.namespace}/${source.name} (${source.uid})`,
  );
  return parts.join(", ") || "none";
}
