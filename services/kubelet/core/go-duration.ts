// Go's duration strings (`10m`, `1h2m3.5s`, `-1m0s`); inside they are milliseconds.

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds, or Go's error text without its `time: ` prefix. */
export function parseGoDuration(text: string): number | { readonly problem: string } {
  const quoted = JSON.stringify(text);
  const sign = text.startsWith("-") ? -1 : 1;
  const rest = text.replace(/^[+-]/, "");
  if (rest === "0") return 0;
  const invalid = { problem: `invalid duration ${quoted}` };
  if (rest === "") return invalid;
  let total = 0;
  let at = 0;
  while (at < rest.length) {
    const part = /^(\d+\.?\d*|\.\d+)([^\d.]*)/.exec(rest.slice(at));
    if (!part) return invalid;
    const [whole, number = "", unit = ""] = part;
    if (unit === "") return { problem: `missing unit in duration ${quoted}` };
    const factor = UNITS_MS[unit];
    if (factor === undefined) return { problem: `unknown unit ${JSON.stringify(unit)} in duration ${quoted}` };
    total += Number(number) * factor;
    at += whole.length;
  }
  return sign * total;
}

/** As Go's `Duration.String()`: `0s`, `39ms`, `1.5s`, `1m0s`, `1h0m0s`. */
export function renderGoDuration(ms: number): string {
  if (ms === 0) return "0s";
  const sign = ms < 0 ? "-" : "";
  const value = Math.abs(ms);
  if (value < 1e-3) return `${sign}${trim(value * 1e6)}ns`;
  if (value < 1) return `${sign}${trim(value * 1e3)}µs`;
  if (value < 1000) return `${sign}${trim(value)}ms`;
  const hours = Math.floor(value / 3_600_000);
  const minutes = Math.floor((value % 3_600_000) / 60_000);
  const seconds = `${trim((value % 60_000) / 1000)}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

function trim(value: number): string {
  return String(Number(value.toFixed(6)));
}
