import { defineConfig } from "vitest/config";

// `unit` needs nothing but Node; `clients` runs real programs (docs/coverage.md lists them).
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      // Modules hold no state (no work at import time), so files need no process of their own.
      { test: { name: "unit", include: ["services/**/*.test.ts"], testTimeout: 60_000, isolate: false } },
      {
        test: {
          name: "clients",
          include: ["e2e/**/*.test.ts"],
          exclude: ["e2e/real-node/**", "**/node_modules/**"],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        // A real kubelet: needs root, containerd and etcd (e2e/real-node/README.md).
        test: {
          name: "node",
          include: ["e2e/real-node/**/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
