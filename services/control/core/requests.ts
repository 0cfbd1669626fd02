// Parsers of the control API: unknown in, typed value or a refusal that says what was expected and found.
import { ControlError } from "../errors.ts";
import type { EventFilter, TokenMintRequest } from "../types.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A JSON object from raw bytes. */
export function parseObject(bytes: Buffer): Fields {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8") || "{}");
  } catch (cause) {
    throw new ControlError("BadRequest", `expected a JSON object, found text that is no JSON: ${String(cause)}`, {
      cause,
    });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ControlError("BadRequest", `expected a JSON object, found ${describe(value)}`);
  }
  return value as Fields;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `${typeof value} ${JSON.stringify(value)}`;
}

function refuseUnknown(fields: Fields, known: readonly string[]): void {
  const unknown = Object.keys(fields).filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    throw new ControlError("BadRequest", `expected only ${known.join(", ")}, found ${unknown.join(", ")}`);
  }
}

function text(fields: Fields, name: string, fallback?: string): string {
  const value = fields[name] ?? fallback;
  if (typeof value !== "string" || value === "") {
    throw new ControlError("BadRequest", `expected ${name} as a text, found ${describe(value)}`);
  }
  return value;
}

export type ClockChange =
  | { readonly kind: "system" }
  | { readonly kind: "set"; readonly now: Date }
  | { readonly kind: "advance"; readonly seconds: number }
  | { readonly kind: "freeze"; readonly frozen: boolean };

/** Exactly one of `{now}`, `{advanceSeconds}`, `{frozen}`, `{now: "system"}`. */
export function parseClockChange(fields: Fields): ClockChange {
  refuseUnknown(fields, ["now", "advanceSeconds", "frozen"]);
  if (Object.keys(fields).length !== 1) {
    throw new ControlError(
      "BadRequest",
      `expected one of now, advanceSeconds, frozen, found ${Object.keys(fields).length} of them`,
    );
  }
  const { now, advanceSeconds, frozen } = fields;
  if (now === "system") return { kind: "system" };
  if (typeof now === "string" && /^\d{4}-\d\d-\d\dT/.test(now) && !Number.isNaN(Date.parse(now))) {
    return { kind: "set", now: new Date(now) };
  }
  if (typeof advanceSeconds === "number" && Number.isFinite(advanceSeconds))
    return { kind: "advance", seconds: advanceSeconds };
  if (typeof frozen === "boolean") return { kind: "freeze", frozen };
  throw new ControlError(
    "BadRequest",
    `expected now (RFC 3339 or "system"), advanceSeconds (number) or frozen (boolean), found ${JSON.stringify(fields)}`,
  );
}

/** Query parameters of `GET events`; `Last-Event-ID` stands in for `since`. */
export function parseEventFilter(query: URLSearchParams, lastEventId: string | undefined): EventFilter {
  const filter: Record<string, string | number> = {};
  for (const [name, value] of query) {
    if (["trace", "lineage", "operation", "principal", "decision"].includes(name)) filter[name] = value;
    else if (name === "since" || name === "limit") filter[name] = wholeNumber(name, value);
    else
      throw new ControlError(
        "BadRequest",
        `expected since, trace, lineage, operation, principal, decision or limit, found ${name}`,
      );
  }
  if (lastEventId !== undefined) filter.since = wholeNumber("Last-Event-ID", lastEventId);
  return filter;
}

function wholeNumber(name: string, value: string): number {
  if (!/^\d{1,15}$/.test(value))
    throw new ControlError("BadRequest", `expected ${name} as a whole number, found "${value}"`);
  return Number(value);
}

/** `{alg?, keepOld?}`; the old key stays published unless `keepOld` is false. */
export function parseRotation(fields: Fields): { alg?: string; keepOld: boolean } {
  refuseUnknown(fields, ["alg", "keepOld"]);
  const { keepOld = true } = fields;
  if (typeof keepOld !== "boolean")
    throw new ControlError("BadRequest", `expected keepOld as a boolean, found ${describe(keepOld)}`);
  return fields.alg === undefined ? { keepOld } : { alg: text(fields, "alg"), keepOld };
}

/** `{serviceAccount, namespace, audience, expirationSeconds?, bad?}` */
export function parseMintRequest(fields: Fields): TokenMintRequest {
  refuseUnknown(fields, ["serviceAccount", "namespace", "audience", "expirationSeconds", "bad"]);
  const { expirationSeconds } = fields;
  if (expirationSeconds !== undefined && !Number.isSafeInteger(expirationSeconds)) {
    throw new ControlError(
      "BadRequest",
      `expected expirationSeconds as a whole number, found ${describe(expirationSeconds)}`,
    );
  }
  return {
    serviceAccount: text(fields, "serviceAccount"),
    namespace: text(fields, "namespace", "default"),
    audience: text(fields, "audience", "sts.amazonaws.com"),
    ...(typeof expirationSeconds === "number" ? { expirationSeconds } : {}),
    ...(fields.bad === undefined ? {} : { bad: text(fields, "bad") }),
  };
}
