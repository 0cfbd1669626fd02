// Docker configuration as imagePullSecrets and the node carry it (kubelet.md 2.8, 2.9), with the kubelet's JSON errors.
import { GoJsonError, parseGoJson } from "./go-json.ts";

/** One entry of a docker configuration. */
interface DockerEntry {
  readonly username: string;
  readonly password: string;
  readonly email: string;
}

/** Registry (any of docker's spellings) → entry. */
export type DockerConfig = Readonly<Record<string, DockerEntry>>;

/** Broken JSON in an accepted secret: fatal for the pull. The text is the raw error. */
export class DockerConfigError extends Error {}

/** The part of a Secret that matters here. */
export interface SecretData {
  readonly type: string;
  /** Base64, as the API server has it. */
  readonly data: Readonly<Record<string, string>>;
}

/**
 * The configuration in a Secret; undefined if the kubelet does not accept its type or key.
 * @throws DockerConfigError
 */
export function parsePullSecret(secret: SecretData): DockerConfig | undefined {
  const read = (key: string) => Buffer.from(secret.data[key] ?? "", "base64").toString("utf8");
  const modern = read(".dockerconfigjson");
  if (secret.type === "kubernetes.io/dockerconfigjson" && modern !== "") return parseDockerConfigJson(modern);
  const old = read(".dockercfg");
  if (secret.type === "kubernetes.io/dockercfg" && old !== "") return parseEntries(parse(old));
  return undefined;
}

/**
 * `{"auths": {…}}`.
 * @throws DockerConfigError
 */
export function parseDockerConfigJson(text: string): DockerConfig {
  const root = fieldsOf(parse(text), "DockerConfigJSON");
  return parseEntries(root.auths ?? {});
}

function parse(text: string): unknown {
  try {
    return parseGoJson(text).value;
  } catch (error) {
    if (error instanceof GoJsonError) throw new DockerConfigError(error.message);
    throw error;
  }
}

function parseEntries(value: unknown): DockerConfig {
  return Object.fromEntries(
    Object.entries(fieldsOf(value, "DockerConfig")).map(([registry, item]) => [registry, parseEntry(item ?? {})]),
  );
}

function parseEntry(item: unknown): DockerEntry {
  const fields = fieldsOf(item, "dockerConfigEntryWithAuth");
  const text = (key: string): string => {
    const value = fields[key] ?? "";
    if (typeof value === "string") return value;
    throw new DockerConfigError(
      `json: cannot unmarshal ${typeof value} into Go struct field dockerConfigEntryWithAuth.${key} of type string`,
    );
  };
  const entry = { username: text("username"), password: text("password"), email: text("email") };
  const auth = text("auth");
  return auth === "" ? entry : { ...entry, ...splitAuth(auth) };
}

/** `auth` is base64 of `user:password`, padded or not, and wins over the plain fields. */
function splitAuth(auth: string): { username: string; password: string } {
  const stripped = auth.replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(stripped) || stripped.length % 4 === 1) {
    const at = auth.search(/[^A-Za-z0-9+/]/);
    throw new DockerConfigError(`illegal base64 data at input byte ${at < 0 ? auth.length : at}`);
  }
  const text = Buffer.from(stripped, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0)
    throw new DockerConfigError("unable to parse auth field, must be formatted as base64(username:password)");
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function fieldsOf(value: unknown, type: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value));
  const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  throw new DockerConfigError(`json: cannot unmarshal ${kind} into Go value of type credentialprovider.${type}`);
}
