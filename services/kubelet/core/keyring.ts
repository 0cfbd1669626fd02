// From answers to an ordered list of credentials (kubelet.md 2.6): keys, their order, and which ones cover an image.

import { escapeHtml } from "./go-json.ts";
import { GoUrlError, parseGoUrl } from "./go-url.ts";
import { matchesImage } from "./match-images.ts";
import { sha256 } from "./sha256.ts";

/** Where a credential comes from; records can name only the first two. */
export type CredentialSource =
  | { readonly kind: "secret"; readonly uid: string; readonly namespace: string; readonly name: string }
  | { readonly kind: "service-account"; readonly uid: string; readonly namespace: string; readonly name: string }
  | { readonly kind: "none"; readonly name: string };

/** One credential as it will be tried. */
export interface Credential {
  readonly username: string;
  readonly password: string;
  readonly email: string;
  readonly source: CredentialSource;
  /** Hex; see {@link hashCredential}. */
  readonly hash: string;
}

/** One keyring: key → credentials in the order they were added. */
export class Keyring {
  readonly #credentials = new Map<string, Credential[]>();
  #sorted: string[] | undefined;

  /** Adds one source's entries; keys that do not parse are skipped. */
  add(
    source: CredentialSource,
    entries: Readonly<Record<string, { username: string; password: string; email?: string }>>,
  ): void {
    for (const [pattern, entry] of Object.entries(entries)) {
      const key = reduceKey(pattern);
      if (key === undefined) continue;
      const credential = { username: entry.username, password: entry.password, email: entry.email ?? "" };
      const list = this.#credentials.get(key) ?? [];
      list.push({ ...credential, source, hash: hashCredential(credential) });
      this.#credentials.set(key, list);
    }
    this.#sorted = undefined;
  }

  /** The credentials that cover the image, most specific key first. */
  find(image: string): readonly Credential[] {
    this.#sorted ??= [...this.#credentials.keys()].sort((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
    const found = this.#sorted
      .filter((key) => matchesImage(key, image))
      .flatMap((key) => this.#credentials.get(key) ?? []);
    if (found.length > 0 || !isDefaultRegistry(image)) return found;
    return this.#credentials.get("index.docker.io") ?? [];
  }
}

/** Scheme dropped, `/v1` or `/v2` dropped, an empty path dropped. Undefined if it is no URL. */
export function reduceKey(pattern: string): string | undefined {
  const url = /^https?:\/\//.test(pattern) ? pattern : `https://${pattern}`;
  try {
    const { authority, path } = parseGoUrl(url);
    const rest = path.startsWith("/v1/") || path.startsWith("/v2/") ? path.slice(3) : path;
    return rest === "/" ? authority : authority + rest;
  } catch (error) {
    if (error instanceof GoUrlError) return undefined;
    throw error;
  }
}

function isDefaultRegistry(image: string): boolean {
  const first = image.split("/", 1).join("");
  return first === "docker.io" || first === "index.docker.io" || !/[.:]/.test(first);
}

/** SHA-256 of the credential as Go marshals its AuthConfig; registry and key are not part of it. */
export function hashCredential(credential: { username: string; password: string; email: string }): string {
  const { username, password, email } = credential;
  const object = Object.fromEntries(Object.entries({ username, password, email }).filter(([, value]) => value !== ""));
  return sha256(escapeHtml(JSON.stringify(object)));
}
