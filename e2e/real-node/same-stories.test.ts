// One list of stories, two kubelets: the simulated one and a real one must tell the same tale about every Pod.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStack, type RunningStack } from "../../services/stack/index.ts";
import { DIFFERENCES, settle } from "./differences.ts";
import { normalise } from "./normalise.ts";
import { findPrograms, type Programs } from "./programs.ts";
import { openRealStage, type RealStage } from "./real-stage.ts";
import { openSimulatedStage } from "./simulated-stage.ts";
import { act, type Observation, type Stage } from "./stage.ts";
import { IMAGES, type PodStep, STORIES, type Story } from "./stories.ts";
import { createIssuerKey, createStoryWorld } from "./world.ts";

let programs: Programs;
let stack: RunningStack;
let simulated: Stage;
let real: RealStage;
const seen = new Set<string>();
const times: { readonly verdict: string; readonly milliseconds: number }[] = [];

beforeAll(async () => {
  programs = findPrograms();
  const issuerPem = createIssuerKey();
  const world = createStoryWorld({ issuerPem, pluginDirectory: programs.pluginDirectory, images: IMAGES });
  stack = await createStack({ world, tls: true });
  simulated = await openSimulatedStage(stack);
  const issuer = { url: stack.issuers.eks ?? "", pem: issuerPem };
  real = await openRealStage({ stack, programs, issuer });
});

afterAll(async () => {
  await real?.[Symbol.asyncDispose]();
  await stack?.close();
});

/** Plays a story on one stage: what is seen of each Pod. */
async function play(stage: Stage, { id, node, steps }: Story): Promise<Map<PodStep, Observation>> {
  const observations = new Map<PodStep, Observation>();
  for (const step of steps) {
    if (step.do !== "pod") await act(stage, node, step);
    else observations.set(step, await stage.pod(node, step, `${id}-${observations.size + 1}`));
  }
  return observations;
}

describe("the same on a simulated and on a real node", () => {
  test.each(STORIES)("$id", async (story) => {
    const onSimulated = await play(simulated, story);
    const onReal = await play(real, story);
    for (const [step, simulatedPod] of onSimulated) {
      const realPod = onReal.get(step)!;
      times.push({ verdict: realPod.verdict, milliseconds: realPod.milliseconds });
      for (const pod of [simulatedPod, realPod]) {
        expect({ verdict: pod.verdict, podReason: pod.podReason }, step.what).toEqual({
          verdict: step.expected,
          podReason: step.podReason,
        });
      }
      const { pair, seen: explained } = settle({
        simulated: normalise(simulatedPod, simulated.uids),
        real: normalise(realPod, real.uids),
      });
      for (const id of explained) seen.add(id);
      expect(pair.simulated, `${step.what}: simulated (received) against real (expected)`).toEqual(pair.real);
    }
  });
});

test("every explained difference is really there", () => {
  const expected = DIFFERENCES.filter(({ containerd }) => containerd.test(programs.containerdVersion));
  expect([...seen].sort()).toEqual(expected.map(({ id }) => id).sort());
});

test("how long a Pod takes on the real node", () => {
  const pulled = times
    .filter(({ verdict }) => verdict === "pulled")
    .map(({ milliseconds }) => Math.round(milliseconds));
  const present = times
    .filter(({ verdict }) => verdict === "present")
    .map(({ milliseconds }) => Math.round(milliseconds));
  for (const list of [pulled, present]) list.sort((a, b) => a - b);
  const middle = (list: readonly number[]) => list[Math.floor(list.length / 2)];
  const range = (list: readonly number[]) =>
    `median ${middle(list)} ms (${list[0]} to ${list.at(-1)}, ${list.length} Pods)`;
  console.info(`real node, containerd ${programs.containerdVersion}, from creating a Pod to seeing it run:`);
  console.info(`  image pulled:  ${range(pulled)}\n  image present: ${range(present)}`);
  expect(pulled.length).toBeGreaterThan(0);
});
