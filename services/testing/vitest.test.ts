import { describe, expect, it } from "vitest";
import { startStack } from "./index.ts";
import { createTenantWorld } from "./tenant-world.ts";
import { createTenantPool } from "./tenants.ts";
import { createTest, test } from "./vitest.ts";

const strict = createTest({ tenants: 1, stack: { switches: { shortTokens: true } } });

describe("the fixtures of pullproof/vitest", () => {
  const seen: { names: string[]; stacks: Set<unknown> } = { names: [], stacks: new Set() };

  test("a tenant pulls its own image", async ({ stack, tenant }) => {
    seen.names.push(tenant.name);
    seen.stacks.add(stack);
    expect(await tenant.pull()).toMatchObject({ verdict: "pulled", namespace: tenant.namespace, node: tenant.node });
  });

  test("and not that of another one", async ({ stack, tenant, otherTenant }) => {
    seen.names.push(tenant.name, otherTenant.name);
    seen.stacks.add(stack);
    expect(await otherTenant.pull()).toMatchObject({ verdict: "pulled" });
    expect(await tenant.pull(otherTenant.image)).toMatchObject({ verdict: "denied" });
  });

  test("each test has its own, of one stack", ({ stack, tenant }) => {
    seen.names.push(tenant.name);
    seen.stacks.add(stack);
    expect(new Set(seen.names).size).toBe(4);
    expect(seen.stacks.size).toBe(1);
  });

  test("tokens are for the tenant's ServiceAccount", async ({ tenant }) => {
    const { claims } = await tenant.mint();
    expect(claims).toMatchObject({ sub: `system:serviceaccount:${tenant.namespace}:${tenant.serviceAccount}` });
  });

  test("the clock may be moved …", ({ stack, tenant: _ }) => {
    stack.clock.advance(3600);
    expect(stack.clock.state().offsetSeconds).toBe(3600);
  });

  test("… and is back for the next test", ({ stack, tenant: _ }) => {
    expect(stack.clock.state().offsetSeconds).toBe(0);
  });

  strict("the stack is started as asked for", async ({ stack, tenant }) => {
    const health = (await (await fetch(`${stack.control}health`)).json()) as { switches: object };
    expect(health.switches).toMatchObject({ shortTokens: true });
    expect(tenant.name).toBe("tenant-1");
  });
});

describe("a pool of tenants", () => {
  it("says when there is none left, and how to get more", async () => {
    const stack = await startStack({ world: createTenantWorld(1) });
    const pool = createTenantPool(stack, 1);
    expect(pool.take().name).toBe("tenant-1");
    expect(() => pool.take()).toThrow(
      "all 1 tenants of this worker's stack are taken: ask for more, createTest({ tenants: … })",
    );
    await stack.close();
  });
});
