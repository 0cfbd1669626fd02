// The node's container runtime, as far as images go: which names it lists, which content it holds. It knows nothing of
// Pods, credentials or records.
import { InvalidImageNameError, parseImageName, renderRepository, renderRuntimeName } from "./core/image-name.ts";
import type { RuntimeImage } from "./types.ts";

/** The state of a runtime; it survives restarts of the kubelet. */
export class Runtime {
  /** Runtime name (`name:tag`, `name@digest`) → image id. */
  readonly #names = new Map<string, string>();
  readonly #sizes = new Map<string, number>();
  /** Content by digest; manifests and configurations keep their bytes, layers do not. */
  readonly #contents = new Map<string, Buffer | undefined>();

  /** The image behind a spec string or image id, as CRI `ImageStatus`. */
  find(image: string): RuntimeImage | undefined {
    if (this.#sizes.has(image)) return this.#render(image);
    const imageRef = this.#names.get(nameOf(image) ?? "");
    return imageRef === undefined ? undefined : this.#render(imageRef);
  }

  list(): RuntimeImage[] {
    return [...this.#sizes.keys()].map((imageRef) => this.#render(imageRef));
  }

  /** Adds an image under its names; a tag moves to the new id. */
  add(image: RuntimeImage): void {
    this.#sizes.set(image.imageRef, image.size);
    for (const name of [...image.repoTags, ...image.repoDigests]) this.#names.set(name, image.imageRef);
    for (const imageRef of this.#sizes.keys()) {
      if (![...this.#names.values()].includes(imageRef)) this.#sizes.delete(imageRef);
    }
  }

  /** Takes an image with all its names away; content goes too, as nothing refers to it. */
  remove(image: string): boolean {
    const found = this.find(image);
    if (!found) return false;
    for (const name of [...found.repoTags, ...found.repoDigests]) this.#names.delete(name);
    this.#sizes.delete(found.imageRef);
    this.#contents.clear(); // at worst a later pull fetches again what another image still has
    return true;
  }

  hasContent(digest: string): boolean {
    return this.#contents.has(digest);
  }

  /** The kept bytes of a manifest or configuration. */
  readContent(digest: string): Buffer | undefined {
    return this.#contents.get(digest);
  }

  keepContent(digest: string, bytes?: Buffer): void {
    this.#contents.set(digest, bytes);
  }

  #render(imageRef: string): RuntimeImage {
    const names = [...this.#names].filter(([, id]) => id === imageRef).map(([name]) => name);
    return {
      imageRef,
      size: this.#sizes.get(imageRef) ?? 0,
      repoTags: names.filter((name) => !name.includes("@")).sort(),
      repoDigests: names.filter((name) => name.includes("@")).sort(),
    };
  }
}

function nameOf(image: string): string | undefined {
  try {
    return renderRuntimeName(parseImageName(image));
  } catch (error) {
    if (error instanceof InvalidImageNameError) return undefined; // an image id that is not here, say
    throw error;
  }
}

/** The names under which the runtime lists a pulled image. */
export function listImageNames(image: string, manifestDigest: string): { repoTags: string[]; repoDigests: string[] } {
  const name = parseImageName(image);
  return {
    repoTags: name.digest === undefined ? [renderRuntimeName(name)] : [],
    repoDigests: [`${renderRepository(name)}@${manifestDigest}`],
  };
}
