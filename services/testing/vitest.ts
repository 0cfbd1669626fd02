// What `import … from "pullproof/vitest"` gives: a stack for each worker, a tenant for each test.
import { test as base } from "vitest";
import type { StackOptions } from "../stack/index.ts";
import { startStack } from "./start-stack.ts";
import { createTenantWorld } from "./tenant-world.ts";
import { createTenantPool, type Tenant, type TenantPool } from "./tenants.ts";
import type { Stack } from "./types.ts";

export type { Tenant } from "./tenants.ts";

export interface TestOptions {
  /** How many tenants a worker's stack has; each test takes one or two. 100 unless told. */
  readonly tenants?: number;
  /** How the stack is started; its world is the tenants'. */
  readonly stack?: Omit<StackOptions, "world">;
}

/** What a test may ask for by name; nothing is made that no test asks for. */
export interface Fixtures {
  /** One stack for all tests of a worker. */
  readonly stack: Stack;
  /** A tenant that no other test sees. Its clock is the stack's, and goes back to the system's time after the test. */
  readonly tenant: Tenant;
  /** Somebody else. */
  readonly otherTenant: Tenant;
  /** Where the two come from. */
  readonly tenantPool: TenantPool;
}

const DEFAULT_TENANTS = 100;

/** A `test` of vitest's with these fixtures, extensible like any other. To be called at the top of a file, not in a `describe`. */
export function createTest({ tenants = DEFAULT_TENANTS, stack: options = {} }: TestOptions = {}) {
  return base.extend<Fixtures>({
    stack: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture depends on
      async ({}, use) => {
        const stack = await startStack({ ...options, world: createTenantWorld(tenants) });
        await use(stack);
        await stack.close();
      },
      { scope: "worker" },
    ],
    tenantPool: [async ({ stack }, use) => use(createTenantPool(stack, tenants)), { scope: "worker" }],
    tenant: async ({ stack, tenantPool }, use) => {
      await use(tenantPool.take());
      stack.clock.reset();
    },
    otherTenant: async ({ tenantPool }, use) => use(tenantPool.take()),
  });
}

/** {@link createTest} with its defaults. */
export const test = createTest();
