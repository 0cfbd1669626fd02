// With the fixtures of `pullproof/vitest`: one stack for all tests of a worker, and for each test tenants that no other
// test sees. Nothing to start, nothing to reset.
import { test } from "pullproof/vitest";
import { expect } from "vitest";

test("a tenant pulls its own image", async ({ tenant }) => {
  expect(await tenant.pull()).toMatchObject({ verdict: "pulled" });
});

test("a tenant is denied the image of another one", async ({ tenant, otherTenant }) => {
  expect(await otherTenant.pull()).toMatchObject({ verdict: "pulled" });
  expect(await tenant.pull(otherTenant.image)).toMatchObject({ verdict: "denied" });
});

test("what is on the node stays usable for its owner, however old the password is", async ({ stack, tenant }) => {
  expect(await tenant.pull()).toMatchObject({ verdict: "pulled" });
  stack.clock.advance(13 * 3600); // back to normal after the test
  expect(await tenant.pull()).toMatchObject({ verdict: "present" });
});
