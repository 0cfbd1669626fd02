import { expect, test } from "vitest";
import { createIssuer } from "../oidc/index.ts";
import { createSeededRandom } from "../shared/random.ts";
import {
  ACCOUNT,
  boundTo,
  type Cluster,
  ISSUER,
  NOW,
  PODS,
  pod,
  startCluster,
  tokenRequest,
} from "./testdata/cluster.ts";

const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
const SECRETS = "/api/v1/namespaces/team-a/secrets";

async function requestToken(cluster: Cluster, spec: Record<string, unknown> = {}): Promise<string> {
  const answer = await cluster.admin("POST", `${ACCOUNT}/token`, tokenRequest({ audiences: [], ...spec }));
  return answer.body.status.token;
}

async function review(cluster: Cluster, token: string, audiences?: string[]) {
  const answer = await cluster.admin("POST", REVIEWS, { spec: { token, ...(audiences ? { audiences } : {}) } });
  expect(answer.status).toBe(201);
  return answer.body.status;
}

test("a Pod's token is reviewed with all that is known of it", async () => {
  await using cluster = await startCluster({ objects: [pod("app")] });
  const token = await requestToken(cluster, { boundObjectRef: boundTo("app") });
  const { jti } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  expect(await review(cluster, token)).toEqual({
    authenticated: true,
    user: {
      username: "system:serviceaccount:team-a:puller",
      uid: await cluster.uidOf(ACCOUNT),
      groups: ["system:serviceaccounts", "system:serviceaccounts:team-a", "system:authenticated"],
      extra: {
        "authentication.kubernetes.io/credential-id": [`JTI=${jti}`],
        "authentication.kubernetes.io/pod-name": ["app"],
        "authentication.kubernetes.io/pod-uid": [await cluster.uidOf(`${PODS}/app`)],
        "authentication.kubernetes.io/node-name": ["node-1"],
        "authentication.kubernetes.io/node-uid": [await cluster.uidOf("/api/v1/nodes/node-1")],
      },
    },
    audiences: [ISSUER],
  });
});

test.each([
  ["one of its audiences", ["a", "b"], ["b", "c"], ["b"]],
  ["both", ["a", "b"], ["a", "b"], ["a", "b"]],
  ["none", ["a"], ["c"], undefined],
  ["this API server, which it is not for", ["a"], undefined, undefined],
  ["this API server", [ISSUER, "a"], undefined, [ISSUER]],
])("a token is reviewed for %s", async (_what, held, wanted, audiences) => {
  await using cluster = await startCluster();
  const status = await review(cluster, await requestToken(cluster, { audiences: held }), wanted);
  expect(status.audiences).toEqual(audiences);
  if (audiences) expect(status.authenticated).toBe(true);
  else {
    expect(status.authenticated).toBeUndefined();
    expect(status.error).toBe(
      `token audiences [${held.map((each) => `"${each}"`).join(" ")}] is invalid for the target audiences ["${wanted?.[0] ?? ISSUER}"]`,
    );
  }
});

test("no token is a bad request; a token that is none is not authenticated", async () => {
  await using cluster = await startCluster();
  const answer = await cluster.admin("POST", REVIEWS, { spec: { token: "" } });
  expect([answer.status, answer.body.message]).toEqual([400, "token is required for TokenReview in authentication"]);
  expect(await review(cluster, "garbage")).toEqual({ user: {}, error: "invalid bearer token: malformed" });
});

test.each([
  ["expired 60 s ago", 3600 + 60, true],
  ["expired 61 s ago", 3600 + 61, false],
  ["issued in 60 s", -60, true],
  ["issued in 61 s", -61, false],
])("a token that is %s passes: time has moved by %i s, %s", async (_what, seconds, authenticated) => {
  await using cluster = await startCluster();
  cluster.clock.freeze(true); // the boundary is one second wide
  const token = await requestToken(cluster);
  cluster.clock.advance(seconds);
  expect((await review(cluster, token)).authenticated ?? false).toBe(authenticated);
});

const CLAIMS = (uid: string) => ({
  aud: [ISSUER],
  exp: NOW + 3600,
  iat: NOW,
  iss: ISSUER,
  "kubernetes.io": { namespace: "team-a", serviceaccount: { name: "puller", uid } },
  nbf: NOW,
  sub: "system:serviceaccount:team-a:puller",
});

test.each([
  ["as they should be", {}, true],
  ["of another issuer", { iss: "https://other.test" }, false],
  ["without exp", { exp: undefined }, false],
  ["with exp as text", { exp: "soon" }, false],
  ["with nbf in two minutes", { nbf: NOW + 120 }, false],
  ["without nbf and iat", { nbf: undefined, iat: undefined }, true],
  ["with iat in two minutes", { iat: NOW + 120 }, false],
  ["with one audience as text", { aud: ISSUER }, true],
  ["without audience", { aud: undefined }, false],
  ["with a subject that is not the account", { sub: "system:serviceaccount:team-a:other" }, false],
  ["without private claims", { "kubernetes.io": undefined }, false],
])("claims %s: %j", async (_what, changes, authenticated) => {
  await using cluster = await startCluster();
  const token = await cluster.issuer.sign({ ...CLAIMS(await cluster.uidOf(ACCOUNT)), ...changes });
  expect((await review(cluster, token)).authenticated ?? false).toBe(authenticated);
});

