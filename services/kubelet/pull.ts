// Pulls one image with one credential (or none) into the runtime: manifest always asked for, content only where missing,
// every digest verified while it streams by.
import { type Dialer, type DialResponse, readResponse } from "../shared/dial.ts";
import { type Descriptor, MANIFEST_TYPES, ManifestError, parseManifest } from "./core/image-manifest.ts";
import { type ImageName, parseImageName, renderRuntimeName } from "./core/image-name.ts";
import { RegistryPullError } from "./errors.ts";
import { createDigester, RegistryClient, type RegistryLogin } from "./registry-client.ts";
import { listImageNames, type Runtime } from "./runtime.ts";
import type { RuntimeImage } from "./types.ts";

export interface PullOptions {
  /** The spec string with tag or digest. */
  readonly image: string;
  readonly login: RegistryLogin | undefined;
  readonly runtime: Runtime;
  readonly dialer: Dialer;
  readonly traceparent: () => string;
  readonly signal?: AbortSignal | undefined;
}

/** Blobs fetched at a time, as containerd's CRI plugin does. */
const PARALLEL_BLOBS = 3;
const MANIFEST_LIMIT_BYTES = 4 << 20;
const ACCEPT_MANIFEST = `${MANIFEST_TYPES.join(", ")}, */*`;

/**
 * CRI `PullImage`.
 * @throws RegistryPullError with the text that the kubelet gets from the runtime
 */
export async function pullImage(options: PullOptions): Promise<RuntimeImage> {
  const name = parseImageName(options.image);
  const runtimeName = renderRuntimeName(name);
  const client = new RegistryClient({ ...options, domain: name.domain, repository: name.path });
  const frame = `failed to pull and unpack image "${runtimeName}"`;
  const target = await framed(`${frame}: failed to resolve image`, runtimeName, () => resolve(client, name));
  return framed(`${frame}: failed to copy`, runtimeName, async () => {
    const image = await fetchImage({ ...options, client }, target);
    const named = { ...image, ...listImageNames(options.image, target.digest) };
    options.runtime.add(named);
    return options.runtime.find(image.imageRef) ?? named;
  });
}

/** Puts containerd's words around a failure; codes other than Unknown keep gRPC's form (kubelet.md 2.7). */
async function framed<T>(frame: string, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ManifestError) throw new RegistryPullError("pull-failed", `${frame}: ${error.message}`);
    if (!(error instanceof RegistryPullError)) throw error;
    const text =
      error.kind === "image-not-found"
        ? `rpc error: code = NotFound desc = ${frame}: ${name}: not found`
        : `${frame}: ${error.message}`;
    throw new RegistryPullError(error.kind, text, error.detail);
  }
}

/** HEAD by tag or digest: what the name stands for now. This is where access is judged when all content is here. */
async function resolve(client: RegistryClient, name: ImageName): Promise<Descriptor> {
  const reference = name.digest ?? name.tag ?? "latest";
  const head = await client.ask({ method: "HEAD", path: `manifests/${reference}`, accept: ACCEPT_MANIFEST });
  head.body.resume();
  const digest = name.digest ?? headerOf(head, "docker-content-digest");
  if (!digest)
    throw new RegistryPullError("pull-failed", `no digest in the answer to ${client.urlOf(`manifests/${reference}`)}`);
  const size = Number(headerOf(head, "content-length") ?? 0);
  return { digest, size, mediaType: headerOf(head, "content-type") ?? "" };
}

function headerOf(response: DialResponse, name: string): string | undefined {
  const value = response.headers[name];
  return typeof value === "string" ? value : undefined;
}

interface FetchContext extends PullOptions {
  readonly client: RegistryClient;
}

async function fetchImage(context: FetchContext, target: Descriptor): Promise<RuntimeImage> {
  let bytes = await fetchManifest(context, target.digest);
  let manifest = parseManifest(bytes);
  if (manifest.kind === "index") {
    const { child } = manifest;
    if (!child) throw new RegistryPullError("image-not-found", "no match for platform in manifest");
    bytes = await fetchManifest(context, child.digest);
    manifest = parseManifest(bytes);
  }
  if (manifest.kind === "index") throw new RegistryPullError("pull-failed", "an index inside an index");
  const { config, layers } = manifest;
  const waiting = [config, ...layers];
  const worker = async () => {
    for (let blob = waiting.shift(); blob; blob = waiting.shift()) await fetchBlob(context, blob);
  };
  await Promise.all(Array.from({ length: PARALLEL_BLOBS }, worker));
  const size = bytes.length + config.size + layers.reduce((sum, layer) => sum + layer.size, 0);
  return { imageRef: config.digest, size, repoTags: [], repoDigests: [] };
}

async function fetchManifest(context: FetchContext, digest: string): Promise<Buffer> {
  const kept = context.runtime.readContent(digest);
  if (kept) return kept;
  const response = await context.client.ask({ method: "GET", path: `manifests/${digest}`, accept: ACCEPT_MANIFEST });
  const bytes = await readResponse(response, MANIFEST_LIMIT_BYTES);
  const digester = createDigester(digest);
  digester.update(bytes);
  if (!digester.verify()) throw mismatch(`manifest-${digest}`, digester.found(), digest);
  context.runtime.keepContent(digest, bytes);
  return bytes;
}

async function fetchBlob(context: FetchContext, blob: Descriptor): Promise<void> {
  if (context.runtime.hasContent(blob.digest)) return;
  const response = await context.client.ask({
    method: "GET",
    path: `blobs/${blob.digest}`,
    accept: `${blob.mediaType}, */*`,
  });
  const digester = createDigester(blob.digest);
  let size = 0;
  try {
    for await (const chunk of response.body) {
      size += chunk.length;
      digester.update(chunk);
      if (size > blob.size) break;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RegistryPullError("registry-unreachable", `httpReadSeeker: failed open: ${why}`);
  }
  if (size !== blob.size) {
    throw new RegistryPullError(
      "pull-failed",
      `unexpected commit size ${size}, expected ${blob.size}: failed precondition`,
    );
  }
  if (!digester.verify()) throw mismatch(`layer-${blob.digest}`, digester.found(), blob.digest);
  context.runtime.keepContent(blob.digest);
}

function mismatch(ref: string, found: string, expected: string): RegistryPullError {
  return new RegistryPullError(
    "pull-failed",
    `failed commit on ref "${ref}": unexpected commit digest ${found}, expected ${expected}: failed precondition`,
  );
}
