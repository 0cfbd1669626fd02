import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { run } from "../main.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pullproof-up-"));
});

/** Runs `up` and, once it has printed its first line, `visit`; then asks it to stop. */
async function up(args: readonly string[], visit: (line: string) => Promise<void> = async () => {}) {
  const result = { code: -1, out: "", err: "" };
  const stop = Promise.withResolvers<void>();
  let visited: Promise<void> | undefined;
  result.code = await run(["up", ...args], {
    stdout: {
      write: (text: string) => {
        result.out += text;
        visited ??= visit(text).finally(() => stop.resolve());
      },
    },
    stderr: { write: (text: string) => (result.err += text) },
    environment: {},
    untilStopped: () => stop.promise,
  });
  await visited;
  return result;
}

describe("up", () => {
  it("prints one line of JSON when ready, and ends with 0 when told to stop", async () => {
    let health: unknown;
    const { code, out, err } = await up(["--port", "0", "--json", "--data-dir", folder], async (line) => {
      const { http } = JSON.parse(line);
      health = await (await fetch(`${http}/_pullproof/health`)).json();
    });
    expect([code, err]).toEqual([0, "stopping …\n"]);
    expect(out.trim().split("\n")).toHaveLength(1);
    const ready = JSON.parse(out);
    expect(ready).toMatchObject({
      ready: true,
      http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      https: expect.stringMatching(/^https:/),
      control: expect.stringContaining("/_pullproof"),
      dataDir: folder,
      startMs: expect.any(Number),
      issuers: { eks: expect.stringMatching(/^https:/) },
      registries: { plain: "registry.pullproof.test" },
    });
    expect(existsSync(ready.ca)).toBe(true);
    expect(health).toMatchObject({ status: "ok", switches: { httpIssuers: false } });
  });

  it("turns switches on and off", async () => {
    let switches: unknown;
    await up(["--port", "0", "--json", "--switch", "httpIssuers", "ecrQuirks=false"], async (line) => {
      const { http } = JSON.parse(line);
      ({ switches } = (await (await fetch(`${http}/_pullproof/health`)).json()) as { switches: unknown });
    });
    expect(switches).toMatchObject({ httpIssuers: true, ecrQuirks: false, verifyThumbprints: false });
  });

  it("prints endpoints and exports for people", async () => {
    const { code, out } = await up(["--port", "0"]);
    expect(code).toBe(0);
    expect(out).toMatch(/issuer +eks +https:/);
    expect(out).toMatch(/^export AWS_ENDPOINT_URL='https:/m);
  });

  it("names cause and cure for a port in use", async () => {
    await using server = net.createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as net.AddressInfo;
    const { code, err } = await up(["--port", String(port)]);
    expect(code).toBe(2);
    expect(err).toMatch(new RegExp(`^error: cannot listen on 127.0.0.1:${port}: .*in use.*\\nhint: .*--port`));
  });

  it("lists every mistake of a wrong world", async () => {
    const world = join(folder, "wrong.yaml");
    writeFileSync(world, "version: 2\nissuers: {}\nextra: 1\n");
    const { code, out, err } = await up(["--port", "0", "--world", world]);
    expect([code, out]).toEqual([2, ""]);
    for (const place of ["1:10: version", "2:10: issuers", "3:1: extra"]) expect(err).toContain(`${world}:${place}`);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it("says that a world file is missing", async () => {
    const { code, err } = await up(["--port", "0", "--world", join(folder, "none.yaml")]);
    expect(code).toBe(2);
    expect(err).toMatch(/cannot read the world file .*none\.yaml: there is no such file\nhint: /);
  });
});
