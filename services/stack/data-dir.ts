// The stack's folder on disk: CA, control key, nodes. A temporary one is removed at the end.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigurationError } from "../shared/errors.ts";

export interface DataDirectory {
  readonly path: string;
  /** The folder of one node: records and the plugins' home. Created when asked for. */
  nodeDirectory(node: string): string;
  /** Forgets what nodes wrote. */
  clearNodes(): void;
  /** A key of the stack: as given, from the file `<name>.key`, or new and written there (0600). */
  key(name: "control" | "seal", given: string | undefined): string;
  /** Removes a temporary folder; leaves a given one. */
  close(): void;
}

/**
 * Opens (and creates) the folder.
 * @throws ConfigurationError if it cannot be created or written
 */
export function openDataDirectory(given: string | undefined): DataDirectory {
  const path = given === undefined ? mkdtempSync(join(tmpdir(), "pullproof-")) : create(resolve(given));
  const nodes = join(path, "nodes");
  return {
    path,
    nodeDirectory: (node) => create(join(nodes, node)),
    clearNodes: () => rmSync(nodes, { recursive: true, force: true }),
    key(name, key) {
      if (key) return key;
      const file = join(path, `${name}.key`);
      if (existsSync(file)) return readFileSync(file, "utf8").trim();
      const made = randomUUID();
      writeFileSync(file, `${made}\n`, { mode: 0o600 });
      return made;
    },
    close() {
      if (given === undefined) rmSync(path, { recursive: true, force: true });
      else rmSync(nodes, { recursive: true, force: true });
    },
  };
}

function create(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw new ConfigurationError(`cannot create the folder ${path}: ${String(cause)}`, {
      cause,
      hint: "choose a folder you may write to with --data-dir",
    });
  }
  return path;
}
