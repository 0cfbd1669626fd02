// Intents and records above any place that keeps named files; records-files.ts and records-memory.ts are the two places.
import type { Profile } from "./core/profiles.ts";
import { parseIntent, parseRecord, renderIntent, renderRecord } from "./core/pull-record.ts";
import { isRecordFileName, renderRecordFileName } from "./core/record-file-name.ts";
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
  const listIntents = () => readAll(files, "pulling", (text) => parseIntent(text, profile));
  const listRecords = () => readAll(files, "pulled", (text) => parseRecord(text, profile));
  const store: RecordStore = {
    prepare() {
      files.prepare();
      return profile.migratesRecords ? migrate(store) : [];
    },
    listIntents() {
      const { found, problems } = listIntents();
      return { intents: found, problems };
    },
    hasIntent(image) {
      const text = files.read("pulling", renderRecordFileName(image));
      return text !== undefined && parseIntent(text, profile) === image;
    },
    writeIntent: (image) => writeChanged(files, { folder: "pulling", key: image, text: renderIntent(image, profile) }),
    deleteIntent: (image) => files.remove("pulling", renderRecordFileName(image)),
    readRecord(imageRef) {
      const text = files.read("pulled", renderRecordFileName(imageRef));
      return text === undefined ? undefined : parseRecord(text, profile);
    },
    writeRecord: (record) =>
      writeChanged(files, { folder: "pulled", key: record.imageRef, text: renderRecord(record, profile) }),
    deleteRecord: (imageRef) => files.remove("pulled", renderRecordFileName(imageRef)),
    listRecords() {
      const { found, problems } = listRecords();
      return { records: found, problems };
    },
  };
  return store;
}

/** Rewriting brings files of older versions to this one's version (6.2); broken ones are only told. */
function migrate(store: RecordStore): string[] {
  const intents = store.listIntents();
  const records = store.listRecords();
  for (const image of intents.intents) store.writeIntent(image);
  for (const record of records.records) store.writeRecord(record);
  return [...intents.problems, ...records.problems];
}

function readAll<T>(files: RecordFiles, folder: RecordFolder, parse: (text: string) => T) {
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
}

function writeChanged(files: RecordFiles, file: { folder: RecordFolder; key: string; text: string }): void {
  const name = renderRecordFileName(file.key);
  if (files.read(file.folder, name) !== file.text) files.write(file.folder, name, file.text);
}
