// Pushing and deleting manifests and tags, and unlinking blobs (spec registry 1.9, 1.14).

import { answer } from "./answer.ts";
import { readLimited } from "./body.ts";
import type { Descriptor } from "./core/descriptor.ts";
import { digestOf, parseDigest } from "./core/digest.ts";
import { type ParsedManifest, parseManifest } from "./core/manifest.ts";
import { isTag, parseReference } from "./core/reference.ts";
import { toStoredManifest } from "./core/stored.ts";
import { RegistryError } from "./errors.ts";
import { type Exchange, locate, openForPush, openRepository } from "./exchange.ts";
import { invalidReference, unknownBlob, unknownManifest } from "./pull.ts";
import type { RepositoryContent } from "./store.ts";

/** PUT of a manifest by tag or digest (distribution-spec end-7, and end-7b of its main branch). */
export async function putManifest(exchange: Exchange): Promise<void> {
  const { registry, request, response, route, query } = exchange;
  const repository = await openForPush(exchange);
  const bytes = await readLimited(request, registry.options.maxManifestBytes);
  const { digest, tags } = address(route.reference, query.getAll("tag"), bytes);
  const parsed = parseManifest(bytes, request.headers["content-type"], registry.options.allowUnknownManifests);
  checkContents(exchange, repository, parsed);
  const keepTags = registry.directory.find(route.name)?.immutableTags === true;
  const conflict = await repository.putManifest(toStoredManifest(parsed, digest, bytes), tags, keepTags);
  if (conflict !== undefined) {
    throw new RegistryError("tag-immutable", `tag ${conflict} cannot be moved: tags of this repository are immutable`, {
      tag: conflict,
    });
  }
  if (route.reference.includes(":") && tags.length > 0) response.setHeader("OCI-Tag", tags);
  if (parsed.subject && registry.options.referrersApi) response.setHeader("OCI-Subject", parsed.subject);
  answer(exchange, 201, { Location: locate(exchange, `manifests/${digest}`), "Docker-Content-Digest": digest });
}

interface Address {
  readonly digest: string;
  readonly tags: readonly string[];
}

/** Under which digest and tags a body is stored: every one checked before anything is. */
function address(reference: string, extraTags: readonly string[], bytes: Buffer): Address {
  const named = parseReference(reference);
  if (!named && reference.includes(":")) {
    throw new RegistryError("digest-invalid", "expected a sha256 or sha512 digest");
  }
  const tags = named && "digest" in named ? extraTags : [reference];
  const bad = tags.find((tag) => !isTag(tag));
  if (bad !== undefined) throw new RegistryError("tag-invalid", `expected a tag, found ${JSON.stringify(bad)}`);
  if (!named || "tag" in named) return { digest: digestOf(bytes), tags };
  const digest = digestOf(bytes, parseDigest(named.digest));
  if (digest !== named.digest) {
    throw new RegistryError("digest-mismatch", "provided digest did not match uploaded content", {
      detail: { digest: named.digest },
    });
  }
  return { digest, tags };
}

/** What a manifest names must be in this repository: what others hold does not count (spec registry 1.9 step 8, 9). */
function checkContents(exchange: Exchange, repository: RepositoryContent, parsed: ParsedManifest): void {
  const { sparseIndexes, verifySizes } = exchange.registry.options;
  const children = sparseIndexes
    ? parsed.children.filter(({ digest }) => repository.findManifest(digest))
    : parsed.children;
  const blobSize = ({ digest }: Descriptor) => repository.findBlob(digest)?.size;
  const childSize = ({ digest }: Descriptor) => repository.findManifest(digest)?.bytes.length;
  const found = [
    ...parsed.blobs.map((descriptor) => ({ descriptor, size: blobSize(descriptor) })),
    ...children.map((descriptor) => ({ descriptor, size: childSize(descriptor) })),
  ];
  const missing = found.filter(({ size }) => size === undefined).map(({ descriptor }) => descriptor.digest);
  if (missing.length > 0) {
    throw new RegistryError("manifest-blob-unknown", "manifest references content unknown to this repository", {
      detail: missing.map((digest) => ({ digest })),
      digests: missing,
    });
  }
  const wrong = found.find(({ descriptor, size }) => size !== descriptor.size);
  if (verifySizes && wrong) {
    const { digest, size } = wrong.descriptor;
    throw new RegistryError(
      "size-invalid",
      `expected ${digest} to be described with ${wrong.size} bytes, found ${size}`,
    );
  }
}

/** DELETE by tag removes the tag, by digest the manifest with all its tags (distribution-spec end-9). */
export async function deleteManifest(exchange: Exchange): Promise<void> {
  const { registry, route } = exchange;
  const repository = await openRepository(exchange);
  const reference = parseReference(route.reference);
  if (!reference) throw invalidReference(route.reference);
  const allowed = registry.options.deletes && ("digest" in reference || registry.options.tagDelete);
  if (!allowed) throw new RegistryError("method-unsupported", "deleting is switched off");
  const gone =
    "tag" in reference ? await repository.deleteTag(reference.tag) : await repository.deleteManifest(reference.digest);
  if (!gone) throw unknownManifest(route.reference);
  answer(exchange, 202, {});
}

/** DELETE of a blob removes this repository's link to it (distribution-spec end-10). */
export async function deleteBlob(exchange: Exchange): Promise<void> {
  const { registry, route } = exchange;
  const repository = await openRepository(exchange);
  if (!registry.options.deletes) throw new RegistryError("method-unsupported", "deleting is switched off");
  if (!parseDigest(route.reference)) throw new RegistryError("digest-invalid", "expected a sha256 or sha512 digest");
  if (!(await repository.unlinkBlob(route.reference))) throw unknownBlob(route.reference);
  answer(exchange, 202, {});
}
