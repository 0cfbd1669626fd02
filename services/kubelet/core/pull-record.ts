// Pull intents and pulled records: their bytes, written and strictly read (kubelet.md 6.2).
import type { ImagePulledRecord, RecordedCredentials, RecordedSecret, RecordedServiceAccount } from "../types.ts";
import { parseGoJson } from "./go-json.ts";
import type { Profile } from "./profiles.ts";

const GROUP = "kubelet.config.k8s.io";
const KINDS = { intent: "ImagePullIntent", record: "ImagePulledRecord" } as const;

/** A file that this version cannot read. */
class RecordDecodeError extends Error {}

/** The bytes of an intent file. */
export function renderIntent(image: string, profile: Profile): string {
  return `${JSON.stringify({ kind: KINDS.intent, apiVersion: `${GROUP}/${profile.recordVersion}`, image })}\n`;
}

/**
 * The spec string of an intent file.
 * @throws RecordDecodeError
 */
export function parseIntent(text: string, profile: Profile): string {
  const fields = parseRoot(text, { kind: KINDS.intent, known: ["image"], profile });
  return textOf(fields, "image");
}

/** The bytes of a record file; times have whole seconds on disk. */
export function renderRecord(record: ImagePulledRecord, profile: Profile): string {
  const mapping = Object.entries(record.credentialMapping);
  const body = {
    kind: KINDS.record,
    apiVersion: `${GROUP}/${profile.recordVersion}`,
    lastUpdatedTime: record.lastUpdatedTime.toISOString().replace(/\.\d+Z$/, "Z"),
    imageRef: record.imageRef,
    ...(mapping.length > 0
      ? {
          credentialMapping: Object.fromEntries(
            mapping.sort(([a], [b]) => compare(a, b)).map(([name, entry]) => [name, renderEntry(entry)]),
          ),
        }
      : {}),
  };
  return `${JSON.stringify(body)}\n`;
}

function renderEntry(entry: RecordedCredentials) {
  return {
    ...(entry.kubernetesSecrets?.length ? { kubernetesSecrets: entry.kubernetesSecrets } : {}),
    ...(entry.kubernetesServiceAccounts?.length ? { kubernetesServiceAccounts: entry.kubernetesServiceAccounts } : {}),
    ...(entry.nodePodsAccessible ? { nodePodsAccessible: true } : {}),
  };
}

/**
 * A record file's content.
 * @throws RecordDecodeError for an unknown version, field or type: the caller must then pull.
 */
export function parseRecord(text: string, profile: Profile): ImagePulledRecord {
  const fields = parseRoot(text, {
    kind: KINDS.record,
    known: ["lastUpdatedTime", "imageRef", "credentialMapping"],
    profile,
  });
  const lastUpdatedTime = new Date(textOf(fields, "lastUpdatedTime"));
  if (Number.isNaN(lastUpdatedTime.getTime())) throw new RecordDecodeError("lastUpdatedTime is no RFC 3339 time");
  const mapping = Object.entries(fieldsOf(fields.credentialMapping ?? {}, "credentialMapping"));
  return {
    lastUpdatedTime,
    imageRef: textOf(fields, "imageRef"),
    credentialMapping: Object.fromEntries(mapping.map(([name, entry]) => [name, parseEntry(entry, profile)])),
  };
}

function parseEntry(value: unknown, profile: Profile): RecordedCredentials {
  const fields = fieldsOf(value, "credentialMapping");
  const known = profile.recordServiceAccounts
    ? ["kubernetesSecrets", "kubernetesServiceAccounts", "nodePodsAccessible"]
    : ["kubernetesSecrets", "nodePodsAccessible"];
  refuseUnknown(fields, known);
  const secrets = listOf(fields, "kubernetesSecrets").map(
    (item): RecordedSecret => ({
      ...parseCoordinates(item, ["credentialHash"]),
      credentialHash: textOf(item, "credentialHash"),
    }),
  );
  const accounts = listOf(fields, "kubernetesServiceAccounts").map((item) => parseCoordinates(item, []));
  return {
    ...(secrets.length > 0 ? { kubernetesSecrets: secrets } : {}),
    ...(accounts.length > 0 ? { kubernetesServiceAccounts: accounts } : {}),
    ...(fields.nodePodsAccessible === true ? { nodePodsAccessible: true } : {}),
  };
}

function parseCoordinates(fields: Fields, more: readonly string[]): RecordedServiceAccount {
  refuseUnknown(fields, ["uid", "namespace", "name", ...more]);
  return { uid: textOf(fields, "uid"), namespace: textOf(fields, "namespace"), name: textOf(fields, "name") };
}

type Fields = Readonly<Record<string, unknown>>;

function parseRoot(text: string, expected: { kind: string; known: readonly string[]; profile: Profile }): Fields {
  const { value, duplicates } = parseJson(text);
  const fields = fieldsOf(value, expected.kind);
  const [group, version] = textOf(fields, "apiVersion").split("/");
  if (
    fields.kind !== expected.kind ||
    group !== GROUP ||
    !expected.profile.readableRecordVersions.includes(version ?? "")
  ) {
    throw new RecordDecodeError(
      `no kind ${JSON.stringify(fields.kind ?? "")} is registered for version ${JSON.stringify(fields.apiVersion ?? "")}`,
    );
  }
  if (duplicates.length > 0) throw new RecordDecodeError(`strict decoding error: duplicate field "${duplicates[0]}"`);
  refuseUnknown(fields, ["kind", "apiVersion", ...expected.known]);
  return fields;
}

function parseJson(text: string) {
  try {
    return parseGoJson(text);
  } catch (cause) {
    throw new RecordDecodeError(`couldn't get version/kind; json parse error: ${String(cause)}`, { cause });
  }
}

function refuseUnknown(fields: Fields, known: readonly string[]): void {
  const unknown = Object.keys(fields).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new RecordDecodeError(`strict decoding error: unknown field "${unknown}"`);
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new RecordDecodeError(`${what} is no object`);
}

function textOf(fields: Fields, key: string): string {
  const value = fields[key] ?? "";
  if (typeof value !== "string") throw new RecordDecodeError(`${key} is no string`);
  return value;
}

function listOf(fields: Fields, key: string): Fields[] {
  const value = fields[key] ?? [];
  if (!Array.isArray(value)) throw new RecordDecodeError(`${key} is no list`);
  return value.map((item) => fieldsOf(item, key));
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
