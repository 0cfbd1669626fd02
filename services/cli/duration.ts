// Durations and instants as people type them. Pure.
import { ConfigurationError } from "../shared/errors.ts";

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/**
 * Whole seconds out of `90`, `90s`, `10m`, `1h30m`, `12h`, `1d`; a sign is allowed where `signed`.
 * @throws ConfigurationError naming the option
 */
export function parseSeconds(text: string, what: string, signed = false): number {
  const match = /^([+-]?)(?:(\d{1,10})|((?:\d{1,10}[dhms])+))$/.exec(text);
  const sign = match?.[1] ?? "";
  if (!match || (sign !== "" && !signed)) {
    throw new ConfigurationError(`${what}: expected seconds or a duration such as 10m or 1h30m, found "${text}"`);
  }
  const seconds = match[2] === undefined ? sum(match[3] ?? "") : Number(match[2]);
  return sign === "-" ? -seconds : seconds;
}

function sum(text: string): number {
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([dhms])/g)) {
    seconds += Number(count) * (UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS] ?? 0);
  }
  return seconds;
}
