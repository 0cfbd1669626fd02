// P2: one Pod through the whole chain. Each Pod runs on a node of its own, so that neither a cached credential nor an
// image that is there already shortens it.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import type { Stack, startStack as StartStack } from "../services/testing/index.ts";
import { alternate, judge, type Result, time } from "./measure.ts";
import { runBareNode } from "./processes.ts";

const IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/team-a/app:1";

/** What one Pod took in all, and how much of it was the plugin's process. */
interface PodTimes {
  readonly totalMs: number;
  readonly pluginMs: number;
}

let sequence = 0;

async function runPod(stack: Stack, pluginDirectory: string): Promise<PodTimes> {
  const name = `bench-${++sequence}`;
  const body = JSON.stringify({ name, like: "node-1", pluginDirectory });
  const headers = { "content-type": "application/json" };
  const created = await fetch(new URL("nodes", withSlash(stack.control)), { method: "POST", headers, body });
  if (created.status !== 201) throw new Error(`POST nodes: ${created.status} ${await created.text()}`);
  await stack.kubelet(name);
  const start = performance.now();
  const pod = await stack.runPod(name, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "team-a", name },
    spec: { serviceAccountName: "puller", containers: [{ name: "app", image: IMAGE }] },
  });
  const totalMs = performance.now() - start;
  if (pod.verdict !== "pulled") throw new Error(`the Pod was ${pod.verdict}: ${pod.reason}`);
  return { totalMs, pluginMs: await readPluginTime(stack, pod.trace) };
}

async function readPluginTime(stack: Stack, trace: string): Promise<number> {
  const response = await fetch(new URL(`traces/${trace}`, withSlash(stack.control)));
  const { events } = (await response.json()) as { events: { operation: string; durationMs: number }[] };
  const found = events.find(({ operation }) => operation === "kubelet:ExecPlugin");
  if (!found) throw new Error(`no plugin was run in trace ${trace}`);
  return found.durationMs;
}

function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

/** The unmodified ecr-credential-provider, built when it is not there yet. */
function findRealPlugin(): string {
  const script = join(import.meta.dirname, "..", "e2e", "ecr-credential-provider", "build.sh");
  return dirname(execFileSync(script, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim());
}

/** Pods before the figures count: until then the engine is still compiling what they run through. */
const WARM_UP_PODS = 150;
const WARM_PODS = 100;

/** What a Pod costs beside its plugin in a stack that has been running for a while; the Go plugin takes the least time. */
async function measureRest(stack: Stack, realPlugin: string): Promise<number[]> {
  const rest: number[] = [];
  for (let pod = 0; pod < WARM_UP_PODS + WARM_PODS; pod += 1) {
    const { totalMs, pluginMs } = await runPod(stack, realPlugin);
    rest.push(totalMs - pluginMs);
  }
  return rest.slice(WARM_UP_PODS);
}

interface Figures {
  readonly bare: number[];
  readonly rest: number[];
  readonly ours: number[];
  readonly go: number[];
}

async function measure(stack: Stack, realPlugin: string, rounds: number): Promise<Figures> {
  const rest = await measureRest(stack, realPlugin);
  const { bare, ours, go } = await alternate(
    {
      bare: () => time(runBareNode),
      ours: async () => (await runPod(stack, "builtin")).pluginMs,
      go: async () => (await runPod(stack, realPlugin)).pluginMs,
    },
    { rounds },
  );
  return { bare, ours, go, rest };
}

/** @returns the lines of P2 */
export async function measurePod(rounds: number): Promise<Result[]> {
  const built = "../dist/testing/index.js";
  const { startStack } = (await import(built)) as { startStack: typeof StartStack };
  const realPlugin = findRealPlugin();
  const stack = await startStack();
  const { bare, rest, ours, go } = await measure(stack, realPlugin, rounds).finally(() => stack.close());
  return [
    judge("P2", "one Pod through the whole chain, without the plugin's process", {
      ours: rest,
      goal: { text: "≤ 8 ms", atMost: 8 },
    }),
    judge("P2", "our plugin's process, STS and ECR included", {
      ours,
      peer: bare,
      against: "bare Node",
      goal: { text: "≤ 3 × bare Node", ratio: 3 },
    }),
    judge("P2", "the unmodified ecr-credential-provider, STS and ECR included", {
      ours: go,
      goal: { text: "≤ 60 ms", atMost: 60 },
    }),
  ];
}
