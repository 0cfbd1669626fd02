// Code blocks of a page: programs to run, files to write, output to expect.

/** One fenced block. */
export interface Block {
  readonly language: string;
  /** What follows the language: a file's path, for blocks that are files. */
  readonly file: string;
  readonly text: string;
  /** Line of the fence, from 1. */
  readonly line: number;
}

/** All fenced blocks in order. */
export function listBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const match of markdown.matchAll(/^```(\w+)(?: ([^\n]+))?\n([\s\S]*?)^```$/gm)) {
    const [, language = "", file = "", text = ""] = match;
    blocks.push({ language, file, text, line: markdown.slice(0, match.index).split("\n").length });
  }
  return blocks;
}

/**
 * The lines of an expected output that are not found in an output, in order. Blanks count once, `…` stands for anything;
 * lines between are allowed. Empty if all are found.
 */
export function missingLines(expected: string, output: string): string[] {
  const lines = output.split("\n").map(squeeze);
  let at = 0;
  return expected
    .split("\n")
    .map(squeeze)
    .filter((line) => line !== "" && line !== "…")
    .filter((line) => {
      const pattern = new RegExp(
        `^${line
          .split("…")
          .map((part) => escapePattern(part.trim()))
          .join(".*")}$`,
      );
      const found = lines.findIndex((candidate, index) => index >= at && pattern.test(candidate));
      if (found >= 0) at = found + 1;
      return found < 0;
    });
}

/** Frames of tables count as blanks. */
function squeeze(line: string): string {
  return line.replace(/[│┌┐└┘├┤┬┴┼─\s]+/g, " ").trim();
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
