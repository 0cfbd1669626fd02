import http from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { createRemoteJWKSet, customFetch, jwtVerify } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MovableClock } from "../shared/clock.ts";
import { createMemorySink } from "../shared/event.ts";
import { createSeededRandom } from "../shared/random.ts";
import { createOidcRouter } from "./http.ts";
import { createIssuer } from "./issuer.ts";

const clock = new MovableClock();
clock.set(new Date("2026-09-21T14:13:20Z"));
clock.freeze(true);
const random = createSeededRandom("oidc-http");
const events = createMemorySink();
const eks = createIssuer({ name: "eks", url: "https://oidc.eks.test/id/1", alg: "ES256", clock, random });
const bare = createIssuer({ name: "bare", url: "https://bare.test", alg: "ES384", clock, random });
const slash = createIssuer({ name: "slash", url: "https://slash.test/", alg: "ES256", clock, random });
const app = express()
  .disable("x-powered-by")
  .use(createOidcRouter({ issuers: [eks, bare, slash], clock, random, events }));
const server = http.createServer(app);

beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
afterAll(() => void server.close());

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

function ask(url: string, options: { method?: string; body?: string } = {}): Promise<Answer> {
  const { host, pathname, search } = new URL(url);
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const settings = {
      port,
      host: "127.0.0.1",
      method: options.method ?? "GET",
      path: pathname + search,
      headers: { host },
    };
    const request = http.request(settings, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on("error", reject).end(options.body);
  });
}

test("the discovery document has EKS's members and points to the issuer's own keys", async () => {
  const answer = await ask("http://oidc.eks.test/id/1/.well-known/openid-configuration");
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ "content-type": "application/json", "cache-control": "public, max-age=3600" });
  expect(answer.headers.date).toBe("Mon, 21 Sep 2026 14:13:20 GMT");
  expect(JSON.parse(answer.text)).toEqual({
    issuer: "https://oidc.eks.test/id/1",
    jwks_uri: "https://oidc.eks.test/id/1/keys",
    authorization_endpoint: "urn:kubernetes:programmatic_authorization",
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    claims_supported: ["sub", "iss"],
    id_token_signing_alg_values_supported: ["ES256"],
  });
});

test.each([
  ["an issuer without a path", "http://bare.test/.well-known/openid-configuration", "https://bare.test/keys"],
  [
    "an issuer with a slash at the end",
    "http://slash.test/.well-known/openid-configuration",
    "https://slash.test/keys",
  ],
  ["a port in the Host header", "http://bare.test:4566/.well-known/openid-configuration", "https://bare.test/keys"],
])("discovery works for %s", async (_what, url, jwksUri) => {
  expect(JSON.parse((await ask(url)).text)).toMatchObject({ jwks_uri: jwksUri });
});

test("a library that fetches the key set verifies a token with it", async () => {
  const { token } = await eks.mint({ subject: "s", audiences: ["a"] });
  const fetchHere = async (url: string) => {
    const answer = await ask(url.replace("https:", "http:"));
    expect(answer.headers["content-type"]).toBe("application/jwk-set+json");
    return new Response(answer.text, { status: answer.status });
  };
  const keys = createRemoteJWKSet(new URL("https://oidc.eks.test/id/1/keys"), { [customFetch]: fetchHere });
  const { payload } = await jwtVerify(token, keys, { issuer: eks.url, audience: "a", currentDate: clock.now() });
  expect(payload.sub).toBe("s");
});

test.each([
  ["an unknown path", "http://oidc.eks.test/id/1/token", "GET", 404, "not_found"],
  ["the issuer's path without its document", "http://oidc.eks.test/id/1", "GET", 404, "not_found"],
  ["another issuer's path", "http://oidc.eks.test/id/2/keys", "GET", 404, "not_found"],
  ["another host", "http://other.test/id/1/keys", "GET", 404, "not_found"],
  ["a member that every object has", "http://bare.test/constructor", "GET", 404, "not_found"],
  ["an encoded path", "http://oidc.eks.test/id/%31/keys", "GET", 404, "not_found"],
  ["a write", "http://oidc.eks.test/id/1/keys", "POST", 405, "method_not_allowed"],
])("%s is refused", async (_what, url, method, status, error) => {
  const answer = await ask(url, { method, ...(method === "POST" ? { body: "x".repeat(100_000) } : {}) });
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.text)).toMatchObject({ error });
  expect(events.events.at(-1)).toMatchObject({ decision: "deny", reason: error.replaceAll("_", "-"), status });
});

test("HEAD answers like GET, without a body; every fetch is one event", async () => {
  events.events.length = 0;
  const answer = await ask("http://oidc.eks.test/id/1/keys", { method: "HEAD" });
  expect([answer.status, answer.text]).toEqual([200, ""]);
  expect(events.events).toMatchObject([
    { operation: "oidc:GetKeys", resource: eks.url, status: 200, decision: "none" },
  ]);
});
