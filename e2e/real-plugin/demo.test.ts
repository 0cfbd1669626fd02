// The unmodified ecr-credential-provider in the place of ours: the same rows of the demo, the same verdicts.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { playDemo } from "../../services/cli/commands/demo.ts";
import { ROWS } from "../../services/cli/demo/rows.ts";
import type { DemoResult, RowResult } from "../../services/cli/demo/types.ts";
import { startStack } from "../../services/testing/index.ts";

const IMAGE_A = "111122223333.dkr.ecr.us-west-2.amazonaws.com/team-a/app:1";
const ROLE_A = "arn:aws:iam::111122223333:role/team-a-pull";
const ANNOTATION = "eks.amazonaws.com/ecr-role-arn";

let pluginDirectory: string;
beforeAll(() => {
  const script = join(import.meta.dirname, "../ecr-credential-provider/build.sh");
  pluginDirectory = dirname(execFileSync(script, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim());
});

/** What must not depend on whose plugin it is. */
function essence({ id, applicable, ok, expected, got, reason, decidedBy, podReason, twin, steps }: RowResult) {
  return { id, applicable, ok, expected, got, reason, decidedBy, podReason, twin, steps };
}

/** Names of one run's own objects are left out. */
function comparable(result: DemoResult): unknown {
  const text = JSON.stringify(result.rows.map(essence));
  return JSON.parse(
    text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>").replace(/-[0-9a-f]{4}\d{1,3}\b/g, "-<n>"),
  );
}

describe("the real ecr-credential-provider", () => {
  it("gives every row of the demo the same verdict, reason and decider as ours", async () => {
    const [real, ours] = [await playDemo(ROWS, { pluginDirectory }), await playDemo(ROWS, {})];
    expect(real.rows.filter((row) => !row.ok)).toEqual([]);
    expect(comparable(real)).toEqual(comparable(ours));
  });

  const attributes = (more: object) => ({
    serviceAccountTokenAudience: "sts.amazonaws.com",
    cacheType: "ServiceAccount",
    requireServiceAccount: true,
    ...more,
  });
  const config = (tokenAttributes: object, env: { name: string; value: string }[] = []) => ({
    apiVersion: "kubelet.config.k8s.io/v1",
    kind: "CredentialProviderConfig",
    providers: [
      {
        name: "ecr-credential-provider",
        apiVersion: "credentialprovider.kubelet.k8s.io/v1",
        matchImages: ["*.dkr.ecr.*.amazonaws.com"],
        defaultCacheDuration: "0s",
        env,
        tokenAttributes,
      },
    ],
  });
  const pod = (serviceAccountName: string, namespace = "team-a") => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace },
    spec: { serviceAccountName, containers: [{ name: "c", image: IMAGE_A }] },
  });

  it.each([true, false])(
    "asks ECR as the Pod's role, or as the node's where the annotation is missing (tls: %s)",
    async (tls) => {
      await using stack = await startStack({ tls });
      const askedBy = async (node: string, manifest: ReturnType<typeof pod>) => {
        const verdict = await stack.runPod(node, manifest);
        const hop = stack.events
          .trace(verdict.trace)
          .events.find((event) => event.operation === "ecr:GetAuthorizationToken");
        return [verdict.verdict, hop?.principal];
      };
      await fetch(`${stack.control}nodes`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "real-lax", like: "node-lax", pluginDirectory }),
      });
      // aws.md 7, case 56 and 57: the pod's session, and the fall back to the node since v1.35
      expect(await askedBy("real-lax", pod("puller"))).toEqual([
        "pulled",
        "arn:aws:sts::111122223333:assumed-role/team-a-pull/ecr-credential-provider",
      ]);
      expect(await askedBy("real-lax", pod("default", "team-b"))).toEqual([
        "leaked",
        "arn:aws:sts::111122223333:assumed-role/node/real-lax",
      ]);
    },
  );

  it("lets an empty annotation switch the default role off (case 58), and says why a foreign role fails (case 59)", async () => {
    await using stack = await startStack();
    const create = (body: object) =>
      fetch(`${stack.control}nodes`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const env = [{ name: "AWS_ECR_ROLE_ARN", value: ROLE_A }];
    const credentialProviderConfig = config(attributes({ optionalServiceAccountAnnotationKeys: [ANNOTATION] }), env);
    expect((await create({ name: "env", like: "node-lax", pluginDirectory, credentialProviderConfig })).status).toBe(
      201,
    );
    const account = (name: string, role: string) =>
      stack.fetch("https://kubernetes.default.svc/api/v1/namespaces/team-a/serviceaccounts", {
        method: "POST",
        headers: { authorization: `Bearer ${stack.controlKey}`, "content-type": "application/json" },
        body: JSON.stringify({
          apiVersion: "v1",
          kind: "ServiceAccount",
          metadata: { name, annotations: { [ANNOTATION]: role } },
        }),
      });
    expect((await account("empty", "")).status).toBe(201);
    const empty = await stack.runPod("env", pod("empty"));
    const asked = stack.events
      .trace(empty.trace)
      .events.find((event) => event.operation === "ecr:GetAuthorizationToken");
    expect(asked?.principal).toContain(":assumed-role/node/");

    expect((await create({ name: "strict", like: "node-1", pluginDirectory })).status).toBe(201);
    const foreign = await stack.runPod("strict", pod("impostor", "team-b"));
    expect(foreign.verdict).toBe("denied");
    const [provider] = foreign.providers;
    expect(provider?.outcome).toBe("failed");
    expect(provider?.because).toContain("exit status 1");
    expect(provider?.because).toContain("failed to assume role");
    expect(provider?.because).toContain("AccessDenied");
    expect(stack.events.trace(foreign.trace).why).toMatchObject({
      operation: "sts:AssumeRoleWithWebIdentity",
      reason: "no-trust-policy-allows",
    });
  });
});
