import { generateKeyPairSync, sign } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import packageFile from "../../package.json" with { type: "json" };
import { startStack } from "../testing/index.ts";
import { DEFAULT_WORLD } from "./default-world.ts";
import { createStack, VERSION } from "./index.ts";

const ACCOUNT = "111122223333";

/** The default world with one more issuer, trusted by the account, and a role that any subject of it may assume. */
function worldTrusting(url: string, how: object, switches: object = {}) {
  const world = structuredClone(DEFAULT_WORLD) as Record<string, unknown> & typeof DEFAULT_WORLD;
  const provider = url.replace(/^https?:\/\//, "");
  const account = world.accounts[ACCOUNT];
  Object.assign(world.issuers, { partner: { url, alg: "ES256", ...how } });
  Object.assign(world.switches, switches);
  (account.oidcProviders as object[]).push({ issuer: "partner", clientIds: ["sts.amazonaws.com"] });
  Object.assign(account.roles, {
    partner: {
      trustPolicy: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Principal: { Federated: `arn:aws:iam::${ACCOUNT}:oidc-provider/${provider}` },
            Action: "sts:AssumeRoleWithWebIdentity",
            Condition: { StringEquals: { [`${provider}:sub`]: "partner-job" } },
          },
        ],
      },
    },
  });
  return world;
}

function partner(url: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "p1", alg: "ES256", use: "sig" };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = (claims: object = {}) => {
    const now = Math.floor(Date.now() / 1000);
    const body = { iss: url, sub: "partner-job", aud: "sts.amazonaws.com", iat: now, exp: now + 600, ...claims };
    const input = `${encode({ alg: "ES256", kid: "p1" })}.${encode(body)}`;
    return `${input}.${sign("sha256", Buffer.from(input), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
  return { jwks: { keys: [jwk] }, token };
}

async function assume(stack: Awaited<ReturnType<typeof startStack>>, token: string): Promise<[number, string]> {
  const form = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: `arn:aws:iam::${ACCOUNT}:role/partner`,
    RoleSessionName: "job",
    WebIdentityToken: token,
  });
  const answer = await stack.fetch("https://sts.us-west-2.amazonaws.com/", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  });
  return [answer.status, /<Code>(\w+)</.exec(await answer.text())?.[1] ?? ""];
}

describe("foreign issuers", () => {
  it("are trusted by the key set that was uploaded", async () => {
    const url = "https://ci.partner.test/tenant";
    const { jwks, token } = partner(url);
    await using stack = await startStack({ world: worldTrusting(url, { jwks }) });
    expect(await assume(stack, token())).toEqual([200, ""]);
    expect(await assume(stack, token({ sub: "other-job" }))).toEqual([403, "AccessDenied"]);
    expect(await assume(stack, partner(url).token())).toEqual([400, "InvalidIdentityToken"]);
  });

  it("are trusted by fetch where the world says so, without opening the network for others", async () => {
    const server = http.createServer((request, response) => {
      const { port } = server.address() as AddressInfo;
      const issuer = `http://127.0.0.2:${port}`;
      const discovery = {
        issuer,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["ES256"],
      };
      response.end(JSON.stringify(request.url === "/jwks" ? keys.jwks : discovery));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
    const url = `http://127.0.0.2:${(server.address() as AddressInfo).port}`;
    const keys = partner(url);
    await using stack = await startStack({ world: worldTrusting(url, { trust: "fetch" }, { httpIssuers: true }) });
    expect(await assume(stack, keys.token())).toEqual([200, ""]);
    await expect(stack.fetch("http://elsewhere.example/")).rejects.toThrow("no such host in this world");
    server.close();
  });
});

describe("a stack", () => {
  it("refuses options and switches that do not exist", async () => {
    await expect(createStack({ prot: 1 } as object)).rejects.toThrow(/found prot/);
    await expect(createStack({ switches: { outsideNetwrok: true } as object })).rejects.toThrow(/found outsideNetwrok/);
    const stack = await createStack({ switches: { outsideNetwork: false } });
    await stack.close();
  });

  it("is healthy while every service answers by its own name", async () => {
    await using stack = await startStack();
    const health = async () => (await fetch(`${stack.control}health`)).json();
    const services = { oidc: "ok", apiserver: "ok", sts: "ok", ecr: "ok", registry: "ok" };
    expect(await health()).toMatchObject({ status: "ok", services });
  });

  it("tells the version of its package", () => {
    expect(VERSION).toBe(packageFile.version);
  });

  it("goes back to the world as loaded", async () => {
    await using stack = await startStack();
    const hello = async () => (await stack.fetch("https://registry.pullproof.test/v2/public/hello/manifests/1")).status;
    await stack.fetch(`${stack.control}registries/plain/repositories/public/hello`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ anonymous: [] }),
    });
    stack.clock.advance(3600);
    expect(await hello()).toBe(401);
    await stack.reset();
    expect(await hello()).toBe(200);
    expect(stack.clock.moved).toBe(false);
  });

  it("keeps its CA and keys in a given folder, and removes a temporary one", async () => {
    const { existsSync, mkdtempSync, rmSync } = await import("node:fs");
    const { tmpdir } = await import("node:os");
    const dataDir = mkdtempSync(`${tmpdir()}/pullproof-stack-`);
    const first = await createStack({ dataDir });
    const [ca, key] = [await first.caPem(), first.controlKey];
    await first.close();
    const second = await createStack({ dataDir });
    expect([await second.caPem(), second.controlKey]).toEqual([ca, key]);
    await second.close();
    rmSync(dataDir, { recursive: true });
    const third = await createStack();
    await third.close();
    expect(existsSync(third.dataDir)).toBe(false);
  });
});
