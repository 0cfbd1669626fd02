// CredentialProviderConfig: strict decoding as Kubernetes does it (kubelet.md 1.2–1.4, 13.2). No rule about values is kept
// here; those are in provider-config-rules.ts.
import { parseGoDuration } from "./go-duration.ts";
import type { Profile } from "./profiles.ts";

/** KEP-4412's part of a provider. */
export interface TokenAttributes {
  readonly serviceAccountTokenAudience: string;
  readonly cacheType: string;
  readonly requireServiceAccount: boolean | undefined;
  readonly requiredServiceAccountAnnotationKeys: readonly string[];
  readonly optionalServiceAccountAnnotationKeys: readonly string[];
}

/** One provider as configured; empty text stands for a missing field, as in Go. */
export interface CredentialProvider {
  readonly name: string;
  readonly matchImages: readonly string[];
  /** Undefined if the file does not say. */
  readonly defaultCacheDurationMs: number | undefined;
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly tokenAttributes: TokenAttributes | undefined;
}

/** A refusal with the kubelet's own text. */
export class ProviderConfigError extends Error {}

/** One configuration file, already read as JSON or YAML. */
export interface ConfigFile {
  readonly path: string;
  /** The bytes that the configuration hash covers. */
  readonly bytes: Buffer;
  readonly value: unknown;
  /** Duplicate keys and the like, as `strict decoding error` lists them. */
  readonly strictProblems: readonly string[];
}

const GROUP = "kubelet.config.k8s.io";
const VERSIONS = ["v1alpha1", "v1beta1", "v1"];
const KIND = "CredentialProviderConfig";

/**
 * The providers of all files in order.
 * @throws ProviderConfigError naming file and field, or the provider that occurs twice.
 */
export function decodeProviderConfig(files: readonly ConfigFile[], profile: Profile): CredentialProvider[] {
  const seen = new Set<string>();
  return files
    .flatMap((file) => {
      try {
        return decodeFile(file, profile);
      } catch (error) {
        if (!(error instanceof ProviderConfigError)) throw error;
        throw new ProviderConfigError(`error decoding config ${JSON.stringify(file.path)}: ${error.message}`);
      }
    })
    .map((provider) => {
      // ≥ 1.34 the merge sees duplicates before the validator does (1.2); in 1.33 the validator reports them.
      if (profile.configDirectory && seen.has(provider.name)) {
        throw new ProviderConfigError(
          `duplicate provider name ${JSON.stringify(provider.name)} found in configuration file(s)`,
        );
      }
      seen.add(provider.name);
      return provider;
    });
}

type Fields = Readonly<Record<string, unknown>>;

function decodeFile(file: ConfigFile, profile: Profile): CredentialProvider[] {
  const root = file.value;
  if (!isFields(root)) {
    throw new ProviderConfigError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(root)} into Go value`,
    );
  }
  const version = checkKind(root);
  const unknown: string[] = [];
  const context: DecodeContext = {
    unknown,
    tokenAttributes: version === "v1" ? (profile.cacheType ? "with-cache-type" : "without-cache-type") : "none",
  };
  reportUnknown(root, { path: "", known: ["kind", "apiVersion", "providers"] }, unknown);
  const providers = list(root, "providers", "CredentialProviderConfig").map((item, index) =>
    decodeProvider(item, `providers[${index}]`, context),
  );
  const problems = [...file.strictProblems, ...unknown];
  if (problems.length > 0) throw new ProviderConfigError(`strict decoding error: ${problems.join(", ")}`);
  return providers;
}

function checkKind(root: Fields): string {
  const kind = text(root, "kind", KIND);
  const apiVersion = text(root, "apiVersion", KIND);
  if (kind === "") throw new ProviderConfigError(`Object 'Kind' is missing in '${JSON.stringify(root)}'`);
  const slash = apiVersion.indexOf("/");
  const version = apiVersion.slice(slash + 1);
  if (apiVersion.slice(0, Math.max(slash, 0)) !== GROUP || !VERSIONS.includes(version) || kind !== KIND) {
    throw new ProviderConfigError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/credentialprovider/plugin/config.go"`,
    );
  }
  return version;
}

interface DecodeContext {
  readonly unknown: string[];
  readonly tokenAttributes: "none" | "without-cache-type" | "with-cache-type";
}

