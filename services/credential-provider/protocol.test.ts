import { describe, expect, it } from "vitest";
import { parseRequest, renderDuration, renderResponse } from "./protocol.ts";

const HEAD = '"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1"';
const GO_STRUCT =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

describe("a request", () => {
  it("is read with token and annotations", () => {
    const text = `{${HEAD},"image":"a/b","serviceAccountToken":"jwt","serviceAccountAnnotations":{"k":"v"}}\n`;
    expect(parseRequest(text)).toEqual({
      image: "a/b",
      serviceAccountToken: "jwt",
      serviceAccountAnnotations: { k: "v" },
    });
  });

  it("may lack token and annotations, and may hold more than we know", () => {
    const expected = { image: "a", serviceAccountToken: "", serviceAccountAnnotations: {} };
    expect(parseRequest(`{${HEAD},"image":"a"}`)).toEqual(expected);
    expect(parseRequest(`{${HEAD},"image":"a","serviceAccountToken":null,"later":1}`)).toEqual(expected);
  });

  it.each([
    ["", "couldn't get version/kind; json parse error: unexpected end of JSON input"],
    [`{${HEAD},"image":"x"`, "couldn't get version/kind; json parse error: unexpected end of JSON input"],
    ["garbage", "couldn't get version/kind; json parse error: invalid character 'g' looking for beginning of value"],
    [
      `{${HEAD},"image":"x"} trailing`,
      "couldn't get version/kind; json parse error: invalid character 't' after top-level value",
    ],
    ["[]", `couldn't get version/kind; json parse error: json: cannot unmarshal array into ${GO_STRUCT}`],
    ['"x"', `couldn't get version/kind; json parse error: json: cannot unmarshal string into ${GO_STRUCT}`],
    [
      '{"kind":1}',
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ],
    ["null", "group version  is not supported"],
    ["{}", "group version  is not supported"],
    ['{"apiVersion":"a/b/c","kind":"X"}', "unexpected GroupVersion string: a/b/c"],
    [
      `{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1beta1","image":"x"}`,
      "group version credentialprovider.kubelet.k8s.io/v1beta1 is not supported",
    ],
    ['{"apiVersion":"credentialprovider.kubelet.k8s.io/v1"}', "Object 'Kind' is missing in the request"],
    [
      `{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1"}`,
      'kind was "CredentialProviderResponse", expected CredentialProviderRequest',
    ],
    [
      `{"kind":"Foo","apiVersion":"credentialprovider.kubelet.k8s.io/v1"}`,
      'no kind "Foo" is registered for version "credentialprovider.kubelet.k8s.io/v1"',
    ],
    [`{${HEAD}}`, "image in plugin request was empty"],
    [`{${HEAD},"image":""}`, "image in plugin request was empty"],
    [
      `{${HEAD},"image":5}`,
      "json: cannot unmarshal number into Go struct field CredentialProviderRequest.image of type string",
    ],
    [
      `{${HEAD},"image":"a","serviceAccountAnnotations":{"a":1}}`,
      "json: cannot unmarshal number into Go struct field CredentialProviderRequest.serviceAccountAnnotations of type string",
    ],
    [
      `{${HEAD},"image":"a","serviceAccountAnnotations":[]}`,
      "json: cannot unmarshal array into Go struct field CredentialProviderRequest.serviceAccountAnnotations of type map[string]string",
    ],
  ])("%s is refused", (text, message) => {
    expect(() => parseRequest(text)).toThrow(message);
  });

  it("never has its token quoted in a refusal", () => {
    for (const text of [
      '{"serviceAccountToken":"secret-token" x',
      '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","serviceAccountToken":"secret-token"}',
    ]) {
      expect(() => parseRequest(text)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining("secret") }),
      );
    }
  });
});

describe("a response", () => {
  const response = { host: "h", username: "AWS", password: "a<&>\u2028", cacheDurationSeconds: 21_600 };

  it("is one line with the keys and escapes of the real plugin", () => {
    expect(renderResponse(response)).toBe(
      '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","cacheDuration":"6h0m0s","auth":{"h":{"username":"AWS","password":"a\\u003c\\u0026\\u003e\\u2028"}}}\n',
    );
  });

  it("leaves the duration out when there is none", () => {
    expect(renderResponse({ ...response, cacheDurationSeconds: undefined })).not.toContain("cacheDuration");
  });
});

describe("durations", () => {
  it.each([
    [0, "0s"],
    [59, "59s"],
    [63, "1m3s"],
    [3600, "1h0m0s"],
    [21_600, "6h0m0s"],
    [36_061, "10h1m1s"],
  ])("%d s", (seconds, expected) => {
    expect(renderDuration(seconds)).toBe(expected);
  });
});
