// What goes to a plugin and what may come back (kubelet.md 2.1, 2.3): order of checks and texts are the kubelet's.
import { parseGoDuration } from "./go-duration.ts";
import { escapeHtml, GoJsonError, parseGoJson } from "./go-json.ts";

/** Which part of the image an answer is good for. */
type CacheKeyType = "Image" | "Registry" | "Global";

/** Registry pattern → credential. */
export type AuthMap = Readonly<Record<string, { readonly username: string; readonly password: string }>>;

/** A plugin's answer after all checks. */
export interface PluginResponse {
  readonly cacheKeyType: CacheKeyType;
  readonly cacheDurationMs: number | undefined;
  readonly auth: AuthMap;
}

/** A refused answer; the text is the kubelet's log line (without its common prefix where it has none). */
export class PluginResponseError extends Error {
  /** True if the kubelet logs it behind `failed to get credential from external registry credential provider: `. */
  readonly prefixed: boolean;

  constructor(message: string, prefixed: boolean) {
    super(message);
    this.prefixed = prefixed;
  }
}

interface PluginRequest {
  readonly apiVersion: string;
  readonly image: string;
  readonly token?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** One JSON object and a newline, keys in the kubelet's order, empty ones left out. */
export function renderPluginRequest(request: PluginRequest): string {
  const annotations = Object.entries(request.annotations ?? {}).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  const body = {
    kind: "CredentialProviderRequest",
    apiVersion: request.apiVersion,
    image: request.image,
    ...(request.token ? { serviceAccountToken: request.token } : {}),
    ...(annotations.length > 0 ? { serviceAccountAnnotations: Object.fromEntries(annotations) } : {}),
  };
  return `${escapeHtml(JSON.stringify(body))}\n`;
}

/** What the answer is checked against. */
interface ResponseExpectation {
  readonly apiVersion: string;
  /** The token sent, if it must not come back as a password (cacheType other than `Token`). */
  readonly forbiddenPassword?: string | undefined;
}

/**
 * Reads a plugin's stdout.
 * @throws PluginResponseError with the kubelet's text; details of the body are left out since they may be secrets.
 */
export function parsePluginResponse(stdout: string, expected: ResponseExpectation): PluginResponse {
  const { value, duplicates } = parseBody(stdout);
  const fields = value as Readonly<Record<string, unknown>>;
  const apiVersion = fields.apiVersion ?? "";
  if (apiVersion !== expected.apiVersion) {
    throw new PluginResponseError(
      `apiVersion from credential plugin response did not match expected apiVersion:${expected.apiVersion}, actual apiVersion:${String(apiVersion)}`,
      true,
    );
  }
  const decoded = duplicates.length > 0 ? undefined : decode(fields);
  if (!decoded) throw new PluginResponseError("error decoding credential provider plugin response from stdout", true);
  const leaks = Object.values(decoded.auth).some((entry) => entry.password === expected.forbiddenPassword);
  if (expected.forbiddenPassword && leaks) {
    throw new PluginResponseError(
      "credential provider plugin returned the service account token as the password which is not allowed when service account cache type is not set to 'Token'",
      false,
    );
  }
  const { cacheKeyType } = decoded;
  if (cacheKeyType !== "Image" && cacheKeyType !== "Registry" && cacheKeyType !== "Global") {
    throw new PluginResponseError(
      `credential provider plugin did not return a valid cacheKeyType: ${cacheKeyType}`,
      false,
    );
  }
  return { ...decoded, cacheKeyType };
}

const GO_TYPE = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;

function parseBody(stdout: string): { value: object; duplicates: readonly string[] } {
  const unreadable = (why: string) =>
    new PluginResponseError(
      `error reading GVK from response: couldn't get version/kind; json parse error: ${why}`,
      true,
    );
  try {
    const { value, duplicates } = parseGoJson(stdout);
    if (value === null) return { value: {}, duplicates };
    if (typeof value !== "object" || Array.isArray(value)) {
      const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
      throw unreadable(`json: cannot unmarshal ${kind} into Go value of type ${GO_TYPE}`);
    }
    for (const key of ["apiVersion", "kind"]) {
      const text = Object.getOwnPropertyDescriptor(value, key)?.value ?? "";
      if (typeof text !== "string")
        throw unreadable(`json: cannot unmarshal ${typeof text} into Go struct field .${key} of type string`);
    }
    return { value, duplicates };
  } catch (error) {
    if (error instanceof GoJsonError) throw unreadable(error.message);
    throw error;
  }
}

const FIELDS = ["kind", "apiVersion", "cacheKeyType", "cacheDuration", "auth"];

function decode(fields: Readonly<Record<string, unknown>>) {
  if (fields.kind !== "CredentialProviderResponse") return undefined;
  if (Object.keys(fields).some((key) => !FIELDS.includes(key))) return undefined;
  const cacheKeyType = fields.cacheKeyType ?? "";
  const cacheDurationMs = decodeDuration(fields.cacheDuration ?? undefined);
  const auth = decodeAuth(fields.auth ?? {});
  if (typeof cacheKeyType !== "string" || cacheDurationMs === "bad" || !auth) return undefined;
  return { cacheKeyType, cacheDurationMs, auth };
}

function decodeDuration(value: unknown): number | undefined | "bad" {
  if (value === undefined) return undefined;
  if (typeof value !== "string") return "bad";
  const parsed = parseGoDuration(value);
  return typeof parsed === "number" ? parsed : "bad";
}

function decodeAuth(value: unknown): AuthMap | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value).map(
    ([key, item]): [string, { username: string; password: string }] | undefined => {
      const credential = item ?? {};
      if (typeof credential !== "object" || Array.isArray(credential)) return undefined;
      if (Object.keys(credential).some((name) => name !== "username" && name !== "password")) return undefined;
      const { username = "", password = "" } = credential as Record<string, unknown>;
      if (typeof (username ?? "") !== "string" || typeof (password ?? "") !== "string") return undefined;
      return [key, { username: String(username ?? ""), password: String(password ?? "") }];
    },
  );
  return entries.every((entry) => entry !== undefined) ? Object.fromEntries(entries) : undefined;
}
