// Wrong worlds and a taken port, through the real command: exit code 2, file, line and column, cause and cure, no stack
// trace. The twin of each is the same file without the mistake.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "./main.ts";

const BIN = join(import.meta.dirname, "bin.cjs");
const WORLD = readFileSync(new URL("../stack/testdata/world.yaml", import.meta.url), "utf8");

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pullproof-world-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs `up`; once it is ready it is asked to stop. */
function up(args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [BIN, "up", "--json", ...args], { env: {}, stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
    child.kill("SIGTERM");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...said })));
}

function upWith(name: string, world: string) {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, world);
  return up(["--port", "0", "--world", file]).then((result) => ({ ...result, file }));
}

const BOMB = `bomb:\n${Array.from({ length: 9 }, (_, level) => {
  const inside = level === 0 ? '"x"' : `*level${level - 1}`;
  return `  level${level}: &level${level} [${Array(9).fill(inside).join(", ")}]\n`;
}).join("")}`;

/** In testdata/world.yaml `from` becomes `to`; the mistake is told at `mark` (the last one in the file). */
interface Mistake {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly mark: string;
  readonly text: string;
}

const MISTAKES: readonly Mistake[] = [
  {
    what: "two roles of one name",
    from: "    roles:\n",
    to: '    roles:\n      puller: {trustPolicy: {Version: "2012-10-17", Statement: []}}\n',
    mark: "puller:\n",
    text: 'accounts["111122223333"].roles.puller: expected each key once, found a second one of the same name',
  },
  {
    what: "a role without trust policy",
    from: /\n {8}trustPolicy: .*/.exec(WORLD)?.[0] ?? "",
    to: "",
    mark: "puller:\n",
    text: 'accounts["111122223333"].roles.puller.trustPolicy: expected the key trustPolicy, found nothing',
  },
  {
    what: "an unknown key",
    from: "switches: {httpIssuers: false}",
    to: "switches: {httpIssuers: false, fast: true}",
    mark: "fast",
    text: "switches.fast: expected one of httpIssuers",
  },
  {
    what: "a misspelt key",
    from: "region: eu-central-1",
    to: "regoin: eu-central-1",
    mark: "regoin",
    text: 'found the unknown key "regoin"',
  },
  {
    what: "an alias bomb",
    from: "version: 1\n",
    to: `version: 1\n${BOMB}`,
    mark: "*level5, *level5, *level5, *level5, *level5, *level5, *level5, *level5, *level5]",
    text: "bomb.level6[0]: expected aliases that repeat at most 1000000 values, found *level5",
  },
  {
    what: "an alias of nothing",
    from: "region: eu-central-1",
    to: "region: *nothing",
    mark: "*nothing",
    text: "expected",
  },
  {
    what: "a tab for indentation",
    from: "      ci: {path",
    to: "\tci: {path",
    mark: "\tci",
    text: "expected spaces for indentation, found a tab",
  },
];

describe("a world", () => {
  it("without a mistake starts, and ends with 0", async () => {
    const { code, out, err } = await upWith("good", WORLD);
    expect([code, err]).toEqual([0, "stopping …\n"]);
    expect(JSON.parse(out)).toMatchObject({ ready: true });
  });

  it.each(MISTAKES)("with $what: 2, and where it is", async ({ what, from, to, mark, text }) => {
    expect(WORLD).toContain(from);
    const world = WORLD.replace(from, () => to);
    const before = world.slice(0, world.lastIndexOf(mark));
    const place = `${before.split("\n").length}:${before.length - before.lastIndexOf("\n")}`;
    const { code, out, err, file } = await upWith(what.replaceAll(" ", "-"), world);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^error: .*: \d mistakes?\n/);
    expect(err.split("\n").find((line) => line.startsWith(`  ${file}:${place}: `))).toContain(text);
    expectNoInsides(err);
  });

  it("that is binary, a folder or not there: 2, and which", async () => {
    const { code, err } = await upWith("binary", "\0\x01\x02\xff".repeat(1000));
    expect([code, err]).toEqual([2, expect.stringContaining("binary.yaml")]);
    expectNoInsides(err);
    for (const [world, cause] of [
      [folder, /directory/],
      [join(folder, "none.yaml"), /there is no such file/],
    ] as const) {
      const missing = await up(["--port", "0", "--world", world]);
      expect([missing.code, missing.out]).toEqual([2, ""]);
      expect(missing.err).toContain(world);
      expect(missing.err).toMatch(cause);
      expectNoInsides(missing.err);
    }
  });
});

describe("a port", () => {
  it("in use: 2, cause and cure", async () => {
    await using server = net.createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as net.AddressInfo;
    const { code, out, err } = await up(["--port", String(port)]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(new RegExp(`^error: cannot listen on 127.0.0.1:${port}: .*EADDRINUSE.*\nhint: .*--port`));
    expectNoInsides(err);
  });

  it.each(["65536", "http"])("that is none (%j): 2, and what one is", async (port) => {
    const { code, err } = await up(["--port", port]);
    expect(code).toBe(2);
    expect(err).toMatch(/expected the port as a number|argument missing/);
    expectNoInsides(err);
  });
});

describe("a folder of plugins for the demo", () => {
  it("without the plugin: 2, which file and what to do", async () => {
    const said = { out: "", err: "" };
    const code = await run(["demo", "--only", "token-pull", "--plugin", folder], {
      stdout: { write: (text: string) => (said.out += text) },
      stderr: { write: (text: string) => (said.err += text) },
      environment: {},
      untilStopped: () => new Promise(() => {}),
    });
    expect([code, said.out]).toEqual([2, ""]);
    expect(said.err).toBe(
      `error: expected an executable ${join(folder, "ecr-credential-provider")}, found none\n` +
        "hint: put the plugin there under this name and make it executable (chmod +x); --plugin names its folder\n",
    );
  });
});

function expectNoInsides(text: string): void {
  expect(text).not.toMatch(/^\s+at .*:\d+/m);
  expect(text).not.toMatch(/internal error|node:internal|services\//);
}
