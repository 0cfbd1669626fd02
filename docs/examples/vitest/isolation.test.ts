// Who may pull what: two tenants on one node, each with a role of its own, and what happens when one of them cheats.
import { type Stack, startStack } from "pullproof";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { logInWithToken } from "./log-in.ts";
import { createPod } from "./pod.ts";

const IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/team-a/app:1";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
beforeEach(() => stack.reset());
afterAll(() => stack.close());

describe("the image of team-a", () => {
  it("is pulled for team-a, with the token of its ServiceAccount", async () => {
    const verdict = await stack.runPod("node-1", createPod("team-a", "puller", IMAGE));
    expect(verdict).toMatchObject({ verdict: "pulled", reason: "pulled-with-service-account" });
  });

  it("is denied to team-b, also when the image is on the node already", async () => {
    await stack.runPod("node-1", createPod("team-a", "puller", IMAGE));
    const verdict = await stack.runPod("node-1", createPod("team-b", "puller", IMAGE));
    expect(verdict).toMatchObject({ verdict: "denied", podReason: "ErrImagePull" });
  });

  it("is denied to a ServiceAccount that names the role of team-a: the trust policy asks for the subject", async () => {
    const verdict = await stack.runPod("node-1", createPod("team-b", "impostor", IMAGE));
    expect(verdict.verdict).toBe("denied");
    const { why, events } = stack.events.trace(verdict.trace);
    expect(why).toMatchObject({ operation: "sts:AssumeRoleWithWebIdentity", decision: "deny" });
    expect(events.map(({ operation }) => operation)).toContain("kubelet:RequestToken");
  });

  it("leaks where the trust policy forgets the subject", async () => {
    const verdict = await stack.runPod("node-1", createPod("team-b", "borrower", IMAGE));
    expect(verdict.verdict).toBe("leaked");
  });
});

describe("registry passwords", () => {
  it("end after twelve hours", async () => {
    const statusOfPull = async (authorization: string) => {
      const manifest = "https://111122223333.dkr.ecr.us-west-2.amazonaws.com/v2/team-a/app/manifests/1";
      return (await stack.fetch(manifest, { headers: { authorization } })).status;
    };
    const authorization = await logIn();
    expect(await statusOfPull(authorization)).toBe(200);
    stack.clock.advance(13 * 3600);
    expect(await statusOfPull(authorization)).toBe(403);
    expect(await statusOfPull(await logIn())).toBe(200);
  });
});

/** What a node of team-a would send to the registry: token → STS → ECR. */
async function logIn(): Promise<string> {
  const { token } = await stack.issuer("eks").mint({ namespace: "team-a", serviceAccount: "puller" });
  return logInWithToken(stack, { token, roleArn: "arn:aws:iam::111122223333:role/team-a-pull" });
}