test.each([
  ["nothing", async () => {}, true],
  ["the account", async (cluster: Cluster) => void (await cluster.admin("DELETE", ACCOUNT)), false],
  [
    "the account, which was made anew",
    async (cluster: Cluster) => {
      await cluster.admin("DELETE", ACCOUNT);
      await cluster.admin("POST", "/api/v1/namespaces/team-a/serviceaccounts", { metadata: { name: "puller" } });
    },
    false,
  ],
  ["the Pod", async (cluster: Cluster) => void (await cluster.admin("DELETE", `${PODS}/app`)), false],
  [
    "the Pod, which was made anew",
    async (cluster: Cluster) => {
      await cluster.admin("DELETE", `${PODS}/app`);
      await cluster.admin("POST", PODS, pod("app"));
    },
    false,
  ],
  ["another Pod", async (cluster: Cluster) => void (await cluster.admin("DELETE", `${PODS}/second`)), true],
  [
    "the Pod's node, which is information only",
    async (cluster: Cluster) => void (await cluster.admin("DELETE", "/api/v1/nodes/node-1")),
    true,
  ],
])("after the deletion of %s", async (_what, change, authenticated) => {
  await using cluster = await startCluster({ objects: [pod("app"), pod("second")] });
  const token = await requestToken(cluster, { boundObjectRef: boundTo("app") });
  await change(cluster);
  expect((await review(cluster, token)).authenticated ?? false).toBe(authenticated);
});

test.each([
  ["Secret", "s", `${SECRETS}/s`],
  ["Node", "node-2", "/api/v1/nodes/node-2"],
])("a token bound to a %s dies with it", async (kind, name, path) => {
  await using cluster = await startCluster();
  await cluster.admin("POST", SECRETS, { metadata: { name: "s" }, stringData: { a: "b" } });
  const token = await requestToken(cluster, { boundObjectRef: boundTo(name, undefined, kind) });
  expect((await review(cluster, token)).authenticated).toBe(true);
  await cluster.admin("DELETE", path);
  expect((await review(cluster, token)).error).toMatch(/has been deleted$/);
});

test.each([
  [60, true],
  [61, false],
])("an object that finalizers hold back counts for %i s after its deletion: %s", async (seconds, authenticated) => {
  await using cluster = await startCluster();
  await cluster.admin("POST", SECRETS, { metadata: { name: "s", finalizers: ["x.test/y"] }, stringData: { a: "b" } });
  const token = await requestToken(cluster, { boundObjectRef: boundTo("s", undefined, "Secret") });
  const deleted = await cluster.admin("DELETE", `${SECRETS}/s`);
  expect(deleted.body.metadata.deletionTimestamp).toBe("2026-09-21T14:13:20Z");
  cluster.clock.advance(seconds);
  expect((await review(cluster, token)).authenticated ?? false).toBe(authenticated);
  await cluster.admin("PUT", `${SECRETS}/s`, { metadata: { name: "s" }, data: {} });
  expect((await cluster.admin("GET", `${SECRETS}/s`)).status).toBe(404);
});

test.each([
  ["kept", true],
  ["withdrawn", false],
])("after a rotation with the old key %s, an old token is authenticated: %s", async (what, authenticated) => {
  await using cluster = await startCluster();
  const token = await requestToken(cluster);
  await cluster.issuer.rotate({ keepOld: what === "kept" });
  expect((await review(cluster, token)).authenticated ?? false).toBe(authenticated);
});

test("tokens of nodes are reviewed too; nodes may ask, accounts may not", async () => {
  await using cluster = await startCluster();
  const status = await review(cluster, cluster.apiServer.nodeToken("node-1"));
  expect(status).toMatchObject({ authenticated: true, user: { username: "system:node:node-1" } });
  expect(await review(cluster, cluster.apiServer.nodeToken("node-1"), ["other"])).not.toHaveProperty("authenticated");
  const token = await requestToken(cluster);
  expect((await cluster.node("node-1", "POST", REVIEWS, { spec: { token } })).status).toBe(201);
  expect((await cluster.send(token, "POST", REVIEWS, { spec: { token } })).status).toBe(403);
});

test.each([
  ["the token", (token: string) => token, 403],
  ["the token for another audience", undefined, 401],
  ["a token of another issuer", "foreign", 401],
  ["half a token", (token: string) => token.slice(0, -30), 401],
  ["100 KB", () => `x.${"y".repeat(7000)}.z`, 401],
])("an account that asks with %s is answered %#", async (_what, change, status) => {
  await using cluster = await startCluster();
  const { clock } = cluster;
  const rogue = createIssuer({ name: "rogue", url: ISSUER, alg: "ES256", clock, random: createSeededRandom("rogue") });
  const good = await requestToken(cluster);
  const tokens = {
    foreign: await rogue.sign(CLAIMS(await cluster.uidOf(ACCOUNT))),
    audience: await requestToken(cluster, { audiences: ["other"] }),
  };
  const token = change === "foreign" ? tokens.foreign : typeof change === "function" ? change(good) : tokens.audience;
  const answer = await cluster.send(token, "GET", PODS);
  expect(answer.status).toBe(status);
  if (status === 401) {
    expect(answer.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
    expect(cluster.events.events.at(-1)).toMatchObject({ decision: "deny", reason: "not-authenticated" });
    expect(JSON.stringify(cluster.events.events)).not.toContain(token);
  }
});
