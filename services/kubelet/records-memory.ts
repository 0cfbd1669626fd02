// Pull intents and records in memory: the same bytes as on disk, in a map.
import { PROFILES } from "./core/profiles.ts";
import { createRecordStore, type RecordFiles } from "./records.ts";
import type { KubeletVersion, RecordStore } from "./types.ts";

/**
 * A record store without files.
 * @param options.files `pulling/<name>` or `pulled/<name>` → text; handed in to look at the bytes or to spoil them
 */
export function createMemoryRecords(options: {
  readonly version: KubeletVersion;
  readonly files?: Map<string, string>;
}): RecordStore {
  const files = options.files ?? new Map<string, string>();
  const access: RecordFiles = {
    prepare() {},
    list: (folder) =>
      [...files.keys()].filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1)),
    read: (folder, name) => files.get(`${folder}/${name}`),
    write: (folder, name, text) => void files.set(`${folder}/${name}`, text),
    remove: (folder, name) => void files.delete(`${folder}/${name}`),
  };
  return createRecordStore(access, PROFILES[options.version]);
}
