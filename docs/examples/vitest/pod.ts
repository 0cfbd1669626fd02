// A Pod as kubectl would take it.
let count = 0;

/** A Pod with one container, under a name of its own. */
export function createPod(namespace: string, serviceAccountName: string, image: string) {
  count += 1;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${count}`, namespace },
    spec: { serviceAccountName, containers: [{ name: "app", image }] },
  };
}
