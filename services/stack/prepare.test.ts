import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DEFAULT_WORLD } from "./default-world.ts";
import { createStack, listHostNames, parseWorldObject } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "pullproof-prepare-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const health = async (url: string) => {
  const answer = await fetch(`${url}/_pullproof/health`);
  return [answer.status, ((await answer.json()) as { services: Record<string, string> }).services.init];
};

describe("prepare", () => {
  it("runs while the stack answers, and before health says that it is ready", async () => {
    let during: unknown;
    const stack = await createStack({
      prepare: async ({ http }) => {
        during = await health(http);
      },
    });
    expect([during, await health(stack.http)]).toEqual([
      [503, "running"],
      [200, "ok"],
    ]);
    await stack.close();
  });

  it("that fails fails the start, and nothing goes on listening", async () => {
    let http = "";
    const start = createStack({
      prepare: async (stack) => {
        http = stack.http;
        throw new Error("not today");
      },
    });
    await expect(start).rejects.toThrow("not today");
    await expect(fetch(http)).rejects.toThrow();
  });
});

describe("a folder that stays", () => {
  it("keeps the issuers' keys, so that a token outlives a restart; a temporary one does not", async () => {
    const request = { namespace: "team-a", serviceAccount: "puller", audience: "sts.amazonaws.com" };
    const verify = async (dataDir: string | undefined) => {
      const options = dataDir === undefined ? {} : { dataDir };
      const first = await createStack(options);
      const { token } = await first.rooms.tokens.mint("eks", request);
      await first.close();
      const second = await createStack(options);
      const query = new URLSearchParams({
        Action: "AssumeRoleWithWebIdentity",
        Version: "2011-06-15",
        RoleArn: "arn:aws:iam::111122223333:role/team-a-pull",
        RoleSessionName: "again",
        WebIdentityToken: token,
      });
      const answer = await fetch(second.http, { method: "POST", body: query });
      await second.close();
      return answer.status;
    };
    expect([await verify(join(folder, "data")), await verify(undefined)]).toEqual([200, 400]);
    const key = join(folder, "data", "issuers", "eks.RS256.pem");
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(existsSync(join(folder, "data", "issuers", "rogue.ES256.pem"))).toBe(true);
  });
});

describe("stacks that share a sealing key", () => {
  it("accept each other's sessions; others do not", async () => {
    const role = "arn:aws:iam::111122223333:role/team-a-pull";
    const request = { roleArn: role, sessionName: "shared", durationSeconds: 900, lineage: "l" };
    const judge = async (keys: readonly [string, string]) => {
      const [first, second] = await Promise.all(keys.map((sealingKey) => createStack({ sealingKey })));
      if (!first || !second) throw new Error("expected two stacks");
      const { accessKeyId, sessionToken } = first.rooms.sts.mintSession(request);
      const found = second.rooms.sts.resolver.resolve(accessKeyId, sessionToken);
      const ids = [first, second].map(({ rooms }) => rooms.iam.findRole(role)?.id);
      await Promise.all([first.close(), second.close()]);
      return [typeof found, ids[0] === ids[1]];
    };
    expect(await judge(["one", "one"])).toEqual(["object", true]);
    expect(await judge(["one", "two"])).toEqual(["string", false]);
  });
});

describe("a given key", () => {
  it.each(["two words", "ümlaut", "a\nb"])("%j is refused, as no client could send it", async (controlKey) => {
    await expect(createStack({ controlKey })).rejects.toThrow(/expected the control key to consist of letters/);
  });

  it("is taken as it is", async () => {
    const stack = await createStack({ controlKey: "key-of-ours" });
    expect(stack.controlKey).toBe("key-of-ours");
    await stack.close();
  });
});

describe("addresses and names", () => {
  it("a stack on every address is reached on the loopback one", async () => {
    const stack = await createStack({ host: "0.0.0.0" });
    expect(stack.http).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await stack.env()).AWS_ENDPOINT_URL).toBe(stack.https);
    await stack.close();
  });

  it("lists the names of a world", () => {
    const names = listHostNames(parseWorldObject(DEFAULT_WORLD));
    expect(names).toContain("444455556666.dkr.ecr.us-west-2.amazonaws.com");
    expect(names).toContain("registry.pullproof.test");
    expect(names).not.toContain("kubernetes");
  });
});
