// What most rows start from: team-a's ServiceAccount, its image and role, and a Pod of it.
import type { Backstage, PodOutcome, PodSpec } from "./backstage.ts";
import type { Verdict } from "./types.ts";

export const IMAGE_A = "111122223333.dkr.ecr.us-west-2.amazonaws.com/team-a/app:1";
export const ROLE_A = "arn:aws:iam::111122223333:role/team-a-pull";
/** Fixtures of a pull by token. */
export const TOKEN_NEEDS = [
  "node node-1",
  "issuer eks",
  "serviceaccount team-a/puller",
  "role 111122223333/team-a-pull",
  "repository 111122223333/team-a/app",
];

/** The owner's Pod, with changes; on a node of its own unless `node` is given. */
export async function pullAsTeamA(stage: Backstage, changes: Partial<PodSpec> = {}): Promise<PodOutcome> {
  const node = changes.node ?? (await stage.node("node-1"));
  const owner = { what: "team-a/puller", namespace: "team-a", serviceAccount: "puller", image: IMAGE_A };
  return stage.pod({ ...owner, ...changes, node });
}

/** A step that had to happen first, with the verdict it had to have. */
export function before(step: PodOutcome, expected: Verdict): PodOutcome & { expected: Verdict } {
  return { ...step, expected };
}
