// docs/plugin-authors.md, block by block: files are written, shell blocks run in one shell, and the output shown below
// each is really printed.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackage, linkPackages, ROOT } from "../package/packed.ts";
import { type Block, listBlocks, missingLines } from "./markdown.ts";
import { findFreePort, type PieceResult, runPieces } from "./shell.ts";

const PORT = "4566";
const BLOCKS = listBlocks(readFileSync(join(ROOT, "docs", "plugin-authors.md"), "utf8"));
const FILES = BLOCKS.filter(({ file }) => file !== "");
const SHELL = BLOCKS.filter(({ language, file }) => language === "sh" && file === "");
const nameOf = ({ line }: Block) => `docs/plugin-authors.md:${line}`;

let folder = "";
let results: PieceResult[] = [];
beforeAll(async () => {
  folder = installPackage();
  linkPackages(folder, ["typescript", "@types/node", "undici-types"]);
  for (const { file, text } of FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const port = String(await findFreePort());
  const pieces = SHELL.map((block) => ({ name: nameOf(block), text: block.text.replaceAll(PORT, port) }));
  const environment = { PULLPROOF_PORT: port, PULLPROOF_ENDPOINT: `http://127.0.0.1:${port}`, COLUMNS: "200" };
  results = await runPieces(pieces, { folder, environment });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("docs/plugin-authors.md", () => {
  it("has only blocks that are run, written or compared", () => {
    const others = BLOCKS.filter(({ language, file }) => file === "" && !["sh", "text"].includes(language));
    expect(others.map(nameOf)).toEqual([]);
    expect(SHELL.length).toBeGreaterThan(8);
    expect(results.map(({ name }) => name)).toEqual(SHELL.map(nameOf));
  });

  it.each(BLOCKS.filter(({ language }) => language === "text").map((block) => [nameOf(block), block] as const))(
    "prints what it shows: %s",
    (_name, block) => {
      const before = SHELL.filter(({ line }) => line < block.line).at(-1);
      const output = results.find(({ name }) => before && name === nameOf(before))?.output ?? "";
      expect([missingLines(block.text, output), output]).toEqual([[], output]);
    },
  );

  it("has a test that type-checks", async () => {
    const options = "--noEmit --strict --module nodenext --target es2024 --lib es2024,esnext.disposable --types node";
    const [result] = await runPieces([{ name: "tsc", text: `npx tsc ${options} plugin.test.ts` }], { folder });
    expect(result?.output).toBe("");
  });
});
