// What a Pod refers to: read by the node authorizer, by NodeRestriction and by admission.
import type { JsonObject, KubeObject } from "../types.ts";
import { objectAt, objectsAt, textAt } from "./fields.ts";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

/** The node that a Pod runs on, or the empty text. */
export function nodeOf(pod: KubeObject): string {
  return textAt(objectAt(pod, "spec"), "nodeName");
}

/** The ServiceAccount that a Pod runs as, or the empty text. */
export function serviceAccountOf(pod: KubeObject): string {
  return textAt(objectAt(pod, "spec"), "serviceAccountName");
}

/** A Pod that a kubelet made visible by itself; it lends its node no rights. */
export function isMirrorPod(pod: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}): boolean {
  return Object.hasOwn(pod.metadata.annotations ?? {}, MIRROR_ANNOTATION);
}

/** All containers of a Pod, init and ephemeral ones too. */
export function containersOf(spec: JsonObject): readonly JsonObject[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((key) => objectsAt(spec, key));
}

/** The names of all Secrets that a Pod names: for pulling, in volumes, in its environment. */
export function secretsOf(pod: KubeObject): ReadonlySet<string> {
  const spec = objectAt(pod, "spec");
  const names = new Set(objectsAt(spec, "imagePullSecrets").map((reference) => textAt(reference, "name")));
  for (const volume of objectsAt(spec, "volumes")) {
    names.add(textAt(objectAt(volume, "secret"), "secretName"));
    const sources = objectsAt(objectAt(volume, "projected"), "sources");
    for (const source of sources) names.add(textAt(objectAt(source, "secret"), "name"));
  }
  for (const container of containersOf(spec)) {
    for (const source of objectsAt(container, "envFrom")) names.add(textAt(objectAt(source, "secretRef"), "name"));
    for (const variable of objectsAt(container, "env")) {
      names.add(textAt(objectAt(variable, "valueFrom", "secretKeyRef"), "name"));
    }
  }
  names.delete("");
  return names;
}
