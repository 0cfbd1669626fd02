// The part of a Pod manifest that image pulls look at.
import { ConfigurationError } from "../../shared/errors.ts";
import type { ContainerVerdict } from "../types.ts";
import { defaultPullPolicy } from "./image-tag.ts";

export type PullPolicy = "Always" | "IfNotPresent" | "Never";

/** One container or image volume. */
export interface PodImage {
  readonly name: string;
  readonly kind: ContainerVerdict["kind"];
  readonly image: string;
  readonly policy: PullPolicy;
  /** Names of the Pod's volumes that a container mounts. */
  readonly mounts: readonly string[];
}

/** A Pod as the kubelet sees it. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Undefined for static Pods only: admission gives every other one a ServiceAccount. */
  readonly serviceAccountName: string | undefined;
  readonly pullSecretNames: readonly string[];
  readonly images: readonly PodImage[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a Pod manifest as the API server returns it.
 * @throws ConfigurationError naming the field
 */
export function parsePod(manifest: unknown): Pod {
  const root = fieldsOf(manifest, "Pod");
  const metadata = fieldsOf(root.metadata, "metadata");
  const spec = fieldsOf(root.spec, "spec");
  const isStatic =
    (fieldsOf(metadata.annotations ?? {}, "metadata.annotations")["kubernetes.io/config.source"] ?? "api") !== "api";
  const account = spec.serviceAccountName;
  return {
    namespace: text(metadata, "namespace", "metadata"),
    name: text(metadata, "name", "metadata"),
    uid: text(metadata, "uid", "metadata"),
    annotations: parseAnnotations(metadata.annotations ?? {}),
    serviceAccountName: !isStatic && typeof account === "string" && account !== "" ? account : undefined,
    pullSecretNames: list(spec, "imagePullSecrets", "spec").flatMap((item, index) => {
      const name = fieldsOf(item, `spec.imagePullSecrets[${index}]`).name;
      return typeof name === "string" && name !== "" ? [name] : []; // empty names are skipped (2.8)
    }),
    images: [
      ...parseVolumes(spec),
      ...parseContainers(spec, "initContainers", "init"),
      ...parseContainers(spec, "containers", "container"),
      ...parseContainers(spec, "ephemeralContainers", "ephemeral"),
    ],
  };
}

function parseContainers(spec: Fields, key: string, kind: PodImage["kind"]): PodImage[] {
  return list(spec, key, "spec").map((item, index) => {
    const path = `spec.${key}[${index}]`;
    const fields = fieldsOf(item, path);
    const image = text(fields, "image", path);
    const mounts = list(fields, "volumeMounts", path).map((mount, i) =>
      text(fieldsOf(mount, `${path}.volumeMounts[${i}]`), "name", path),
    );
    return {
      name: text(fields, "name", path),
      kind,
      image,
      policy: parsePolicy(fields.imagePullPolicy, image, path),
      mounts,
    };
  });
}

function parseVolumes(spec: Fields): PodImage[] {
  return list(spec, "volumes", "spec").flatMap((item, index) => {
    const path = `spec.volumes[${index}]`;
    const fields = fieldsOf(item, path);
    if (fields.image === undefined) return [];
    const source = fieldsOf(fields.image, `${path}.image`);
    const image = text(source, "reference", `${path}.image`);
    const policy = parsePolicy(source.pullPolicy, image, `${path}.image`);
    return [{ name: text(fields, "name", path), kind: "volume" as const, image, policy, mounts: [] }];
  });
}

function parsePolicy(value: unknown, image: string, path: string): PullPolicy {
  if (value === undefined || value === "") return defaultPullPolicy(image);
  if (value === "Always" || value === "IfNotPresent" || value === "Never") return value;
  throw new ConfigurationError(
    `${path}.imagePullPolicy: expected Always, IfNotPresent or Never, found ${JSON.stringify(value)}`,
  );
}

function parseAnnotations(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(value, "metadata.annotations")).map(([key, item]) => [key, String(item)]),
  );
}

function fieldsOf(value: unknown, path: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value));
  throw new ConfigurationError(`${path}: expected an object, found ${JSON.stringify(value)}`);
}

function list(fields: Fields, key: string, path: string): readonly unknown[] {
  const value = fields[key] ?? [];
  if (Array.isArray(value)) return value;
  throw new ConfigurationError(`${path}.${key}: expected a list, found ${JSON.stringify(value)}`);
}

function text(fields: Fields, key: string, path: string): string {
  const value = fields[key];
  if (typeof value === "string" && value !== "") return value;
  throw new ConfigurationError(`${path}.${key}: expected a non-empty string, found ${JSON.stringify(value)}`);
}
