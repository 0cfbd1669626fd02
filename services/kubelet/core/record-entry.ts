// One entry of a pull record: who is the same, and how a secret gets in (kubelet.md 6.5, 6.6).
import type { RecordedCredentials, RecordedSecret, RecordedServiceAccount } from "../types.ts";

/** An entry holds at most so many secrets before matches stop extending it. */
export const MAX_RECORDED_SECRETS = 100;

/** The entry with this secret: its hash replaced where the coordinates are known, else appended. */
export function mergeSecret(entry: RecordedCredentials, secret: RecordedSecret): RecordedCredentials {
  const list = entry.kubernetesSecrets ?? [];
  const known = list.find((other) => sameCoordinates(other, secret));
  if (known?.credentialHash === secret.credentialHash) return entry;
  const others = list.filter((other) => other !== known);
  return { ...entry, kubernetesSecrets: [...others, secret].sort(compareCoordinates) };
}

/** Same uid, namespace and name. */
export function sameCoordinates(a: RecordedServiceAccount, b: RecordedServiceAccount): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}

/** The order of lists in a record: namespace, name, uid. */
export function compareCoordinates(a: RecordedServiceAccount, b: RecordedServiceAccount): number {
  return (
    Buffer.compare(Buffer.from(a.namespace), Buffer.from(b.namespace)) ||
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) ||
    Buffer.compare(Buffer.from(a.uid), Buffer.from(b.uid))
  );
}
