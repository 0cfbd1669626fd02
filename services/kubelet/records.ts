// Intents and records above any place that keeps named files; records-files.ts and records-memory.ts are the two places.
import type { Profile } from "./core/profiles.ts";
import {
  isRecordFileName,
  parseIntent,
  parseRecord,
  renderIntent,
  renderRecord,
  renderRecordFileName,
} from "./core/pull-record.ts";
import type { RecordStore } from "./types.ts";

/** The two folders below `image_manager`. */
export type RecordFolder = "pulling" | "pulled";

/** Named files in two folders; every method throws where the file system would. */
export interface RecordFiles {
  prepare(): void;
  list(folder: RecordFolder): readonly string[];
  /** Undefined if there is no such file. */
  read(folder: RecordFolder, name: string): string | undefined;
  /** All or nothing. */
  write(folder: RecordFolder, name: string, text: string): void;
  remove(folder: RecordFolder, name: string): void;
}

/** The record store of one profile on top of `files`. */
export function createRecordStore(files: RecordFiles, profile: Profile): RecordStore {
  const listAll = <T>(folder: RecordFolder, parse: (text: string) => T) => {
    const found: T[] = [];
    const problems: string[] = [];
    for (const name of files.list(folder).filter(isRecordFileName)) {
      try {
        found.push(parse(files.read(folder, name) ?? ""));
      } catch (error) {
        problems.push(`${folder}/${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return { found, problems };
  };
  const listIntents = () => listAll("pulling", (text) => parseIntent(text, profile));
  const listRecords = () => listAll("pulled", (text) => parseRecord(text, profile));
  const store: RecordStore = {
    prepare() {
      files.prepare();
      if (!profile.migratesRecords) return [];
      const intents = listIntents();
      const records = listRecords();
      // Rewriting brings files of older versions to this one's version (6.2).
      for (const image of intents.found) store.writeIntent(image);
      for (const record of records.found) store.writeRecord(record);
      return [...intents.problems, ...records.problems];
    },
    listIntents() {
      const { found, problems } = listIntents();
      return { intents: found, problems };
    },
    hasIntent(image) {
      const text = files.read("pulling", renderRecordFileName(image));
      return text !== undefined && parseIntent(text, profile) === image;
    },
    writeIntent: (image) => writeChanged("pulling", image, renderIntent(image, profile)),
    deleteIntent: (image) => files.remove("pulling", renderRecordFileName(image)),
    readRecord(imageRef) {
      const text = files.read("pulled", renderRecordFileName(imageRef));
      return text === undefined ? undefined : parseRecord(text, profile);
    },
    writeRecord: (record) => writeChanged("pulled", record.imageRef, renderRecord(record, profile)),
    deleteRecord: (imageRef) => files.remove("pulled", renderRecordFileName(imageRef)),
    listRecords() {
      const { found, problems } = listRecords();
      return { records: found, problems };
    },
  };
  const writeChanged = (folder: RecordFolder, key: string, text: string) => {
    const name = renderRecordFileName(key);
    if (files.read(folder, name) !== text) files.write(folder, name, text);
  };
  return store;
}
