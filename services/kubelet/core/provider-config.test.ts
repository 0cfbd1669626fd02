// CredentialProviderConfig: strict decoding and all rules with the real texts (kubelet.md 1.2–1.5, 13.2).
import { describe, expect, test } from "vitest";
import { parseManifestText } from "./manifest-text.ts";
import { PROFILES } from "./profiles.ts";
import { type ConfigFile, decodeProviderConfig, ProviderConfigError } from "./provider-config.ts";
import { checkProviderRules } from "./provider-config-rules.ts";

const EXEC = "credentialprovider.kubelet.k8s.io/v1";
const TOKENS = { serviceAccountTokenAudience: "sts", cacheType: "ServiceAccount", requireServiceAccount: true };
const PROVIDER = { name: "demo", apiVersion: EXEC, matchImages: ["reg.example"], defaultCacheDuration: "10m" };

type Version = keyof typeof PROFILES;

function fileOf(value: unknown, path = "config.yaml"): ConfigFile {
  return { path, bytes: Buffer.from(JSON.stringify(value)), value, strictProblems: [] };
}

function configOf(providers: unknown[], version = "v1"): unknown {
  return { kind: "CredentialProviderConfig", apiVersion: `kubelet.config.k8s.io/${version}`, providers };
}

/** The refusal's text, or "" for a valid configuration. */
function check(files: readonly ConfigFile[], options: { version?: Version; tokensEnabled?: boolean } = {}): string {
  const profile = PROFILES[options.version ?? "1.36"];
  try {
    const providers = decodeProviderConfig(files, profile);
    checkProviderRules(providers, { profile, tokensEnabled: options.tokensEnabled ?? true });
    return "";
  } catch (error) {
    if (error instanceof ProviderConfigError) return error.message;
    throw error;
  }
}

const checkOne = (more: Record<string, unknown>, options = {}) =>
  check([fileOf(configOf([{ ...PROVIDER, ...more }]))], options);
const checkTokens = (more: Record<string, unknown>, options = {}) =>
  checkOne({ tokenAttributes: { ...TOKENS, ...more } }, options);
const validation = (text: string) => `failed to validate credential provider config: ${text}`;

describe("decoding", () => {
  test.each([
    [configOf([{ ...PROVIDER, x: 1 }]), 'strict decoding error: unknown field "providers[0].x"'],
    [
      configOf([{ ...PROVIDER, tokenAttributes: { ...TOKENS, requireServiceAcount: true } }]),
      'strict decoding error: unknown field "providers[0].tokenAttributes.requireServiceAcount"',
    ],
    [configOf([{ ...PROVIDER, Name: "x" }]), 'strict decoding error: unknown field "providers[0].Name"'],
    [
      configOf([{ ...PROVIDER, tokenAttributes: TOKENS }], "v1beta1"),
      'strict decoding error: unknown field "providers[0].tokenAttributes"',
    ],
    [
      configOf([], "v2"),
      'no kind "CredentialProviderConfig" is registered for version "kubelet.config.k8s.io/v2" in scheme "',
    ],
    [
      { apiVersion: "kubelet.config.k8s.io/v1" },
      "Object 'Kind' is missing in '{\"apiVersion\":\"kubelet.config.k8s.io/v1\"}'",
    ],
    [configOf([{ ...PROVIDER, defaultCacheDuration: 10 }]), "json: cannot unmarshal number into Go struct field "],
    [configOf([{ ...PROVIDER, defaultCacheDuration: "10" }]), 'time: missing unit in duration "10"'],
    [[], "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value"],
  ])("%j is refused", (value, text) => {
    expect(check([fileOf(value)])).toContain(`error decoding config "config.yaml": ${text}`);
  });

  test.each(["v1", "v1beta1", "v1alpha1"])("%s is known", (version) => {
    expect(check([fileOf(configOf([PROVIDER], version))])).toBe("");
  });

  test("cacheType does not exist in 1.33 and is required from 1.34 on", () => {
    expect(checkTokens({}, { version: "1.33" })).toContain('unknown field "providers[0].tokenAttributes.cacheType"');
    const { cacheType: _, ...old } = TOKENS;
    expect(checkOne({ tokenAttributes: old }, { version: "1.33" })).toBe("");
    expect(checkOne({ tokenAttributes: old })).toContain("providers.tokenAttributes.cacheType: Required value");
  });

  test("a provider named in two files is refused; files may differ in version", () => {
    const one = fileOf(configOf([PROVIDER]), "a.yaml");
    expect(check([one, fileOf(configOf([PROVIDER], "v1beta1"), "b.yaml")])).toBe(
      'duplicate provider name "demo" found in configuration file(s)',
    );
    expect(check([one, fileOf(configOf([{ ...PROVIDER, name: "other" }], "v1beta1"), "b.yaml")])).toBe("");
  });

  test("YAML: a second document is ignored, a duplicate key is not", () => {
    expect(parseManifestText("a: 1\n---\nb: 2\n", "f")).toEqual({ value: { a: 1 }, strictProblems: [] });
    expect(parseManifestText("a: 1\na: 2\n", "f").strictProblems).toEqual([
      'yaml: unmarshal errors:\n  line 2: key "a" already set in map',
    ]);
    expect(parseManifestText('{"a": 1, "a": 2}', "f").strictProblems).toEqual(['duplicate field "a"']);
    expect(() => parseManifestText("a: [", "f")).toThrow('error decoding config "f": yaml: ');
  });
});

