// What each condition operator compares, and how: one row per operator (spec aws 3.3).
import ipaddr from "ipaddr.js";
import { matchesArn, splitArn } from "./arn-pattern.ts";
import { fillTemplate, matchesTemplate, type VariableLookup } from "./match.ts";

/** Does the request's value match the policy's? Undefined if either is not of the operator's type. */
export type Comparison = (value: string, pattern: string, lookup: VariableLookup | undefined) => boolean | undefined;

interface ComparisonFact {
  readonly comparison: Comparison;
  readonly negated: boolean;
}

const equals: Comparison = (value, pattern, lookup) => fillTemplate(pattern, lookup) === value;
const equalsIgnoreCase: Comparison = (value, pattern, lookup) =>
  fillTemplate(pattern, lookup)?.toLowerCase() === value.toLowerCase();
const like: Comparison = matchesTemplate;
const arnLike: Comparison = matchesArn;

const equalsBool: Comparison = (value, pattern) => {
  const [a, b] = [value.toLowerCase(), pattern.toLowerCase()];
  return /^(true|false)$/.test(a) && /^(true|false)$/.test(b) ? a === b : undefined;
};

const equalsBinary: Comparison = (value, pattern) => {
  const [a, b] = [parseBase64(value), parseBase64(pattern)];
  return a && b ? a.equals(b) : undefined;
};

const isInRange: Comparison = (value, pattern) => {
  const range = parseRange(pattern);
  if (!range || !isAddress(value)) return undefined;
  const address = ipaddr.process(value);
  return address.kind() === range[0].kind() && address.match(range);
};

type Order = (a: number, b: number) => boolean;

const ORDERS: Readonly<Record<string, { readonly order: Order; readonly negated?: true }>> = {
  Equals: { order: (a, b) => a === b },
  NotEquals: { order: (a, b) => a === b, negated: true },
  LessThan: { order: (a, b) => a < b },
  LessThanEquals: { order: (a, b) => a <= b },
  GreaterThan: { order: (a, b) => a > b },
  GreaterThanEquals: { order: (a, b) => a >= b },
};

/** By base name, without prefix and suffix. */
export const COMPARISONS: ReadonlyMap<string, ComparisonFact> = new Map<string, ComparisonFact>([
  ["StringEquals", { comparison: equals, negated: false }],
  ["StringNotEquals", { comparison: equals, negated: true }],
  ["StringEqualsIgnoreCase", { comparison: equalsIgnoreCase, negated: false }],
  ["StringNotEqualsIgnoreCase", { comparison: equalsIgnoreCase, negated: true }],
  ["StringLike", { comparison: like, negated: false }],
  ["StringNotLike", { comparison: like, negated: true }],
  ["ArnEquals", { comparison: arnLike, negated: false }],
  ["ArnLike", { comparison: arnLike, negated: false }],
  ["ArnNotEquals", { comparison: arnLike, negated: true }],
  ["ArnNotLike", { comparison: arnLike, negated: true }],
  ["Bool", { comparison: equalsBool, negated: false }],
  ["BinaryEquals", { comparison: equalsBinary, negated: false }],
  ["IpAddress", { comparison: isInRange, negated: false }],
  ["NotIpAddress", { comparison: isInRange, negated: true }],
  ...ordered("Numeric", parseNumber),
  ...ordered("Date", parseInstant),
]);

/** True for what an ARN operator may be given. */
export function isArnPattern(text: string): boolean {
  return splitArn(text) !== undefined;
}

function ordered(family: string, parse: (text: string) => number): [string, ComparisonFact][] {
  return Object.entries(ORDERS).map(([name, { order, negated = false }]) => {
    const comparison: Comparison = (value, pattern) => {
      const [a, b] = [parse(value), parse(pattern)];
      return Number.isNaN(a) || Number.isNaN(b) ? undefined : order(a, b);
    };
    return [family + name, { comparison, negated }];
  });
}

function parseNumber(text: string): number {
  return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/** Milliseconds since the epoch, of ISO 8601 (a day, or an instant with its zone) or of epoch seconds. */
function parseInstant(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  const iso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
  return iso.test(text) ? new Date(text).getTime() : Number.NaN;
}

function parseBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

/** A CIDR, or a bare address as the range of itself. */
function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [base = "", length] = text.split("/", 2);
  if (!isAddress(base)) return undefined;
  if (length !== undefined) return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
  const address = ipaddr.parse(base);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** The library also reads octal and short forms, which mean different addresses to different programs. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}
