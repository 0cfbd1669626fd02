// Descriptors inside manifests: a reference to content by digest, size and media type (image-spec v1.1.1, descriptor.md).
import { RegistryError } from "../errors.ts";
import type { Digest } from "../types.ts";
import { digestOf, parseDigest } from "./digest.ts";

export interface Descriptor {
  readonly digest: Digest;
  readonly size: number;
  readonly mediaType: string;
  /** The content may be fetched from elsewhere and need not be here. */
  readonly hasUrls: boolean;
}

/**
 * One descriptor; `where` names it in the refusal.
 * @throws RegistryError manifest-invalid
 */
export function parseDescriptor(value: unknown, where: string): Descriptor {
  if (!isRecord(value)) throw invalid(`expected ${where} to be a descriptor`);
  const { digest, size, mediaType, urls, data } = value;
  const algorithm = typeof digest === "string" ? parseDigest(digest) : undefined;
  if (typeof digest !== "string" || !algorithm) {
    throw invalid(`expected ${where}.digest to be a sha256 or sha512 digest, found ${JSON.stringify(digest)}`);
  }
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
    throw invalid(`expected ${where}.size to be an integer of at least 0, found ${JSON.stringify(size)}`);
  }
  if (typeof mediaType !== "string" && mediaType !== undefined) {
    throw invalid(`expected ${where}.mediaType to be a string`);
  }
  if (data !== undefined) {
    const bytes = typeof data === "string" ? parseBase64(data) : undefined;
    if (bytes?.length !== size || digestOf(bytes, algorithm) !== digest) {
      throw invalid(`expected ${where}.data to be base64 of the descriptor's size and digest`);
    }
  }
  return { digest, size, mediaType: mediaType ?? "", hasUrls: Array.isArray(urls) && urls.length > 0 };
}

/**
 * A list of descriptors; `where` names it in the refusal.
 * @throws RegistryError manifest-invalid
 */
export function parseDescriptors(value: unknown, where: string): Descriptor[] {
  if (!Array.isArray(value)) throw invalid(`expected ${where} to be a list of descriptors`);
  return value.map((item, index) => parseDescriptor(item, `${where}[${index}]`));
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, "base64") : undefined;
}

function invalid(message: string): RegistryError {
  return new RegistryError("manifest-invalid", message);
}
