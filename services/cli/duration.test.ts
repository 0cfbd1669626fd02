import { describe, expect, it } from "vitest";
import { parseSeconds } from "./duration.ts";

describe("a duration", () => {
  it.each([
    ["0", 0],
    ["90", 90],
    ["90s", 90],
    ["10m", 600],
    ["1h30m", 5400],
    ["1d12h", 129_600],
  ])("%s is %i seconds", (text, seconds) => {
    expect(parseSeconds(text, "--duration")).toBe(seconds);
    expect(parseSeconds(`-${text}`, "advance", true)).toBe(-seconds);
  });

  it.each(["", "m", "1.5h", "10 m", "1w", "1m30", "-5", "1e3", "99999999999"])("%j is none", (text) => {
    expect(() => parseSeconds(text, "--duration")).toThrow(`--duration: expected seconds or a duration such as 10m`);
  });
});
