// What a measurement leaves behind: nothing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Server } from "./servers.ts";

/** Where a measurement works. */
export interface Bench {
  /** A folder of its own. */
  readonly folder: string;
  /** Sees to it that a server is stopped at the end. */
  keep<T extends Server>(starting: Promise<T>): Promise<T>;
}

/** Runs a measurement in a folder of its own; then its servers are stopped and the folder is removed, whatever happens. */
export async function withBench<T>(measure: (bench: Bench) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "pullproof-bench-"));
  const servers: Server[] = [];
  try {
    return await measure({
      folder,
      async keep(starting) {
        const server = await starting;
        servers.push(server);
        return server;
      },
    });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}
