// How a pulled record learns who may use an image (kubelet.md 6.5 and step 10 of 6.6).
import type { ImagePulledRecord, RecordedCredentials, RecordedServiceAccount } from "../types.ts";
import type { Credential } from "./keyring.ts";
import { compareCoordinates, mergeSecret, sameCoordinates } from "./record-entry.ts";

/** What a record is changed for: the id, the mapping key and the moment. */
interface RecordTarget {
  readonly imageRef: string;
  /** Mapping key: the image name without tag and digest. */
  readonly name: string;
  readonly now: Date;
}

/**
 * The record after a successful pull, or undefined if nothing has to be written.
 * @param existing the record of the id, if there is a readable one
 * @param used the credential that worked; undefined for an anonymous pull
 */
export function applyPull(
  existing: ImagePulledRecord | undefined,
  target: RecordTarget,
  used: Credential | undefined,
): ImagePulledRecord | undefined {
  const entry = existing?.credentialMapping[target.name];
  const next = mergeEntry(entry, toEntry(used));
  if (existing && next === entry) return undefined;
  return withEntry(existing, target, next);
}

/** A record that says only "pulled by the kubelet": everybody must authenticate once (6.7). */
export function createEmptyRecord(imageRef: string, now: Date): ImagePulledRecord {
  return { imageRef, lastUpdatedTime: now, credentialMapping: {} };
}

/** The record with this entry for the name. */
export function withEntry(
  existing: ImagePulledRecord | undefined,
  target: RecordTarget,
  entry: RecordedCredentials,
): ImagePulledRecord {
  return {
    imageRef: target.imageRef,
    lastUpdatedTime: target.now,
    credentialMapping: { ...existing?.credentialMapping, [target.name]: entry },
  };
}

function toEntry(used: Credential | undefined): RecordedCredentials {
  if (!used || used.source.kind === "none") return { nodePodsAccessible: true };
  const { uid, namespace, name } = used.source;
  return used.source.kind === "secret"
    ? { kubernetesSecrets: [{ uid, namespace, name, credentialHash: used.hash }] }
    : { kubernetesServiceAccounts: [{ uid, namespace, name }] };
}

/** Never narrowed: node-accessible stays so. Answers `entry` itself if nothing changes. */
function mergeEntry(entry: RecordedCredentials | undefined, added: RecordedCredentials): RecordedCredentials {
  if (!entry) return added;
  if (entry.nodePodsAccessible) return entry;
  if (added.nodePodsAccessible) return added;
  const secret = added.kubernetesSecrets?.[0];
  if (secret) return mergeSecret(entry, secret);
  const account = added.kubernetesServiceAccounts?.[0];
  return account ? mergeAccount(entry, account) : entry;
}

function mergeAccount(entry: RecordedCredentials, account: RecordedServiceAccount): RecordedCredentials {
  const list = entry.kubernetesServiceAccounts ?? [];
  if (list.some((other) => sameCoordinates(other, account))) return entry;
  return { ...entry, kubernetesServiceAccounts: [...list, account].sort(compareCoordinates) };
}
