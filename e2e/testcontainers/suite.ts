// One suite for every way to have a stack: what it asserts holds in process and in a container.
import { ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { RemoteStack, Stack } from "../../services/testing/index.ts";
import { assumeRole, fetchPassword } from "../docker/registry-password.ts";

export type AnyStack = Stack | Omit<RemoteStack, "close" | typeof Symbol.asyncDispose>;

/** How a stack is had, and given back. */
export interface StackSource {
  readonly name: string;
  start(): Promise<AnyStack>;
  stop(): Promise<void>;
}

const HOST = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
const MANIFEST = `https://${HOST}/v2/team-a/app/manifests/1`;
const TEAM_A = { namespace: "team-a", serviceAccount: "puller", role: "arn:aws:iam::111122223333:role/team-a-pull" };
const TEAM_B = { namespace: "team-b", serviceAccount: "puller", role: "arn:aws:iam::444455556666:role/team-b-pull" };

let pods = 0;
function podOf(namespace: string, serviceAccountName: string) {
  pods += 1;
  const containers = [{ name: "app", image: `${HOST}/team-a/app:1` }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name: `pod-${pods}` },
    spec: { serviceAccountName, containers },
  };
}

const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`AWS:${password}`).toString("base64")}` });

/** The suite. */
export function describeStack(source: StackSource): void {
  describe(source.name, () => {
    let stack: AnyStack;
    beforeAll(async () => {
      stack = await source.start();
    });
    afterEach(async () => {
      await stack?.reset();
    });
    afterAll(() => source.stop());

    it("says where everything is", async () => {
      expect(stack.http).toMatch(/^http:\/\/[\w.]+:\d+$/);
      expect(stack.https).toBe(stack.http.replace("http:", "https:"));
      expect(stack.control).toBe(`${stack.http}/_pullproof/`);
      expect(stack.issuers).toMatchObject({ eks: stack.issuer("eks").url, rogue: expect.stringMatching(/^https:/) });
      expect(stack.registries).toMatchObject({ plain: "registry.pullproof.test", "111122223333": HOST });
      expect(stack.ecr("111122223333")).toMatchObject({
        registryHost: HOST,
        region: "us-west-2",
        endpoint: stack.http,
      });
      expect(stack.registry("registry.pullproof.test")).toMatchObject({ name: "plain" });
      expect(await stack.caPem()).toContain("BEGIN CERTIFICATE");
      expect(await stack.env()).toMatchObject({ AWS_ENDPOINT_URL: stack.https, AWS_CA_BUNDLE: stack.ca });
    });

    it.each([
      ["an issuer", () => stack.issuer("none")],
      ["an account", () => stack.ecr("000000000000")],
      ["a registry's host", () => stack.registry("none")],
    ])("names what there is where %s is asked for that there is not", (kind, ask) => {
      expect(ask).toThrow(new RegExp(`^expected ${kind} of this world \\(.+\\), found "(none|000000000000)"$`));
    });

    it("mints tokens, and bad ones", async () => {
      const { token, claims } = await stack.issuer("eks").mint({ namespace: "team-a", serviceAccount: "puller" });
      expect(claims).toMatchObject({ sub: "system:serviceaccount:team-a:puller", aud: ["sts.amazonaws.com"] });
      expect(token.split(".")).toHaveLength(3);
      const bad = { namespace: "team-a", serviceAccount: "puller", bad: "expired" };
      expect((await stack.issuer("eks").mint(bad)).token).not.toBe(token);
    });

    it("lets a ServiceAccount assume its role, and no other one", async () => {
      expect((await assumeRole(stack, TEAM_A)).accessKeyId).toMatch(/^ASIA/);
      const foreign = assumeRole(stack, { ...TEAM_B, role: TEAM_A.role });
      await expect(foreign).rejects.toThrow("Not authorized to perform sts:AssumeRoleWithWebIdentity");
    });

    it("hands out a manifest to whom it belongs, by real host name", async () => {
      const [a, b] = await Promise.all([fetchPassword(stack, TEAM_A), fetchPassword(stack, TEAM_B)]);
      const own = await stack.fetch(MANIFEST, { headers: basic(a) });
      const foreign = await stack.fetch(MANIFEST, { headers: basic(b) });
      expect([own.status, foreign.status]).toEqual([200, 403]);
      expect(await foreign.text()).toContain("is not authorized to perform: ecr:BatchGetImage");
    });

    it("has an agent for SDKs that know nothing but the real names", async () => {
      const httpsAgent = await stack.agent();
      const requestHandler = new NodeHttpHandler({ httpsAgent });
      const settings = { region: "us-west-2", credentials: await assumeRole(stack, TEAM_A), requestHandler };
      const sts = new STSClient(settings);
      const ecr = new ECRClient(settings);
      expect((await sts.send(new GetCallerIdentityCommand({}))).Arn).toContain("assumed-role/team-a-pull/");
      const { authorizationData } = await ecr.send(new GetAuthorizationTokenCommand({}));
      expect(authorizationData?.[0]?.proxyEndpoint).toBe(`https://${HOST}`);
      httpsAgent.destroy();
    });

    it("runs Pods: pulled, present, denied; and explains each", async () => {
      const pulled = await stack.runPod("node-1", podOf("team-a", "puller"));
      const again = await stack.runPod("node-1", podOf("team-a", "puller"));
      const denied = await stack.runPod("node-1", podOf("team-b", "impostor"));
      expect([pulled, again, denied].map(({ verdict }) => verdict)).toEqual(["pulled", "present", "denied"]);
      const trace = await stack.events.trace(denied.trace);
      expect(trace.why).toMatchObject({ operation: "sts:AssumeRoleWithWebIdentity", decision: "deny" });
      const records = await (await stack.kubelet("node-1")).records();
      expect(records.records).toHaveLength(1);
    });

    it("moves the clock, and everything obeys", async () => {
      const password = await fetchPassword(stack, TEAM_A);
      const ask = async () => (await stack.fetch(MANIFEST, { headers: basic(password) })).status;
      const before = await stack.clock.now();
      expect(await ask()).toBe(200);
      await stack.clock.advance(13 * 3600);
      expect((await stack.clock.now()).getTime() - before.getTime()).toBeGreaterThanOrEqual(13 * 3600_000);
      expect(await ask()).toBe(403);
      await stack.clock.reset();
      expect(await ask()).toBe(200);
      const noon = new Date("2026-01-02T12:00:00Z");
      await stack.clock.set(noon);
      await stack.clock.freeze(true);
      expect((await stack.clock.state()).frozen).toBe(true);
    });

    it("logs events, a page at a time and as they happen", async () => {
      const seen: string[] = [];
      const stop = await stack.events.follow((event) => void seen.push(event.operation));
      const { next } = await stack.events.page({ limit: 1_000_000 });
      await assumeRole(stack, TEAM_A);
      const { events } = await stack.events.page({ since: next, operation: "sts:AssumeRoleWithWebIdentity" });
      expect(events).toMatchObject([{ decision: "allow", status: 200 }]);
      await expect.poll(() => seen).toContain("sts:AssumeRoleWithWebIdentity");
      stop();
    });

    it("rotates keys: an old token is good until its key is withdrawn", async () => {
      const issuer = stack.issuer("eks");
      const { token } = await issuer.mint(TEAM_A_SUBJECT);
      const old = (await issuer.keys()).find(({ active }) => active)?.kid ?? "";
      const { kid } = (await issuer.rotate()) ?? {};
      expect((await issuer.keys()).map((key) => key.kid)).toEqual([kid, old]);
      expect(await exchange(stack, token)).toBe(200);
      expect([await issuer.withdraw(old), await issuer.withdraw("no-such-key")]).toEqual([true, false]);
      await stack.clock.advance(120); // STS keeps a key set for a while
      expect(await exchange(stack, token)).toBe(400);
    });

    it("goes back to its world", async () => {
      await stack.runPod("node-1", podOf("team-a", "puller"));
      await stack.clock.advance(3600);
      await stack.reset();
      expect((await (await stack.kubelet("node-1")).records()).records).toEqual([]);
      expect((await stack.clock.state()).offsetSeconds).toBe(0);
      expect(await stack.runPod("node-1", podOf("team-a", "puller"))).toMatchObject({ verdict: "pulled" });
    });
  });
}

const TEAM_A_SUBJECT = { namespace: "team-a", serviceAccount: "puller" };

async function exchange(stack: AnyStack, token: string): Promise<number> {
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: TEAM_A.role,
    RoleSessionName: "e2e",
    WebIdentityToken: token,
  });
  return (await fetch(stack.http, { method: "POST", body })).status;
}
