// A folder of this process for the CA of a stack somewhere else: client programs want a file.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Writes a CA to a new temporary folder. */
export function writeCa(pem: string): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "pullproof-ca-"));
  const path = join(folder, "ca.pem");
  writeFileSync(path, pem);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
