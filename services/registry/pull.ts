// Pulling: manifests in one write, blobs as streams with ranges.
import { type AnswerHeaders, answer } from "./answer.ts";
import { writePieces } from "./body.ts";
import { parseDigest } from "./core/digest.ts";
import { allowsRange, type ByteRange, decideRange, matchesEtag } from "./core/range.ts";
import { parseReference } from "./core/reference.ts";
import { RegistryError } from "./errors.ts";
import { type Exchange, openRepository } from "./exchange.ts";
import type { BlobContent } from "./store.ts";

/** `private`: a shared proxy must not keep what one tenant pulled for another. */
const IMMUTABLE = "private, max-age=31536000, immutable";

/** GET and HEAD of a manifest by tag or digest (distribution-spec end-3). */
export async function getManifest(exchange: Exchange): Promise<void> {
  const { request, route } = exchange;
  const repository = await openRepository(exchange);
  const reference = parseReference(route.reference);
  if (!reference) throw invalidReference(route.reference);
  const byTag = "tag" in reference;
  const digest = byTag ? repository.findTag(reference.tag) : reference.digest;
  const manifest = digest === undefined ? undefined : repository.findManifest(digest);
  if (!manifest) throw unknownManifest(route.reference);
  const headers = {
    "Docker-Content-Digest": manifest.digest,
    ETag: `"${manifest.digest}"`,
    "Cache-Control": byTag ? "no-cache" : IMMUTABLE,
  };
  if (matchesEtag(request.headers["if-none-match"], manifest.digest)) return answer(exchange, 304, headers);
  answer(exchange, 200, { "Content-Type": manifest.mediaType, ...headers }, manifest.bytes);
}

/** The refusal for a manifest that this repository does not have, whatever others have. */
export function unknownManifest(reference: string): RegistryError {
  return new RegistryError("manifest-unknown", "manifest unknown to registry", { detail: { reference } });
}

/** The refusal for a reference that is neither tag nor digest. */
export function invalidReference(reference: string): RegistryError {
  if (!reference.includes(":")) return new RegistryError("reference-invalid", "manifest unknown to registry");
  return new RegistryError("digest-invalid", "expected a sha256 or sha512 digest");
}

/** GET and HEAD of a blob (distribution-spec end-2). Only this repository's links are looked at. */
export async function getBlob(exchange: Exchange): Promise<void> {
  const { registry, request, route } = exchange;
  const repository = await openRepository(exchange);
  const digest = route.reference;
  if (!parseDigest(digest)) throw new RegistryError("digest-invalid", "expected a sha256 or sha512 digest");
  const blob = repository.findBlob(digest);
  if (!blob) throw unknownBlob(digest);
  const head = request.method === "HEAD";
  const known = head && registry.profile.behaviour.headBlobType === "descriptor";
  const headers = {
    "Docker-Content-Digest": digest,
    ETag: `"${digest}"`,
    "Cache-Control": IMMUTABLE,
    "Accept-Ranges": "bytes",
    "Content-Type": (known && repository.mediaTypeOf(digest)) || "application/octet-stream",
  };
  if (matchesEtag(request.headers["if-none-match"], digest)) return answer(exchange, 304, headers);
  if (head) {
    exchange.response.writeHead(200, { ...headers, "Content-Length": blob.size });
    exchange.response.end();
    return;
  }
  await sendBlob(exchange, blob, headers);
}

/** The refusal for a blob that is not linked here, whatever others have. */
export function unknownBlob(digest: string): RegistryError {
  return new RegistryError("blob-unknown", "blob unknown to registry", { detail: { digest } });
}

async function sendBlob(exchange: Exchange, blob: BlobContent, headers: AnswerHeaders): Promise<void> {
  const { registry, request } = exchange;
  const ifRange = request.headers["if-range"];
  const range = allowsRange(typeof ifRange === "string" ? ifRange : undefined, blob.digest)
    ? request.headers.range
    : undefined;
  const decision = decideRange(range, blob.size);
  if (decision.kind === "unsatisfiable") {
    throw new RegistryError("range-unsatisfiable", `expected a range within ${blob.size} bytes`, {
      headers: { "Content-Range": `bytes */${blob.size}` },
    });
  }
  const several = decision.kind === "parts" && decision.ranges.length > 1;
  if (several && registry.options.multiRange === "400") {
    throw new RegistryError("option-unsupported", "expected one range, found several");
  }
  if (decision.kind === "whole" || (several && registry.options.multiRange === "200")) {
    return sendPart(exchange, blob, { status: 200, headers, range: { start: 0, end: blob.size - 1 } });
  }
  if (several) return sendMultipart(exchange, blob, { headers, ranges: decision.ranges });
  const [first] = decision.ranges;
  const part = { ...headers, "Content-Range": renderContentRange(first, blob.size) };
  return sendPart(exchange, blob, { status: 206, headers: part, range: first });
}

function renderContentRange(range: ByteRange, size: number): string {
  return `bytes ${range.start}-${range.end}/${size}`;
}

async function sendPart(
  { response }: Exchange,
  blob: BlobContent,
  part: { readonly status: number; readonly headers: AnswerHeaders; readonly range: ByteRange },
): Promise<void> {
  const { start, end } = part.range;
  response.writeHead(part.status, { ...part.headers, "Content-Length": end + 1 - start });
  await writePieces(response, blob.read(start, end + 1));
  response.end();
}

/** RFC 9110 §14.6: one part per range, each with its own `Content-Range`. Lazy pullers ask like this. */
async function sendMultipart(
  { registry, response }: Exchange,
  blob: BlobContent,
  parts: { readonly headers: AnswerHeaders; readonly ranges: readonly ByteRange[] },
): Promise<void> {
  const boundary = registry.random.bytes(16).toString("hex");
  const heads = parts.ranges.map((range) => {
    const contentRange = renderContentRange(range, blob.size);
    return `\r\n--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: ${contentRange}\r\n\r\n`;
  });
  const tail = `\r\n--${boundary}--\r\n`;
  const bytes = parts.ranges.reduce((sum, { start, end }) => sum + end + 1 - start, 0);
  const length = heads.join("").length + bytes + tail.length;
  const type = `multipart/byteranges; boundary=${boundary}`;
  response.writeHead(206, { ...parts.headers, "Content-Type": type, "Content-Length": length });
  for (const [index, { start, end }] of parts.ranges.entries()) {
    response.write(heads[index] ?? "");
    await writePieces(response, blob.read(start, end + 1));
  }
  response.end(tail);
}
