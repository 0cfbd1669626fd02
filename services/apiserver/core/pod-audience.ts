// Whether a Pod itself asks for an audience: in a projected token volume, or through the CSI driver behind a volume
// (spec kubelet 5.2, rule 7 a and b).
import type { JsonObject, KubeObject, ObjectLookup } from "../types.ts";
import { objectAt, objectsAt, textAt } from "./fields.ts";

export type AudienceFinding =
  | { readonly found: true; readonly by: string }
  /** Errors met on the way: with any, RBAC is not consulted. */
  | { readonly found: false; readonly errors: readonly string[] };

/** In-tree volume types and the CSI driver they were migrated to. */
const MIGRATED_DRIVERS: Readonly<Record<string, string>> = {
  awsElasticBlockStore: "ebs.csi.aws.com",
  azureDisk: "disk.csi.azure.com",
  azureFile: "file.csi.azure.com",
  cinder: "cinder.csi.openstack.org",
  gcePersistentDisk: "pd.csi.storage.gke.io",
  portworxVolume: "pxd.portworx.com",
  vsphereVolume: "csi.vsphere.vmware.com",
};

/** Looks through all volumes; one that matches wins over errors of others. */
export function findAudience(pod: KubeObject, audience: string, objects: ObjectLookup): AudienceFinding {
  const errors: string[] = [];
  for (const volume of objectsAt(objectAt(pod, "spec"), "volumes")) {
    const name = textAt(volume, "name");
    if (hasProjectedAudience(volume, audience)) return { found: true, by: `projected volume ${name}` };
    const driver = findDriver(pod, volume, objects);
    if (driver.error !== undefined) errors.push(driver.error);
    if (!driver.name) continue;
    const object = objects.find("csidrivers", "", driver.name);
    if (!object) {
      errors.push(`csidriver.storage.k8s.io "${driver.name}" not found`);
      continue;
    }
    const requests = objectsAt(objectAt(object, "spec"), "tokenRequests");
    if (requests.some((request) => textAt(request, "audience") === audience)) {
      return { found: true, by: `CSI driver ${driver.name} of volume ${name}` };
    }
  }
  return { found: false, errors };
}

function hasProjectedAudience(volume: JsonObject, audience: string): boolean {
  return objectsAt(objectAt(volume, "projected"), "sources").some(
    (source) =>
      "serviceAccountToken" in source && textAt(objectAt(source, "serviceAccountToken"), "audience") === audience,
  );
}

function findDriver(pod: KubeObject, volume: JsonObject, objects: ObjectLookup): { name?: string; error?: string } {
  const inline = driverIn(volume);
  if (inline) return { name: inline };
  const claimName =
    "ephemeral" in volume
      ? `${pod.metadata.name}-${textAt(volume, "name")}`
      : textAt(objectAt(volume, "persistentVolumeClaim"), "claimName");
  if (claimName === "") return {};
  const claim = objects.find("persistentvolumeclaims", pod.metadata.namespace ?? "", claimName);
  if (!claim) return { error: `persistentvolumeclaim "${claimName}" not found` };
  const volumeName = textAt(objectAt(claim, "spec"), "volumeName");
  if (volumeName === "") return {};
  const persistent = objects.find("persistentvolumes", "", volumeName);
  if (!persistent) return { error: `persistentvolume "${volumeName}" not found` };
  const name = driverIn(objectAt(persistent, "spec"));
  return name ? { name } : {};
}

function driverIn(source: JsonObject): string {
  const migrated = Object.keys(MIGRATED_DRIVERS).find((type) => type in source);
  return textAt(objectAt(source, "csi"), "driver") || (migrated ? (MIGRATED_DRIVERS[migrated] ?? "") : "");
}
