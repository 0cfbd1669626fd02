// The exec protocol of kubelet credential providers, version v1: one JSON object in, one out.
import { PluginError } from "./errors.ts";
import type { CredentialProviderRequest, CredentialProviderResponse } from "./types.ts";

const API_VERSION = "credentialprovider.kubelet.k8s.io/v1";
const REQUEST_KIND = "CredentialProviderRequest";
const RESPONSE_KIND = "CredentialProviderResponse";

/**
 * Reads a request; unknown fields are passed over, as the real plugin does.
 * @throws PluginError in the real plugin's words; never with a piece of the input, which may hold a token
 */
export function parseRequest(text: string): CredentialProviderRequest {
  const parsed = parseObject(text);
  const apiVersion = readTypeField(parsed, "apiVersion");
  const kind = readTypeField(parsed, "kind");
  if (apiVersion.split("/").length > 2) throw new PluginError(`unexpected GroupVersion string: ${apiVersion}`);
  if (apiVersion !== API_VERSION) throw new PluginError(`group version ${apiVersion} is not supported`);
  // Differs: the real plugin prints the whole request here, token included.
  if (kind === "") throw new PluginError("Object 'Kind' is missing in the request");
  if (kind === RESPONSE_KIND) throw new PluginError(`kind was "${kind}", expected ${REQUEST_KIND}`);
  if (kind !== REQUEST_KIND) {
    const scheme = 'in scheme "pkg/runtime/scheme.go:111"';
    throw new PluginError(`no kind "${kind}" is registered for version "${API_VERSION}" ${scheme}`);
  }
  const image = readString(parsed, "image");
  const serviceAccountToken = readString(parsed, "serviceAccountToken");
  const serviceAccountAnnotations = readAnnotations(parsed.serviceAccountAnnotations);
  if (image === "") throw new PluginError("image in plugin request was empty");
  return { image, serviceAccountToken, serviceAccountAnnotations };
}

/** The answer as one line, keys in the order of the real plugin, escaped as Go escapes. */
export function renderResponse(response: CredentialProviderResponse): string {
  const { cacheDurationSeconds: seconds, host, username, password } = response;
  const wire = {
    kind: RESPONSE_KIND,
    apiVersion: API_VERSION,
    cacheKeyType: "Registry",
    ...(seconds === undefined ? {} : { cacheDuration: renderDuration(seconds) }),
    auth: { [host]: { username, password } },
  };
  const escaped = JSON.stringify(wire).replace(/[<>&\u2028\u2029]/g, escapeCharacter);
  return `${escaped}\n`;
}

/** Whole seconds as Go's `time.Duration` prints them: `0s`, `1m3s`, `6h0m0s`. */
export function renderDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const tail = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${tail}`;
  return minutes > 0 ? `${minutes}m${tail}` : tail;
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function parseObject(text: string): Record<string, unknown> {
  const parsed = parseJson(text);
  if (parsed === null) return {};
  if (typeof parsed === "object" && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
  const into = `Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  throw unreadable(`json: cannot unmarshal ${nameType(parsed)} into ${into}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(describeSyntaxError(text, error));
  }
}

// V8 tells the position but in its message also quotes the input, so the message itself is not passed on.
function describeSyntaxError(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  const start = text.trimStart();
  if (start === "" || /end of JSON input|Unterminated/.test(message)) return "unexpected end of JSON input";
  const position = Number(/at position (\d+)/.exec(message)?.[1] ?? text.length - start.length);
  const character = text[position];
  if (character === undefined) return "unexpected end of JSON input";
  const where = /after JSON/.test(message) ? "after top-level value" : "looking for beginning of value";
  return `invalid character '${character}' ${where}`;
}

function unreadable(reason: string): PluginError {
  return new PluginError(`couldn't get version/kind; json parse error: ${reason}`);
}

function readTypeField(parsed: Record<string, unknown>, name: string): string {
  const value = parsed[name] ?? "";
  if (typeof value === "string") return value;
  throw unreadable(`json: cannot unmarshal ${nameType(value)} into Go struct field .${name} of type string`);
}

function readString(parsed: Record<string, unknown>, name: string): string {
  const value = parsed[name] ?? "";
  if (typeof value === "string") return value;
  throw wrongField(value, name, "string");
}

function readAnnotations(value: unknown): Record<string, string> {
  const field = "serviceAccountAnnotations";
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw wrongField(value, field, "map[string]string");
  const entries = Object.entries(value).map(([key, text]): [string, string] => {
    if (text !== null && typeof text !== "string") throw wrongField(text, field, "string");
    return [key, text ?? ""];
  });
  return Object.fromEntries(entries);
}

function wrongField(value: unknown, name: string, type: string): PluginError {
  const field = `Go struct field ${REQUEST_KIND}.${name} of type ${type}`;
  return new PluginError(`json: cannot unmarshal ${nameType(value)} into ${field}`);
}

function nameType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
