// `npm run bench [-- --json] [-- --only P1,P2] [-- --rounds N]`: the goals of the design, measured with their peers in the
// same run. Nothing absolute is kept. Exit code 0 whatever the figures are; 2 when something could not be measured.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Result } from "./measure.ts";

const BENCHES: Readonly<Record<string, (rounds: number) => Promise<Result[]>>> = {
  P1: async (rounds) => (await import("./start.ts")).measureStart(rounds),
  P2: async (rounds) => (await import("./pod.ts")).measurePod(rounds),
  P3: async (rounds) => (await import("./assume.ts")).measureAssume(rounds),
  P4: async (rounds) => (await import("./sign.ts")).measureSign(rounds),
  P5: async (rounds) => (await import("./manifest.ts")).measureManifest(rounds),
  P6: async (rounds) => (await import("./blob.ts")).measurePull(rounds),
  P7: async (rounds) => (await import("./blob.ts")).measurePush(rounds),
  P9: async (rounds) => (await import("./memory.ts")).measureMemory(rounds),
};

function readArguments(): { json: boolean; only: readonly string[]; rounds: number } {
  const { values } = parseArgs({
    options: { json: { type: "boolean", default: false }, only: { type: "string" }, rounds: { type: "string" } },
  });
  const only = values.only?.split(",") ?? Object.keys(BENCHES);
  const unknown = only.filter((id) => !(id in BENCHES));
  if (unknown.length > 0) {
    throw new Error(`--only: expected some of ${Object.keys(BENCHES).join(", ")}, found ${unknown.join(", ")}`);
  }
  const rounds = Number(values.rounds ?? 15);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds: expected a number, found ${values.rounds}`);
  return { json: values.json, only, rounds };
}

function renderLine(result: Result): string {
  const { id, what, ours, peer, unit, ratio, goal, ok, spread, against } = result;
  const figures = `${ours.toFixed(1)} ${unit} (${spread.map((value) => value.toFixed(1)).join("–")})`;
  const versus = peer === undefined ? "" : `; ${against}: ${peer.toFixed(1)} ${unit}, ratio ${ratio?.toFixed(2)}`;
  return `${ok ? "✓" : "✗"} ${id} ${what}: ${figures}${versus}; goal ${goal}`;
}

async function main(): Promise<void> {
  const { json, only, rounds } = readArguments();
  if (!existsSync(join(import.meta.dirname, "..", "dist", "testing", "index.js"))) {
    throw new Error("the built package is measured and is not there: run `npm run build` first");
  }
  const results: Result[] = [];
  for (const id of only) {
    const measured = (await BENCHES[id]?.(rounds)) ?? [];
    if (!json) for (const result of measured) console.log(renderLine(result));
    results.push(...measured);
  }
  if (json) console.log(JSON.stringify({ results }));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});
