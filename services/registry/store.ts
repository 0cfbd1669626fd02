// Where content lives. Bytes may be shared between repositories; what a repository shows is only what is linked in it.
// The store holds no rules: who may see or change what is decided before it is asked.
import type { Readable } from "node:stream";
import type { DigestAlgorithm } from "./core/digest.ts";
import type { Awaitable, Digest, StoredManifest } from "./types.ts";

/** Immutable bytes under their digest. */
export interface BlobContent {
  readonly digest: Digest;
  readonly size: number;
  /** The bytes from `start` up to and without `end`, piece by piece; memory held does not depend on the size. */
  read(start: number, end: number): Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** The links, manifests and tags of one repository. Reading never creates anything. */
export interface RepositoryContent {
  /** A blob linked here; manifests count, since clients look there for them too. */
  findBlob(digest: Digest): BlobContent | undefined;
  linkBlob(blob: BlobContent): Awaitable<void>;
  /** False if it was not linked. */
  unlinkBlob(digest: Digest): Awaitable<boolean>;
  findManifest(digest: Digest): StoredManifest | undefined;
  findTag(tag: string): Digest | undefined;
  /**
   * Stores a manifest and moves tags to it, all or nothing. With `keepTags`, a tag that names another digest is not
   * moved: nothing happens and that tag is returned.
   */
  putManifest(manifest: StoredManifest, tags: readonly string[], keepTags: boolean): Awaitable<string | undefined>;
  /** Removes a manifest and every tag on it; false if it was not here. */
  deleteManifest(digest: Digest): Awaitable<boolean>;
  deleteTag(tag: string): Awaitable<boolean>;
  /** In byte order. */
  tags(): readonly string[];
  /** Manifests whose subject is `digest`, in push order. */
  referrers(digest: Digest): readonly StoredManifest[];
  /** The media type that a manifest of this repository gives the blob. */
  mediaTypeOf(digest: Digest): string | undefined;
}

/** Bytes on their way in. Invisible until {@link RegistryStore.commit}. */
export interface Upload {
  readonly id: string;
  readonly repository: string;
  readonly size: number;
  /** Size after the first chunk, for profiles that report nothing else. */
  readonly firstChunkSize: number;
  /** When it was last used; the registry decides what is too old. */
  lastActive: Date;
  /** Runs one task at a time; later ones see what earlier ones did. */
  exclusively<T>(task: () => Promise<T>): Promise<T>;
  /**
   * Appends a stream. With `exactly`, anything but that many bytes leaves the upload as it was; without it, what came
   * before a cut connection stays.
   * @returns the number of bytes found in the stream (counted only as far as needed to know that there are too many)
   */
  append(source: Readable, exactly: number | undefined): Promise<number>;
  /** The digest of what is there; cheap for the algorithm that the upload was started with. */
  digest(algorithm: DigestAlgorithm): Awaitable<Digest>;
}

export interface UploadStart {
  readonly id: string;
  readonly repository: string;
  readonly algorithm: DigestAlgorithm;
  readonly now: Date;
}

/** One registry's content. */
export interface RegistryStore {
  /** Undefined if nothing was ever stored under this name. */
  find(name: string): Awaitable<RepositoryContent | undefined>;
  /** Like `find`, made if need be. */
  open(name: string): Awaitable<RepositoryContent>;
  /** Forgets a repository with its content and uploads. */
  drop(name: string): Awaitable<void>;
  /** In byte order. */
  names(): Awaitable<readonly string[]>;
  startUpload(start: UploadStart): Awaitable<Upload>;
  findUpload(id: string): Awaitable<Upload | undefined>;
  uploads(): Awaitable<readonly Upload[]>;
  endUpload(id: string): Awaitable<void>;
  /** Makes a finished upload a blob; its digest has been verified. Ends the upload. */
  commit(upload: Upload, digest: Digest): Awaitable<BlobContent>;
  /** Adds bytes that need no upload (seeds). */
  addBlob(digest: Digest, chunks: readonly Buffer[]): Awaitable<BlobContent>;
  clear(): void;
}
