// Pushing blobs: upload sessions, whole uploads in one request, and mounting from another repository.
import type { Readable } from "node:stream";
import { createUuid } from "../shared/random.ts";
import { type AnswerHeaders, answer } from "./answer.ts";
import { type DigestAlgorithm, digestOf, parseDigest } from "./core/digest.ts";
import { isName } from "./core/reference.ts";
import { checkChunk, renderProgress, wrongSize } from "./core/upload.ts";
import { RegistryError } from "./errors.ts";
import { decideAlso, type Exchange, locate, openForPush } from "./exchange.ts";
import type { RepositoryContent, Upload } from "./store.ts";

const EMPTY_DIGEST = digestOf(Buffer.alloc(0));

/** POST: opens a session, takes a whole blob, or mounts one (distribution-spec end-4a, 4b, 11). */
export async function startUpload(exchange: Exchange): Promise<void> {
  const { query } = exchange;
  if (query.getAll("mount").length > 1) {
    throw new RegistryError("option-unsupported", "expected at most one mount, found several");
  }
  const repository = await openForPush(exchange);
  if (query.has("mount")) return mountBlob(exchange, repository);
  const digest = query.get("digest");
  if (digest === null) return answerSession(exchange, await openSession(exchange, readAlgorithm(query)), 202);
  const algorithm = requireDigest(digest);
  const upload = await openSession(exchange, algorithm);
  if (isBodyless(exchange) && digest !== EMPTY_DIGEST) return answerSession(exchange, upload, 202);
  await upload.exclusively(() => finish(exchange, upload, digest));
}

/**
 * Mounting must not tell whether foreign content exists (spec registry 1.8): the session comes first, then the caller's
 * right to pull from the source, and only then the source is looked at. Every failure is the same 202.
 */
async function mountBlob(exchange: Exchange, repository: RepositoryContent): Promise<void> {
  const { registry, query, event } = exchange;
  const digest = query.get("mount") ?? "";
  const upload = await openSession(exchange, "sha256");
  const source = await findMountSource(exchange, digest);
  event.notes = { ...event.notes, mount: source.outcome };
  if (!source.content) return answerSession(exchange, upload, 202);
  const blob = source.content.findBlob(digest);
  if (!blob) return answerSession(exchange, upload, 202);
  await registry.store.endUpload(upload.id);
  await repository.linkBlob(blob);
  answer(exchange, 201, blobHeaders(exchange, digest));
}

interface MountSource {
  readonly outcome: string;
  readonly content?: RepositoryContent;
}

async function findMountSource(exchange: Exchange, digest: string): Promise<MountSource> {
  const { registry, query } = exchange;
  const from = query.get("from");
  if (!registry.profile.behaviour.mount) return { outcome: "off" };
  if (from === null || !isName(from) || !parseDigest(digest)) return { outcome: "not-a-source" };
  const decision = decideAlso(exchange, from, "GetBlob");
  if (decision.effect === "deny") return { outcome: `source-denied: ${decision.reason}` };
  if (!registry.directory.find(from)) return { outcome: "absent" };
  const content = await registry.open(from);
  return content.findBlob(digest) ? { outcome: "mounted", content } : { outcome: "absent" };
}

/** PATCH: appends a chunk or a stream (distribution-spec end-5). */
export async function uploadChunk(exchange: Exchange): Promise<void> {
  const { registry } = exchange;
  await inSession(exchange, async (upload) => {
    await appendBody(exchange, upload);
    answerSession(exchange, upload, registry.profile.behaviour.chunkStatus);
  });
}

/** PUT: takes the last bytes, verifies the digest and only then makes the blob visible (distribution-spec end-6). */
export async function completeUpload(exchange: Exchange): Promise<void> {
  await inSession(exchange, async (upload) => {
    const digest = exchange.query.get("digest") ?? "";
    requireDigest(digest);
    await finish(exchange, upload, digest);
  });
}

/** GET of a session: how far it is (distribution-spec end-13). */
export async function getUpload(exchange: Exchange): Promise<void> {
  const upload = await findSession(exchange);
  if (!exchange.registry.profile.behaviour.uploadStatus) throw unknownUpload();
  answerSession(exchange, upload, 204);
}

/** DELETE of a session. */
export async function cancelUpload(exchange: Exchange): Promise<void> {
  await inSession(exchange, async (upload) => {
    await exchange.registry.store.endUpload(upload.id);
    answer(exchange, 204, {});
  });
}

