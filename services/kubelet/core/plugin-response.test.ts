// Requests and answers of plugins: bytes out, texts of every refusal (kubelet.md 2.1, 2.3, 12).
import { describe, expect, test } from "vitest";
import { parsePluginResponse, renderPluginRequest } from "./plugin-response.ts";

const V1 = "credentialprovider.kubelet.k8s.io/v1";
const GOOD = {
  apiVersion: V1,
  kind: "CredentialProviderResponse",
  cacheKeyType: "Registry",
  cacheDuration: "5m0s",
  auth: { "registry.local:5000": { username: "AWS", password: "pw" } },
};
const UNDECODABLE = "error decoding credential provider plugin response from stdout";
const GVK = "error reading GVK from response: couldn't get version/kind; json parse error: ";

test("a request has the kubelet's bytes", () => {
  const request = { apiVersion: V1, image: "registry.local:5000/team-a/app" };
  const annotations = { "demo.example/role": "r1" };
  expect(renderPluginRequest({ ...request, token: "<jwt>", annotations })).toBe(
    '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"registry.local:5000/team-a/app","serviceAccountToken":"\\u003cjwt\\u003e","serviceAccountAnnotations":{"demo.example/role":"r1"}}\n',
  );
  expect(renderPluginRequest({ ...request, token: "", annotations: {} })).toBe(
    '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"registry.local:5000/team-a/app"}\n',
  );
});

describe("an answer", () => {
  const parse = (stdout: string, forbiddenPassword?: string) =>
    parsePluginResponse(stdout, { apiVersion: V1, forbiddenPassword });
  const refusal = (stdout: string, forbiddenPassword?: string) => {
    try {
      return `accepted ${JSON.stringify(parse(stdout, forbiddenPassword))}`;
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  const withFacts = (facts: Record<string, unknown>) => JSON.stringify({ ...GOOD, ...facts });

  test("is read; trailing newlines and empty auth are fine", () => {
    expect(parse(`${JSON.stringify(GOOD)}\n\n`)).toEqual({
      cacheKeyType: "Registry",
      cacheDurationMs: 300_000,
      auth: GOOD.auth,
    });
    expect(parse(withFacts({ auth: null, cacheDuration: null }))).toEqual({
      cacheKeyType: "Registry",
      cacheDurationMs: undefined,
      auth: {},
    });
  });

  test.each([
    ["", `${GVK}unexpected end of JSON input`],
    ["garbage", `${GVK}invalid character 'g' looking for beginning of value`],
    [`${JSON.stringify(GOOD)}x`, `${GVK}invalid character 'x' after top-level value`],
    ['{"a":1,}', `${GVK}invalid character '}' looking for beginning of object key string`],
    ['{"a" 1}', `${GVK}invalid character '1' after object key`],
    ['{"a":1 "b"}', `${GVK}invalid character '"' after object key:value pair`],
    ["[1 2]", `${GVK}invalid character '2' after array element`],
    ["nul!", `${GVK}invalid character '!' in literal null (expecting 'l')`],
    ['"\\x"', `${GVK}invalid character 'x' in string escape code`],
    ["kind: CredentialProviderResponse", `${GVK}invalid character 'k' looking for beginning of value`],
    ["[".repeat(1 << 20), `${GVK}exceeded max depth`],
    ["x".repeat(1 << 20), `${GVK}invalid character 'x' looking for beginning of value`],
    [
      withFacts({ apiVersion: `${V1}beta1` }),
      `apiVersion from credential plugin response did not match expected apiVersion:${V1}, actual apiVersion:${V1}beta1`,
    ],
    [withFacts({ kind: "Other" }), UNDECODABLE],
    [withFacts({ extra: 1 }), UNDECODABLE],
    [withFacts({ auth: { a: { username: "u", password: "p", email: "e" } } }), UNDECODABLE],
    [withFacts({ auth: [] }), UNDECODABLE],
    [withFacts({ cacheDuration: 5 }), UNDECODABLE],
    [JSON.stringify(GOOD).replace('"kind"', '"kind":"CredentialProviderResponse","kind"'), UNDECODABLE],
    [withFacts({ cacheKeyType: "Pod" }), "credential provider plugin did not return a valid cacheKeyType: Pod"],
    [withFacts({ cacheKeyType: "image" }), "credential provider plugin did not return a valid cacheKeyType: image"],
    [
      withFacts({ cacheKeyType: "ServiceAccount" }),
      "credential provider plugin did not return a valid cacheKeyType: ServiceAccount",
    ],
  ])("%.60s is refused", (stdout, text) => {
    expect(refusal(stdout)).toBe(text);
  });

  test("must not hand the token back as a password, unless cacheType is Token", () => {
    expect(refusal(JSON.stringify(GOOD), "pw")).toContain("returned the service account token as the password");
    expect(parse(JSON.stringify(GOOD), undefined).auth).toEqual(GOOD.auth);
    expect(parse(JSON.stringify(GOOD), "other").auth).toEqual(GOOD.auth);
  });
});
