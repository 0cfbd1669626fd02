// The `images` of a repository: what a stack seeds it with.
import { SEED_NAMES } from "../registry/index.ts";
import type { WorldImage } from "./types.ts";
import { distinct, list } from "./world-collections.ts";
import { optional, readFields, required } from "./world-fields.ts";
import type { Place, Reader } from "./world-place.ts";
import { whole } from "./world-scalars.ts";
import { oneOf, type TextRule, text } from "./world-texts.ts";

const TAG: TextRule = { expected: "a tag of 1 to 128 letters, digits or . _ -", test: /^\w[\w.-]*$/, maximum: 128 };
/** One component between slashes; ECR and distribution-spec agree on it. */
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const MAXIMUM_MIB = 4096;

/** Whether a text has the grammar of a repository name; its length is the caller's concern. */
export function isRepositoryName(text: string): boolean {
  return text.split("/").every((component) => COMPONENT.test(component));
}

/** Reads a list of seeded images; each tag may stand once. */
export const readImages: Reader<WorldImage[]> = distinct(list(readImage), "tag", (image) => image.tag);

function readImage(place: Place): WorldImage {
  const { sizeMiB, ...image } = readFields(place, {
    tag: required(text(TAG)),
    seed: required(oneOf(...SEED_NAMES)),
    sizeMiB: optional(whole(1, MAXIMUM_MIB), undefined),
  });
  if (sizeMiB === undefined) return image;
  const seed = place.at("seed").value;
  if (seed !== "big")
    place.at("sizeMiB").refuseKey("no size: only the seed big has one", `sizeMiB for the seed ${seed}`);
  return { ...image, sizeMiB };
}
