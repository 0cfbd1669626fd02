// Pull intents and records as files below the kubelet's root, byte for byte where a real kubelet has them (kubelet.md 6.2).
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROFILES } from "./core/profiles.ts";
import { createRecordStore, type RecordFiles, type RecordFolder } from "./records.ts";
import type { KubeletVersion, RecordStore } from "./types.ts";

/** The record store below `<rootDirectory>/image_manager`; folders 0700, files 0600, written by rename. */
export function createFileRecords(options: {
  readonly version: KubeletVersion;
  readonly rootDirectory: string;
}): RecordStore {
  const folderOf = (folder: RecordFolder) => join(options.rootDirectory, "image_manager", folder);
  const access: RecordFiles = {
    prepare() {
      for (const folder of ["pulling", "pulled"] as const)
        mkdirSync(folderOf(folder), { recursive: true, mode: 0o700 });
    },
    list: (folder) => absent(() => readdirSync(folderOf(folder))) ?? [],
    read: (folder, name) => absent(() => readFileSync(join(folderOf(folder), name), "utf8")),
    write(folder, name, text) {
      const path = join(folderOf(folder), name);
      writeFileSync(`${path}.tmp`, text, { mode: 0o600 });
      renameSync(`${path}.tmp`, path);
    },
    remove: (folder, name) => rmSync(join(folderOf(folder), name), { force: true }),
  };
  return createRecordStore(access, PROFILES[options.version]);
}

/** Undefined where the file or folder is not there; every other failure rises. */
function absent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
