// JSON with sorted keys in base64url, as Kubernetes serialises headers and claims.

/** Base64url of the value as JSON with sorted keys. */
export function encodeJson(value: unknown): string {
  return Buffer.from(JSON.stringify(sortKeys(value))).toString("base64url");
}

/** The JSON object inside a base64url text, or undefined if there is none. */
export function decodeJson(text: string): Record<string, unknown> | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // no JSON is an answer here, not an error
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    sorted[key] = typeof member === "object" ? sortKeys(member) : member;
  }
  return sorted;
}
