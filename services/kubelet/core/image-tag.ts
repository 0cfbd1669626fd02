// Tags and digests of a spec string: adding the default, cutting them off, what they mean for the pull policy.
import { InvalidImageNameError, parseImageName } from "./image-name.ts";

/** The spec string with `:latest` appended where it has neither tag nor digest; the name is not expanded (0.1). */
export function applyDefaultTag(image: string): string {
  const name = parseImageName(image);
  return name.tag === undefined && name.digest === undefined ? `${image}:latest` : image;
}

/** The spec string without tag and digest, cut off as text (6.2, ≥ 1.36). */
export function cutTagAndDigest(image: string): string {
  const name = parseImageName(image);
  let text = image;
  if (name.digest !== undefined) text = text.slice(0, -(name.digest.length + 1));
  return name.tag === undefined ? text : text.slice(0, -(name.tag.length + 1));
}

/** The pull policy of a container that names none (7.3). */
export function defaultPullPolicy(image: string): "Always" | "IfNotPresent" {
  try {
    const { tag, digest } = parseImageName(image);
    return tag === "latest" || (tag === undefined && digest === undefined) ? "Always" : "IfNotPresent";
  } catch (error) {
    if (error instanceof InvalidImageNameError) return "IfNotPresent"; // the pull itself will refuse the name
    throw error;
  }
}