const PROVIDER_FIELDS = ["name", "matchImages", "defaultCacheDuration", "apiVersion", "args", "env"];
const TOKEN_FIELDS = [
  "serviceAccountTokenAudience",
  "requireServiceAccount",
  "requiredServiceAccountAnnotationKeys",
  "optionalServiceAccountAnnotationKeys",
];

function decodeProvider(item: unknown, path: string, context: DecodeContext): CredentialProvider {
  const fields = fieldsOf(item, "CredentialProvider", "CredentialProvider");
  const known = context.tokenAttributes === "none" ? PROVIDER_FIELDS : [...PROVIDER_FIELDS, "tokenAttributes"];
  reportUnknown(fields, { path, known }, context.unknown);
  const attributes = context.tokenAttributes === "none" ? undefined : fields.tokenAttributes;
  return {
    name: text(fields, "name", "CredentialProvider"),
    matchImages: texts(fields, "matchImages", "CredentialProvider"),
    defaultCacheDurationMs: duration(fields.defaultCacheDuration),
    apiVersion: text(fields, "apiVersion", "CredentialProvider"),
    args: texts(fields, "args", "CredentialProvider"),
    env: list(fields, "env", "CredentialProvider").map((entry, index) =>
      decodeVariable(entry, `${path}.env[${index}]`, context),
    ),
    tokenAttributes:
      attributes === undefined || attributes === null
        ? undefined
        : decodeTokenAttributes(attributes, `${path}.tokenAttributes`, context),
  };
}

function decodeVariable(entry: unknown, path: string, context: DecodeContext): { name: string; value: string } {
  const fields = fieldsOf(entry, "ExecEnvVar", "v1.ExecEnvVar");
  reportUnknown(fields, { path, known: ["name", "value"] }, context.unknown);
  return { name: text(fields, "name", "ExecEnvVar"), value: text(fields, "value", "ExecEnvVar") };
}

function decodeTokenAttributes(item: unknown, path: string, context: DecodeContext): TokenAttributes {
  const type = "ServiceAccountTokenAttributes";
  const fields = fieldsOf(item, type, "v1.ServiceAccountTokenAttributes");
  const known = context.tokenAttributes === "with-cache-type" ? [...TOKEN_FIELDS, "cacheType"] : TOKEN_FIELDS;
  reportUnknown(fields, { path, known }, context.unknown);
  const required = fields.requireServiceAccount ?? undefined;
  if (required !== undefined && typeof required !== "boolean")
    throw typeError(required, `${type}.requireServiceAccount`, "bool");
  return {
    serviceAccountTokenAudience: text(fields, "serviceAccountTokenAudience", type),
    cacheType: text(fields, "cacheType", type),
    requireServiceAccount: required,
    requiredServiceAccountAnnotationKeys: texts(fields, "requiredServiceAccountAnnotationKeys", type),
    optionalServiceAccountAnnotationKeys: texts(fields, "optionalServiceAccountAnnotationKeys", type),
  };
}

function duration(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw typeError(value, "CredentialProvider.providers.defaultCacheDuration", "string");
  const parsed = parseGoDuration(value);
  if (typeof parsed !== "number") throw new ProviderConfigError(`time: ${parsed.problem}`);
  return parsed;
}

function reportUnknown(fields: Fields, at: { path: string; known: readonly string[] }, problems: string[]): void {
  for (const key of Object.keys(fields)) {
    if (at.known.includes(key)) continue;
    problems.push(`unknown field "${at.path === "" ? key : `${at.path}.${key}`}"`);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown, where: string, goType: string): Fields {
  if (isFields(value)) return value;
  throw typeError(value, where, goType);
}

function text(fields: Fields, key: string, where: string): string {
  const value = fields[key] ?? "";
  if (typeof value !== "string") throw typeError(value, `${where}.${key}`, "string");
  return value;
}

function list(fields: Fields, key: string, where: string): readonly unknown[] {
  const value = fields[key] ?? [];
  if (!Array.isArray(value)) throw typeError(value, `${where}.${key}`, "[]string");
  return value;
}

function texts(fields: Fields, key: string, where: string): string[] {
  return list(fields, key, where).map((item) => {
    if (typeof item !== "string") throw typeError(item, `${where}.${key}`, "string");
    return item;
  });
}

function typeError(value: unknown, field: string, goType: string): ProviderConfigError {
  return new ProviderConfigError(
    `json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${goType}`,
  );
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return value === null ? "null" : typeof value;
}
