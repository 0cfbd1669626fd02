// Names, tags and digests as references (distribution-spec v1.1.1, "Pulling manifests").
import { parseDigest } from "./digest.ts";

/** Either side of a manifest reference; undefined from {@link parseReference} means that it is neither. */
export type Reference = { readonly tag: string } | { readonly digest: string };

const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const NAME_LIMIT = 255;

/** True if `name` is a repository name by the grammar and short enough (255). */
export function isName(name: string): boolean {
  return name.length <= NAME_LIMIT && NAME.test(name);
}

/** True if `tag` is a tag by the grammar. */
export function isTag(tag: string): boolean {
  return TAG.test(tag);
}

/** A manifest reference with `:` is a digest, otherwise a tag; undefined if it is a bad one of its kind. */
export function parseReference(reference: string): Reference | undefined {
  if (reference.includes(":")) return parseDigest(reference) ? { digest: reference } : undefined;
  return isTag(reference) ? { tag: reference } : undefined;
}