describe("rules", () => {
  test("a good provider passes", () => {
    expect([checkOne({}), checkTokens({})]).toEqual(["", ""]);
  });

  test.each([
    [{ name: "a/b" }, "providers.name: Invalid value: \"a/b\": provider name cannot contain '/'"],
    [{ name: "a b" }, 'providers.name: Invalid value: "a b": provider name cannot contain spaces'],
    [{ name: ".." }, "providers.name: Invalid value: \"..\": provider name cannot be '..'"],
    [{ apiVersion: "" }, "providers.apiVersion: Required value"],
    [
      { apiVersion: "v9" },
      `providers.apiVersion: Unsupported value: "v9": supported values: "${EXEC}", "${EXEC}alpha1", "${EXEC}beta1"`,
    ],
    [{ matchImages: [] }, "providers.matchImages: Required value: at least 1 item in matchImages is required"],
    [
      { matchImages: ["%zz.example"] },
      'providers.matchImages: Invalid value: "%zz.example": match image is invalid: parse "https://%zz.example": invalid URL escape "%zz"',
    ],
    [
      { matchImages: ["reg.example:*"] },
      'providers.matchImages: Invalid value: "reg.example:*": match image is invalid: parse "https://reg.example:*": invalid port ":*" after host',
    ],
    [
      { defaultCacheDuration: undefined },
      "providers.defaultCacheDuration: Required value: defaultCacheDuration is required",
    ],
    [
      { defaultCacheDuration: "-1m" },
      'providers.defaultCacheDuration: Invalid value: "-1m0s": defaultCacheDuration must be greater than or equal to 0',
    ],
  ])("%j", (more, text) => {
    expect(checkOne(more)).toBe(validation(text));
  });

  test.each(["https://reg.example", "reg.example:", "REG.example", "a.*.example", "reg.example/*"])(
    "%s is a valid pattern",
    (pattern) => {
      expect(checkOne({ matchImages: [pattern] })).toBe("");
    },
  );

  test.each([
    [{ serviceAccountTokenAudience: "" }, "providers.tokenAttributes.serviceAccountTokenAudience: Required value"],
    [{ requireServiceAccount: undefined }, "providers.tokenAttributes.requireServiceAccount: Required value"],
    [
      { cacheType: "Pod" },
      'providers.tokenAttributes.cacheType: Unsupported value: "Pod": supported values: "ServiceAccount", "Token"',
    ],
    [
      { serviceAccountTokenAudience: "", cacheType: "Pod" },
      '[providers.tokenAttributes.serviceAccountTokenAudience: Required value, providers.tokenAttributes.cacheType: Unsupported value: "Pod": supported values: "ServiceAccount", "Token"]',
    ],
    [
      { requiredServiceAccountAnnotationKeys: ["a", "a"] },
      'providers.tokenAttributes.requiredServiceAccountAnnotationKeys: Duplicate value: "a"',
    ],
    [
      { requiredServiceAccountAnnotationKeys: ["b", "a"], optionalServiceAccountAnnotationKeys: ["a", "b"] },
      'providers.tokenAttributes: Invalid value: ["a","b"]: annotation keys cannot be both required and optional',
    ],
  ])("tokens %j", (more, text) => {
    expect(checkTokens(more)).toBe(validation(text));
  });

  test("other rules on tokens", () => {
    expect(checkOne({ tokenAttributes: TOKENS, apiVersion: `${EXEC}beta1` })).toBe(
      validation(`providers.tokenAttributes: Forbidden: tokenAttributes is only supported for ${EXEC} API version`),
    );
    expect(checkTokens({ requireServiceAccount: false, requiredServiceAccountAnnotationKeys: ["a"] })).toContain(
      "Forbidden",
    );
    expect(checkTokens({}, { tokensEnabled: false })).toContain("KubeletServiceAccountTokenForCredentialProviders");
    expect(checkTokens({ optionalServiceAccountAnnotationKeys: ["-bad"] })).toContain(
      'Invalid value: "-bad": name part must consist',
    );
    expect(checkTokens({ optionalServiceAccountAnnotationKeys: ["EKS.amazonaws.com/Role"] })).toBe("");
  });

  test("identical faults of two providers are told once", () => {
    const providers = ["a", "b"].map((name) => ({ ...PROVIDER, name, matchImages: [] }));
    expect(check([fileOf(configOf(providers))])).toBe(
      validation("providers.matchImages: Required value: at least 1 item in matchImages is required"),
    );
    expect(check([fileOf(configOf([]))])).toContain("providers: Required value");
  });
});
