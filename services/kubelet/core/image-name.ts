// Image names as the kubelet and containerd read them: the reference grammar, Docker Hub's familiar names, tags and digests.

/** An image name taken apart and normalised. */
export interface ImageName {
  /** `docker.io`, `registry.local:5000`, … */
  readonly domain: string;
  readonly path: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** A name that the reference grammar refuses; the text is that of distribution/reference. */
export class InvalidImageNameError extends Error {}

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const LABEL = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const DOMAIN = `(?:${LABEL}(?:\\.${LABEL})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?`;
const TAG = "[\\w][\\w.-]{0,127}";
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
const REFERENCE = new RegExp(`^(${DOMAIN})/(${COMPONENT}(?:/${COMPONENT})*)(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const DIGEST_LENGTHS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/**
 * Reads and normalises an image name (`nginx:1.2` → docker.io, library/nginx, 1.2).
 * @throws InvalidImageNameError
 */
export function parseImageName(image: string): ImageName {
  if (/^[a-f0-9]{64}$/.test(image)) {
    throw new InvalidImageNameError(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  }
  const { domain, remainder } = splitDomain(image);
  const remote = remainder.split(":", 1).join("");
  if (remote !== remote.toLowerCase()) {
    throw new InvalidImageNameError(`invalid reference format: repository name (${remote}) must be lowercase`);
  }
  const match = REFERENCE.exec(`${domain}/${remainder}`);
  if (!match) throw new InvalidImageNameError("invalid reference format");
  const [, , path = "", tag, digest] = match;
  if (`${domain}/${path}`.length > 255) {
    throw new InvalidImageNameError("repository name must not be more than 255 characters");
  }
  if (digest !== undefined) checkDigest(digest);
  return { domain, path, tag, digest };
}

function splitDomain(image: string): { domain: string; remainder: string } {
  const slash = image.indexOf("/");
  const first = slash < 0 ? "" : image.slice(0, slash);
  const isDomain = slash >= 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const domain = isDomain ? first : "docker.io";
  const remainder = isDomain ? image.slice(slash + 1) : image;
  if (domain !== "docker.io" && domain !== "index.docker.io") return { domain, remainder };
  return { domain: "docker.io", remainder: remainder.includes("/") ? remainder : `library/${remainder}` };
}

function checkDigest(digest: string): void {
  const colon = digest.indexOf(":");
  const length = DIGEST_LENGTHS[digest.slice(0, colon)];
  if (length === undefined) throw new InvalidImageNameError("unsupported digest algorithm");
  if (!new RegExp(`^[a-f0-9]{${length}}$`).test(digest.slice(colon + 1))) {
    throw new InvalidImageNameError("invalid checksum digest length");
  }
}

/** `docker.io/library/nginx`: what providers are matched against and what goes to plugins (2.1). */
export function renderRepository(name: ImageName): string {
  return `${name.domain}/${name.path}`;
}

/** The runtime's name of an image: a digest displaces the tag; neither means `latest`. */
export function renderRuntimeName(name: ImageName): string {
  if (name.digest) return `${renderRepository(name)}@${name.digest}`;
  return `${renderRepository(name)}:${name.tag ?? "latest"}`;
}
