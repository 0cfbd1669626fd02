// One suite for both record stores: the bytes and file names are those of a real kubelet.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createRecordCache } from "./record-cache.ts";
import { createFileRecords } from "./records-files.ts";
import { createMemoryRecords } from "./records-memory.ts";
import type { ImagePulledRecord, KubeletVersion, RecordStore } from "./types.ts";

const IMAGE = "registry.local:5000/team-a/app:v1";
const INTENT_FILE = "sha256-0c459b59e277719094427e0ace86023079ebefe343d0b700a71961b93f559428";
const REF = `sha256:${"1".repeat(64)}`;
const RECORD_FILE = "sha256-5d4cc820b37f3d1fd0c6e04ed50a56ead8d497ecfd3c25c749855ed9d852837d";
const RECORD: ImagePulledRecord = {
  imageRef: REF,
  lastUpdatedTime: new Date("2026-09-21T14:13:21Z"),
  credentialMapping: {
    "registry.local:5000/team-a/app": {
      kubernetesSecrets: [{ uid: "s1", namespace: "team-a", name: "regcred", credentialHash: "84e602be" }],
      kubernetesServiceAccounts: [{ uid: "a1", namespace: "team-a", name: "puller" }],
    },
  },
};

interface Place {
  open(version: KubeletVersion): RecordStore;
  write(path: string, text: string): void;
  read(path: string): string;
  list(): string[];
}

let root: string | undefined;
afterEach(() => root && rmSync(root, { recursive: true, force: true }));

const PLACES: Record<string, () => Place> = {
  memory() {
    const files = new Map<string, string>();
    return {
      open: (version) => createMemoryRecords({ version, files }),
      write: (path, text) => void files.set(path, text),
      read: (path) => files.get(path) ?? "",
      list: () => [...files.keys()].sort(),
    };
  },
  files() {
    const directory = mkdtempSync(join(tmpdir(), "records-"));
    root = directory;
    const path = (name: string) => join(directory, "image_manager", name);
    return {
      open: (version) => createFileRecords({ version, rootDirectory: directory }),
      write: (name, text) => writeFileSync(path(name), text),
      read: (name) => readFileSync(path(name), "utf8"),
      list: () =>
        ["pulled", "pulling"].flatMap((folder) => readdirSync(path(folder)).map((name) => `${folder}/${name}`)).sort(),
    };
  },
};

describe.each(Object.entries(PLACES))("records in %s", (kind, createPlace) => {
  const open = (version: KubeletVersion = "1.36") => {
    const place = createPlace();
    const store = place.open(version);
    store.prepare();
    return { place, store };
  };

  test("an intent's file name and bytes are the kubelet's; it comes and goes", () => {
    const { place, store } = open();
    store.writeIntent(IMAGE);
    expect(place.list()).toEqual([`pulling/${INTENT_FILE}`]);
    expect(place.read(`pulling/${INTENT_FILE}`)).toBe(
      `{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"${IMAGE}"}\n`,
    );
    expect([store.hasIntent(IMAGE), store.hasIntent("other")]).toEqual([true, false]);
    expect(store.listIntents()).toEqual({ intents: [IMAGE], problems: [] });
    store.deleteIntent(IMAGE);
    store.deleteIntent(IMAGE);
    expect(place.list()).toEqual([]);
  });

  test("a record's file name and bytes are the kubelet's, and it reads back", () => {
    const { place, store } = open();
    store.writeRecord(RECORD);
    expect(place.list()).toEqual([`pulled/${RECORD_FILE}`]);
    expect(place.read(`pulled/${RECORD_FILE}`)).toBe(
      `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2026-09-21T14:13:21Z","imageRef":"${REF}","credentialMapping":{"registry.local:5000/team-a/app":{"kubernetesSecrets":[{"uid":"s1","namespace":"team-a","name":"regcred","credentialHash":"84e602be"}],"kubernetesServiceAccounts":[{"uid":"a1","namespace":"team-a","name":"puller"}]}}}\n`,
    );
    expect(store.readRecord(REF)).toEqual(RECORD);
    expect(store.readRecord("sha256:other")).toBeUndefined();
    store.deleteRecord(REF);
    expect(store.readRecord(REF)).toBeUndefined();
  });

  test("what is not a record is ignored; what should be one and is not is an error", () => {
    const { place, store } = open();
    store.writeRecord(RECORD);
    place.write("pulled/notes.txt", "x");
    place.write(`pulled/${RECORD_FILE}.tmp`, "x");
    expect(store.listRecords()).toEqual({ records: [RECORD], problems: [] });
    place.write(`pulled/${RECORD_FILE}`, place.read(`pulled/${RECORD_FILE}`).replace('"imageRef"', '"imageref"'));
    expect(() => store.readRecord(REF)).toThrow('strict decoding error: unknown field "imageref"');
    expect(store.listRecords().problems).toHaveLength(1);
  });

  test("1.35 rewrites old files at start; 1.34 cannot read new ones, 1.33 none with accounts", () => {
    const place = createPlace();
    const old = place.open("1.34");
    old.prepare();
    old.writeRecord(RECORD);
    expect(place.read(`pulled/${RECORD_FILE}`)).toContain("kubelet.config.k8s.io/v1alpha1");
    expect(() => place.open("1.33").readRecord(REF)).toThrow('unknown field "kubernetesServiceAccounts"');
    place.open("1.35").prepare();
    expect(place.read(`pulled/${RECORD_FILE}`)).toContain("kubelet.config.k8s.io/v1beta1");
    expect(() => old.readRecord(REF)).toThrow("no kind");
  });

  test("the memory above it does not notice edits, and lets go when it is too small", () => {
    const { place, store } = open();
    const cache = createRecordCache(store, { maxPods: 1, maxParallelImagePulls: undefined });
    cache.writeRecord(RECORD);
    place.write(`pulled/${RECORD_FILE}`, "broken");
    expect(cache.readRecord(REF)).toEqual(RECORD);
    for (let i = 0; i < 5; i++) cache.writeRecord({ ...RECORD, imageRef: `sha256:${i}` });
    expect(() => cache.readRecord(REF)).toThrow("json parse error"); // five records fit, the sixth pushed it out
  });

  test("modes are private", () => {
    if (kind !== "files") return;
    const { store } = open();
    store.writeIntent(IMAGE);
    const folder = join(root ?? "", "image_manager", "pulling");
    expect([statSync(folder).mode & 0o777, statSync(join(folder, INTENT_FILE)).mode & 0o777]).toEqual([0o700, 0o600]);
  });
});
