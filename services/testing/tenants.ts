// Tenants as tests hold them, handed out one by one from a stack that has many.
import { nameTenant, type TenantNames } from "./tenant-world.ts";
import type { IssuerHandle, Stack } from "./types.ts";

type MintRequest = Partial<Parameters<IssuerHandle["mint"]>[0]>;

/** A tenant of its own: namespace, ServiceAccount, account, role, repository with an image, and a node. */
export interface Tenant extends TenantNames {
  /** A token of its ServiceAccount. */
  mint(request?: MintRequest): ReturnType<IssuerHandle["mint"]>;
  /** A Pod of this tenant, as its node would be given it. */
  pod(image?: string): Readonly<Record<string, unknown>>;
  /** Runs such a Pod on the tenant's node: its own image unless told. */
  pull(image?: string): ReturnType<Stack["runPod"]>;
}

/** Hands out the tenants of a stack that was started with `createTenantWorld(count)`. */
export interface TenantPool {
  /** @throws Error when there is none left */
  take(): Tenant;
}

export function createTenantPool(stack: Stack, count: number): TenantPool {
  let taken = 0;
  return {
    take() {
      if (taken === count) {
        throw new Error(
          `all ${count} tenants of this worker's stack are taken: ask for more, createTest({ tenants: … })`,
        );
      }
      taken += 1;
      return createTenant(stack, nameTenant(taken));
    },
  };
}

function createTenant(stack: Stack, names: TenantNames): Tenant {
  const { namespace, serviceAccount, node } = names;
  let pods = 0;
  const pod = (image: string = names.image) => {
    pods += 1;
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace, name: `pod-${pods}` },
      spec: { serviceAccountName: serviceAccount, containers: [{ name: "app", image }] },
    };
  };
  return {
    ...names,
    mint: (request = {}) => stack.issuer("eks").mint({ namespace, serviceAccount, ...request }),
    pod,
    pull: (image) => stack.runPod(node, pod(image)),
  };
}
