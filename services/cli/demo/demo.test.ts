// The demo must be able to fail: broken worlds and broken registries are told apart from good ones.
import { describe, expect, it } from "vitest";
import { DEFAULT_WORLD } from "../../stack/default-world.ts";
import { createStack, type StackOptions } from "../../stack/index.ts";
import { playDemo, type StartDemoStack, selectRows } from "../commands/demo.ts";
import { listFixtures } from "./fixtures.ts";
import { ROWS } from "./rows.ts";
import { judgeStory } from "./run.ts";
import type { Row, Step, Verdict } from "./types.ts";

const startWith =
  (options: StackOptions): StartDemoStack =>
  () =>
    createStack(options);

function play(ids: readonly string[], options: StackOptions = {}) {
  return playDemo(selectRows(ids), { start: startWith(options) });
}

/** The default world after one change. */
function worldWith(change: (world: typeof DEFAULT_WORLD) => void): object {
  const world = structuredClone(DEFAULT_WORLD);
  change(world);
  return world;
}

describe("the demo", { timeout: 90_000 }, () => {
  it("comes out as expected in the default world", async () => {
    const result = await play([]);
    expect(result.rows.filter((row) => !row.ok)).toEqual([]);
    expect(result.ok).toBe(true);
    expect(result.rows.map((row) => row.id)).toEqual(ROWS.map((row) => row.id));
    for (const row of result.rows) {
      expect(row.got).toBe(row.steps.map((step) => step.verdict).join(", "));
      expect(row.reason).not.toBe("");
      expect(row.trace).not.toBe("");
    }
  });

  it("fails when team-a's trust policy loses its sub condition, and says so", async () => {
    const world = worldWith((draft) => {
      const [statement] = draft.accounts["111122223333"].roles["team-a-pull"].trustPolicy.Statement;
      const conditions = (statement as { Condition: { StringEquals: Record<string, string> } }).Condition.StringEquals;
      for (const key of Object.keys(conditions)) if (key.endsWith(":sub")) delete conditions[key];
    });
    const result = await play(["foreign-role", "token-pull"], { world });
    expect(result.ok).toBe(false);
    const [tokenPull, foreignRole] = result.rows;
    expect(tokenPull).toMatchObject({ id: "token-pull", ok: true, got: "pulled" });
    expect(foreignRole).toMatchObject({ id: "foreign-role", ok: false, expected: "denied", got: "leaked" });
    expect(foreignRole?.because).toContain("no condition on");
    expect(foreignRole?.because).toContain(":sub");
  });

  it("fails when a registry ignores the repository policy", async () => {
    const replaceAuthorizer: StackOptions["replaceAuthorizer"] = (_host, authorizer) => ({
      authorize(request) {
        const decision = authorizer.authorize(request);
        return decision.reason === "no-resource-policy-allows"
          ? { ...decision, effect: "allow", reason: "ignored" }
          : decision;
      },
    });
    const result = await play(["shared-base-image", "shared-base-revoked"], { replaceAuthorizer });
    expect(result.rows.map(({ id, got, ok }) => [id, got, ok])).toEqual([
      ["shared-base-image", "pulled", true],
      ["shared-base-revoked", "pulled", false],
    ]);
    expect(result.ok).toBe(false);
  });

  it("calls rows whose fixtures a world lacks not applicable, never passed", async () => {
    const world = worldWith((draft) => {
      delete (draft.accounts["111122223333"].repositories as Partial<Record<string, unknown>>)["team-a/big"];
    });
    const result = await play(["lazy-pull-expiry", "token-pull"], { world });
    expect(result.rows.map(({ id, applicable, ok }) => [id, applicable, ok])).toEqual([
      ["token-pull", true, true],
      ["lazy-pull-expiry", false, false],
    ]);
    expect(result.ok).toBe(true);
    expect((await play(["lazy-pull-expiry"], { world })).ok).toBe(false);
  });

  it("knows no unknown rows", () => {
    expect(() => selectRows(["nonsense"])).toThrow("nonsense");
    expect(selectRows(["no-secret"]).map((row) => row.id)).toEqual(["no-secret"]);
  });
});

describe("a row's judgement", () => {
  const step = (verdict: Verdict): Step => ({ what: "w", verdict, reason: `${verdict}-reason` });
  const row = (changes: Partial<Row>): Row => ({
    id: "r",
    title: "t",
    expected: ["denied"],
    needs: [],
    run: async () => ({ steps: [] }),
    ...changes,
  });

  it.each<[string, Partial<Row>, Parameters<typeof judgeStory>[1], boolean]>([
    ["the expected verdict", {}, { steps: [step("denied")] }, true],
    ["another verdict", {}, { steps: [step("leaked")] }, false],
    ["a step too many", {}, { steps: [step("denied"), step("denied")] }, false],
    ["the twin allowed", { twin: "pulled" }, { steps: [step("denied")], twin: step("pulled") }, true],
    ["the twin denied too", { twin: "pulled" }, { steps: [step("denied")], twin: step("denied") }, false],
    ["no twin at all", { twin: "pulled" }, { steps: [step("denied")] }, false],
    [
      "a preparation gone wrong",
      {},
      { steps: [step("denied")], before: [{ ...step("denied"), expected: "pulled" }] },
      false,
    ],
    [
      "a preparation gone right",
      {},
      { steps: [step("denied")], before: [{ ...step("pulled"), expected: "pulled" }] },
      true,
    ],
    ["a claim that does not hold", {}, { steps: [step("denied")], claims: [{ what: "c", holds: false }] }, false],
    ["a claim that holds", {}, { steps: [step("denied")], claims: [{ what: "c", holds: true }] }, true],
  ])("%s", (_what, changes, story, ok) => {
    expect(judgeStory(row(changes), story, 1).ok).toBe(ok);
  });

  it("takes its reason from the first unexpected step", () => {
    const result = judgeStory(row({ expected: ["pulled", "denied"] }), { steps: [step("leaked"), step("denied")] }, 1);
    expect(result).toMatchObject({ reason: "leaked-reason", expected: "pulled, denied", got: "leaked, denied" });
  });
});

describe("fixtures", () => {
  it("are named by kind", async () => {
    const stack = await createStack();
    const world = await (await fetch(`${stack.control}world`)).json();
    const text = JSON.stringify(world);
    expect(text).not.toContain("team-a-password");
    expect(text).not.toContain("pullproofExampleSecretKey");
    const fixtures = listFixtures(world);
    for (const row of ROWS) expect(row.needs.filter((need) => !fixtures.has(need))).toEqual([]);
    await stack.close();
  });
});
