// Under which name a pull record knows an image (kubelet.md 6.2).
import { InvalidImageNameError, parseImageName, renderRepository } from "./image-name.ts";
import { cutTagAndDigest } from "./image-tag.ts";
import type { Profile } from "./profiles.ts";

/** The key of a record's mapping for this spec string; undefined if the name does not parse. */
export function findMappingKey(image: string, profile: Profile): string | undefined {
  try {
    return profile.mappingKey === "textual" ? cutTagAndDigest(image) : renderRepository(parseImageName(image));
  } catch (error) {
    if (error instanceof InvalidImageNameError) return undefined;
    throw error;
  }
}
