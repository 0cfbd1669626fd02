// The same with Node's own test runner, against a world of one's own.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { type Stack, startStack } from "pullproof";

const REGISTRY = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";

let stack: Stack;
before(async () => {
  stack = await startStack({ world: join(import.meta.dirname, "pullproof.yaml") });
});
beforeEach(() => stack.reset());
after(() => stack.close());

function run(name: string, image: string, serviceAccountName = "web") {
  return stack.runPod("worker", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop" },
    spec: { serviceAccountName, containers: [{ name: "web", image: `${REGISTRY}/${image}` }] },
  });
}

test("the shop pulls its own image", async () => {
  assert.equal((await run("own", "shop/web:1")).verdict, "pulled");
});

test("the shop is denied the image of billing, and the event says by which rule", async () => {
  const { verdict, trace } = await run("foreign", "billing/api:1");
  assert.equal(verdict, "denied");
  const { why } = stack.events.trace(trace);
  assert.equal(why?.reason, "no-identity-policy-allows");
  assert.match(why?.resource ?? "", /repository\/billing\/api$/);
});

test("a ServiceAccount without the annotation gets no credentials at all", async () => {
  const { verdict, providers } = await run("default", "shop/web:1", "default");
  assert.equal(verdict, "denied");
  assert.deepEqual(
    providers.map(({ outcome, reason }) => [outcome, reason]),
    [["skipped", "annotation-missing"]],
  );
});

test("after a rotation the next token has the next key, and an old one opens nothing", async () => {
  const issuer = stack.issuer("cluster");
  const { token } = await issuer.mint({ namespace: "shop", serviceAccount: "web" });
  assert.equal(await assumeRole(token), 200);
  await issuer.rotate({ keepOld: false });
  stack.clock.advance(90); // STS keeps key sets for a minute
  assert.equal(await assumeRole(token), 400);
  assert.equal((await run("rotated", "shop/web:1")).verdict, "pulled");
});

/** Any HTTP client will do; `stack.fetch` knows the real host names. */
async function assumeRole(token: string): Promise<number> {
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: "arn:aws:iam::123456789012:role/shop-pull",
    RoleSessionName: "example",
    WebIdentityToken: token,
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const url = `https://${stack.sts.host}/`;
  return (await stack.fetch(url, { method: "POST", headers, body: body.toString() })).status;
}