async function finish(exchange: Exchange, upload: Upload, digest: string): Promise<void> {
  const { registry } = exchange;
  await appendBody(exchange, upload);
  if ((await upload.digest(requireDigest(digest))) !== digest) {
    await registry.store.endUpload(upload.id);
    throw new RegistryError("digest-mismatch", "provided digest did not match uploaded content", {
      detail: { digest },
    });
  }
  const repository = await openForPush(exchange);
  await repository.linkBlob(await registry.store.commit(upload, digest));
  answer(exchange, 201, blobHeaders(exchange, digest));
}

async function appendBody(exchange: Exchange, upload: Upload): Promise<void> {
  const { request, registry } = exchange;
  const length = request.headers["content-length"];
  const claim = {
    contentRange: request.headers["content-range"],
    contentLength: length === undefined ? undefined : Number(length),
  };
  const exactly = checkAgainst(exchange, upload, claim);
  const source: Readable = request;
  const found = await upload.append(source, exactly);
  upload.lastActive = registry.clock.now();
  if (exactly !== undefined && found !== exactly) throw wrongSize(exactly, found);
}

/** A chunk out of order is told where to go on. */
function checkAgainst(exchange: Exchange, upload: Upload, claim: Parameters<typeof checkChunk>[0]): number | undefined {
  try {
    return checkChunk(claim, upload.size);
  } catch (error) {
    if (!(error instanceof RegistryError) || error.refusal !== "upload-out-of-order") throw error;
    const headers = {
      Location: locate(exchange, `blobs/uploads/${upload.id}`),
      Range: renderProgress(upload.size),
      "Docker-Upload-UUID": upload.id,
    };
    throw new RegistryError(error.refusal, error.message, { headers, cause: error });
  }
}

async function inSession(exchange: Exchange, task: (upload: Upload) => Promise<void>): Promise<void> {
  const upload = await findSession(exchange);
  await upload.exclusively(async () => {
    // Whoever held the session before us may have ended it.
    if ((await exchange.registry.store.findUpload(upload.id)) !== upload) throw unknownUpload();
    await task(upload);
  });
}

/** A session of another repository does not exist here: ids may leak, content must not. */
async function findSession(exchange: Exchange): Promise<Upload> {
  const { registry, route } = exchange;
  const upload = await registry.store.findUpload(route.reference);
  if (!upload || upload.repository !== route.name || isStale(exchange, upload)) throw unknownUpload();
  return upload;
}

function isStale({ registry }: Exchange, upload: Upload): boolean {
  const idleMs = registry.clock.now().getTime() - upload.lastActive.getTime();
  return idleMs > registry.options.uploadTtlSeconds * 1000;
}

function unknownUpload(): RegistryError {
  return new RegistryError("upload-unknown", "blob upload unknown to registry");
}

async function openSession(exchange: Exchange, algorithm: DigestAlgorithm): Promise<Upload> {
  const { registry, route } = exchange;
  let open = 0;
  for (const upload of await registry.store.uploads()) {
    if (isStale(exchange, upload)) await registry.store.endUpload(upload.id);
    else if (upload.repository === route.name) open += 1;
  }
  if (open >= registry.options.maxUploadsPerRepository) {
    throw new RegistryError("too-many-uploads", `expected at most ${open} open uploads`, {
      headers: { "Retry-After": "60" },
    });
  }
  const id = createUuid(registry.random);
  return registry.store.startUpload({ id, repository: route.name, algorithm, now: registry.clock.now() });
}

function readAlgorithm(query: URLSearchParams): DigestAlgorithm {
  const asked = query.get("digest-algorithm") ?? "sha256";
  if (asked === "sha256" || asked === "sha512") return asked;
  throw new RegistryError("digest-invalid", "expected digest-algorithm sha256 or sha512");
}

function requireDigest(digest: string): DigestAlgorithm {
  const algorithm = parseDigest(digest);
  if (algorithm) return algorithm;
  throw new RegistryError("digest-invalid", "expected the query to hold a sha256 or sha512 digest");
}

function isBodyless({ request }: Exchange): boolean {
  const length = request.headers["content-length"];
  return (length === undefined || length === "0") && request.headers["transfer-encoding"] === undefined;
}

function answerSession(exchange: Exchange, upload: Upload, status: number): void {
  const firstOnly = exchange.registry.profile.behaviour.chunkRange === "first-chunk";
  answer(exchange, status, {
    Location: locate(exchange, `blobs/uploads/${upload.id}`),
    Range: renderProgress(firstOnly ? upload.firstChunkSize : upload.size),
    "Docker-Upload-UUID": upload.id,
  });
}

function blobHeaders(exchange: Exchange, digest: string): AnswerHeaders {
  return { Location: locate(exchange, `blobs/${digest}`), "Docker-Content-Digest": digest };
}
