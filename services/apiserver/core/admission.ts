// What the API server adds to an object on its way in: defaults, and for Pods the ServiceAccount admission.
import { StatusError } from "../errors.ts";
import type { JsonObject, KubeObject, Manifest, ObjectLookup } from "../types.ts";
import { objectAt, objectsAt, textAt } from "./fields.ts";
import { isMirrorPod } from "./pod.ts";

const TOKEN_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The object with its defaults; Secrets get their `stringData` encoded. */
export function applyDefaults(object: Manifest): Manifest {
  return DEFAULTS[object.kind]?.(object) ?? object;
}

const DEFAULTS: Readonly<Record<string, (object: Manifest) => Manifest>> = {
  Secret: defaultSecret,
  Pod: defaultPod,
  RoleBinding: defaultBinding,
  ClusterRoleBinding: defaultBinding,
};

/** `Always` for `latest` and for neither tag nor digest, else `IfNotPresent` (spec kubelet 7.3). */
export function defaultPullPolicy(image: string): "Always" | "IfNotPresent" {
  const [name = "", digest] = image.split("@");
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  return tag === "latest" || (tag === undefined && digest === undefined) ? "Always" : "IfNotPresent";
}

/**
 * ServiceAccount admission: the account is filled in, must exist, lends its pull secrets and its token volume.
 * `suffix` makes the volume's name unique.
 * @throws StatusError Forbidden
 */
export function admitPodServiceAccount(pod: Manifest, objects: ObjectLookup, suffix: string): Manifest {
  const spec = objectAt(pod, "spec");
  const { namespace = "", name = "" } = pod.metadata;
  const refuse = (text: string) =>
    StatusError.forbidden({ group: "", resource: "pods" }, name, { text, because: "service-account-not-found" });
  if (isMirrorPod(pod)) {
    if (textAt(spec, "serviceAccountName") !== "") throw refuse("a mirror pod may not reference service accounts");
    return pod;
  }
  const serviceAccountName = textAt(spec, "serviceAccountName") || "default";
  const account = objects.find("serviceaccounts", namespace, serviceAccountName);
  if (!account) {
    const missing = `serviceaccount "${serviceAccountName}" not found`;
    throw refuse(`error looking up service account ${namespace}/${serviceAccountName}: ${missing}`);
  }
  const own = objectsAt(spec, "imagePullSecrets");
  const imagePullSecrets = own.length > 0 ? own : objectsAt(account, "imagePullSecrets");
  const admitted = {
    ...spec,
    serviceAccountName,
    serviceAccount: serviceAccountName,
    ...(imagePullSecrets.length > 0 ? { imagePullSecrets } : {}),
  };
  return { ...pod, spec: mountToken(admitted, account, suffix) };
}

function mountToken(spec: JsonObject, account: KubeObject, suffix: string): JsonObject {
  const automount = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  if (automount === false) return spec;
  const name = `kube-api-access-${suffix}`;
  let needed = false;
  const mount = (container: JsonObject): JsonObject => {
    const mounts = objectsAt(container, "volumeMounts");
    if (mounts.some((each) => each.mountPath === TOKEN_MOUNT_PATH)) return container;
    needed = true;
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath: TOKEN_MOUNT_PATH }] };
  };
  const mounted = mapContainers(spec, mount);
  if (!needed) return spec;
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
  ];
  return { ...mounted, volumes: [...objectsAt(spec, "volumes"), { name, projected: { sources, defaultMode: 420 } }] };
}

function mapContainers(spec: JsonObject, change: (container: JsonObject) => JsonObject): JsonObject {
  const changed = ["initContainers", "containers"]
    .filter((key) => Array.isArray(spec[key]))
    .map((key) => [key, objectsAt(spec, key).map(change)]);
  return { ...spec, ...Object.fromEntries(changed) };
}

function defaultPod(pod: Manifest): Manifest {
  const spec = objectAt(pod, "spec");
  const alias = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  const withPolicy = (container: JsonObject): JsonObject => ({
    ...container,
    imagePullPolicy: container.imagePullPolicy || defaultPullPolicy(textAt(container, "image")),
  });
  const volumes = objectsAt(spec, "volumes").map((volume) => {
    const image = objectAt(volume, "image");
    if (!("image" in volume) || image.pullPolicy) return volume;
    return { ...volume, image: { ...image, pullPolicy: defaultPullPolicy(textAt(image, "reference")) } };
  });
  const defaults = { restartPolicy: "Always", ...spec };
  return {
    ...pod,
    spec: {
      ...mapContainers(defaults, withPolicy),
      ...(alias ? { serviceAccountName: alias } : {}),
      ...(Array.isArray(spec.volumes) ? { volumes } : {}),
    },
  };
}

function defaultSecret({ stringData, ...secret }: Manifest): Manifest {
  const encoded = Object.entries(objectAt({ stringData }, "stringData")).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString("base64"),
  ]);
  const data = { ...objectAt(secret, "data"), ...Object.fromEntries(encoded) };
  return { ...secret, metadata: secret.metadata, data, type: textAt(secret, "type") || "Opaque" };
}

function defaultBinding(binding: Manifest): Manifest {
  const group = "rbac.authorization.k8s.io";
  const subjects = objectsAt(binding, "subjects").map((subject) =>
    subject.kind === "ServiceAccount" || subject.apiGroup ? subject : { ...subject, apiGroup: group },
  );
  const roleRef = { apiGroup: group, ...objectAt(binding, "roleRef") };
  return { ...binding, roleRef, ...(Array.isArray(binding.subjects) ? { subjects } : {}) };
}
