// The stage with the simulated kubelet, in process.
import { join } from "node:path";
import { readResponse } from "../../services/shared/dial.ts";
import type { RunningStack } from "../../services/stack/index.ts";
import { createKubeClient } from "./kube-client.ts";
import { readRecordFiles } from "./kubelet.ts";
import { callsSince, type Observation, type Stage, UidNames } from "./stage.ts";
import { type PodStep, renderPod } from "./stories.ts";
import type { NodeName } from "./world.ts";

/** The nodes of the stack's own world. */
export async function openSimulatedStage(stack: RunningStack): Promise<Stage> {
  const client = createKubeClient(async ({ method, path, headers, body }) => {
    const url = `https://kubernetes.default.svc${path}`;
    const response = await stack.dialer.request(url, { method, headers, ...(body === undefined ? {} : { body }) });
    return { status: response.status, text: (await readResponse(response)).toString("utf8") };
  }, stack.controlKey);
  const uids = new UidNames();
  await uids.learn(client);
  return {
    client,
    uids,
    pod: (node, step, name) => runPod(stack, client, { node, step, name }),
    restart: async (node) => void (await stack.rooms.nodes.restart(node)),
  };
}

async function runPod(
  stack: RunningStack,
  client: Stage["client"],
  at: { node: NodeName; step: PodStep; name: string },
): Promise<Observation> {
  const { node, step, name } = at;
  const started = performance.now();
  const path = `/api/v1/namespaces/${step.namespace}/pods`;
  const manifest = renderPod(step, name) as { spec: object };
  const pod = await client.request("POST", path, { ...manifest, spec: { ...manifest.spec, nodeName: node } });
  const kubelet = await stack.rooms.nodes.kubelet(node);
  const since = stack.events.page({ limit: 1_000_000 }).next;
  const first = await kubelet.runPod(pod);
  const milliseconds = performance.now() - started;
  const last = first.podReason === "ErrImagePull" ? await kubelet.runPod(pod) : first;
  // The real kubelet writes at the next look how the last one ended.
  const { podReason, message } = step.podReason === "ImagePullBackOff" ? last : first;
  return {
    verdict: first.verdict,
    ...(podReason === undefined ? {} : { podReason }),
    ...(message === undefined ? {} : { message }),
    events: last.events,
    files: readRecordFiles(join(stack.dataDir, "nodes", node, "image_manager")),
    calls: callsSince(stack.events, since),
    milliseconds,
  };
}
