// The memory store: one map of blobs by digest with a count of links, and per repository what is linked, stored, tagged.
import { MemoryBlob } from "./blob-memory.ts";
import type { BlobContent, RegistryStore, RepositoryContent, Upload, UploadStart } from "./store.ts";
import type { Digest, StoredManifest } from "./types.ts";
import { MemoryUpload } from "./upload-memory.ts";

/** An empty store in memory; gone with the process. */
export function createMemoryStore(): RegistryStore {
  return new MemoryStore();
}

/** Blobs shared by all repositories of a store; bytes go when the last link goes. */
class BlobPool {
  readonly #blobs = new Map<Digest, { blob: BlobContent; links: number }>();

  /** The blob already held under this digest, or this one. */
  share(blob: BlobContent): BlobContent {
    return this.#blobs.get(blob.digest)?.blob ?? blob;
  }

  link(blob: BlobContent): BlobContent {
    const entry = this.#blobs.get(blob.digest) ?? { blob, links: 0 };
    entry.links += 1;
    this.#blobs.set(blob.digest, entry);
    return entry.blob;
  }

  unlink(digest: Digest): void {
    const entry = this.#blobs.get(digest);
    if (entry && --entry.links === 0) this.#blobs.delete(digest);
  }

  clear(): void {
    this.#blobs.clear();
  }
}

class MemoryRepository implements RepositoryContent {
  readonly #pool: BlobPool;
  readonly #links = new Map<Digest, BlobContent>();
  readonly #manifests = new Map<Digest, StoredManifest>();
  readonly #tags = new Map<string, Digest>();
  readonly #tagsOf = new Map<Digest, Set<string>>();
  readonly #referrers = new Map<Digest, Map<Digest, StoredManifest>>();
  readonly #mediaTypes = new Map<Digest, string>();
  #sortedTags: readonly string[] | undefined;

  constructor(pool: BlobPool) {
    this.#pool = pool;
  }

  findBlob(digest: Digest): BlobContent | undefined {
    const blob = this.#links.get(digest);
    if (blob) return blob;
    const manifest = this.#manifests.get(digest);
    return manifest && new MemoryBlob(digest, [manifest.bytes]);
  }

  linkBlob(blob: BlobContent): void {
    if (!this.#links.has(blob.digest)) this.#links.set(blob.digest, this.#pool.link(blob));
  }

  unlinkBlob(digest: Digest): boolean {
    if (!this.#links.delete(digest)) return false;
    this.#pool.unlink(digest);
    return true;
  }

  findManifest(digest: Digest): StoredManifest | undefined {
    return this.#manifests.get(digest);
  }

  findTag(tag: string): Digest | undefined {
    return this.#tags.get(tag);
  }

  putManifest(manifest: StoredManifest, tags: readonly string[], keepTags: boolean): string | undefined {
    const conflict = tags.find((tag) => (this.#tags.get(tag) ?? manifest.digest) !== manifest.digest);
    if (keepTags && conflict !== undefined) return conflict;
    this.#manifests.set(manifest.digest, manifest);
    if (manifest.subject) this.#refer(manifest.subject, manifest);
    for (const { digest, mediaType } of manifest.contents) this.#mediaTypes.set(digest, mediaType);
    for (const tag of tags) this.#moveTag(tag, manifest.digest);
    return undefined;
  }

  deleteManifest(digest: Digest): boolean {
    const manifest = this.#manifests.get(digest);
    if (!manifest) return false;
    this.#manifests.delete(digest);
    this.#unrefer(manifest);
    for (const tag of this.#tagsOf.get(digest) ?? []) this.#tags.delete(tag);
    this.#tagsOf.delete(digest);
    this.#sortedTags = undefined;
    return true;
  }

  deleteTag(tag: string): boolean {
    const digest = this.#tags.get(tag);
    if (digest === undefined) return false;
    this.#tags.delete(tag);
    this.#tagsOf.get(digest)?.delete(tag);
    this.#sortedTags = undefined;
    return true;
  }

  tags(): readonly string[] {
    this.#sortedTags ??= [...this.#tags.keys()].sort();
    return this.#sortedTags;
  }

  referrers(digest: Digest): readonly StoredManifest[] {
    return [...(this.#referrers.get(digest)?.values() ?? [])];
  }

  mediaTypeOf(digest: Digest): string | undefined {
    return this.#mediaTypes.get(digest);
  }

  /** Gives every link back to the pool. */
  release(): void {
    for (const digest of this.#links.keys()) this.#pool.unlink(digest);
    this.#links.clear();
  }

  #moveTag(tag: string, digest: Digest): void {
    const old = this.#tags.get(tag);
    if (old === undefined) this.#sortedTags = undefined;
    else this.#tagsOf.get(old)?.delete(tag);
    this.#tags.set(tag, digest);
    const tagsOf = this.#tagsOf.get(digest) ?? new Set();
    this.#tagsOf.set(digest, tagsOf.add(tag));
  }

  #refer(subject: Digest, manifest: StoredManifest): void {
    const referrers = this.#referrers.get(subject) ?? new Map<Digest, StoredManifest>();
    this.#referrers.set(subject, referrers.set(manifest.digest, manifest));
  }

  #unrefer(manifest: StoredManifest): void {
    if (manifest.subject) this.#referrers.get(manifest.subject)?.delete(manifest.digest);
  }
}

class MemoryStore implements RegistryStore {
  readonly #pool = new BlobPool();
  readonly #repositories = new Map<string, MemoryRepository>();
  readonly #uploads = new Map<string, MemoryUpload>();
  #sortedNames: readonly string[] | undefined;

  find(name: string): RepositoryContent | undefined {
    return this.#repositories.get(name);
  }

  open(name: string): RepositoryContent {
    const found = this.#repositories.get(name);
    if (found) return found;
    const made = new MemoryRepository(this.#pool);
    this.#repositories.set(name, made);
    this.#sortedNames = undefined;
    return made;
  }

  drop(name: string): void {
    this.#repositories.get(name)?.release();
    this.#repositories.delete(name);
    this.#sortedNames = undefined;
    for (const upload of this.#uploads.values()) if (upload.repository === name) this.#uploads.delete(upload.id);
  }

  names(): readonly string[] {
    this.#sortedNames ??= [...this.#repositories.keys()].sort();
    return this.#sortedNames;
  }

  startUpload(start: UploadStart): Upload {
    const upload = new MemoryUpload(start);
    this.#uploads.set(start.id, upload);
    return upload;
  }

  findUpload(id: string): Upload | undefined {
    return this.#uploads.get(id);
  }

  uploads(): readonly Upload[] {
    return [...this.#uploads.values()];
  }

  endUpload(id: string): void {
    this.#uploads.delete(id);
  }

  commit(upload: Upload, digest: Digest): BlobContent {
    const chunks = this.#uploads.get(upload.id)?.chunks() ?? [];
    this.#uploads.delete(upload.id);
    return this.#pool.share(new MemoryBlob(digest, chunks));
  }

  addBlob(digest: Digest, chunks: readonly Buffer[]): BlobContent {
    return this.#pool.share(new MemoryBlob(digest, chunks));
  }

  clear(): void {
    this.#repositories.clear();
    this.#uploads.clear();
    this.#pool.clear();
    this.#sortedNames = undefined;
  }
}
