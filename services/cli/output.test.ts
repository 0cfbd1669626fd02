import { describe, expect, it } from "vitest";
import { clean, createOutput } from "./output.ts";

describe("text of others", () => {
  it.each([
    ["plain", "plain"],
    ["two\nlines\u001b[31m", "two lines [31m"],
    ["\u009b31mred", "31mred"],
    ["x".repeat(300), `${"x".repeat(239)}…`],
  ])("%j becomes one harmless line", (text, line) => {
    expect(clean(text)).toBe(line);
  });
});

describe("progress", () => {
  const written = async (isTTY: boolean) => {
    let text = "";
    const stream = { write: (more: string) => (text += more), isTTY };
    const output = createOutput({ stdout: stream, stderr: stream, environment: {} });
    expect(await output.progress("pulling", Promise.resolve(3))).toBe(3);
    await expect(output.progress("pulling", Promise.reject(new Error("no")))).rejects.toThrow("no");
    return text;
  };

  it("is silent in a pipe, and clears its line on a terminal", async () => {
    expect(await written(false)).toBe("");
    expect(await written(true)).toBe("\r\u001b[K\r\u001b[K");
  });
});
