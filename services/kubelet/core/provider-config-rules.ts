// The rules that a decoded CredentialProviderConfig must keep (kubelet.md 1.5, 13.2), with the real validator's texts.
import { renderGoDuration } from "./go-duration.ts";
import { GoUrlError, parseGoUrl } from "./go-url.ts";
import type { Profile } from "./profiles.ts";
import { type CredentialProvider, ProviderConfigError, type TokenAttributes } from "./provider-config.ts";

const EXEC_V1 = "credentialprovider.kubelet.k8s.io/v1";
const EXEC_VERSIONS = [EXEC_V1, `${EXEC_V1}alpha1`, `${EXEC_V1}beta1`];
const TOKENS = "providers.tokenAttributes";
const CACHE_TYPES = '"ServiceAccount", "Token"';

/** What validation has to know besides the providers. */
export interface RuleContext {
  readonly profile: Profile;
  /** Is KubeletServiceAccountTokenForCredentialProviders on? */
  readonly tokensEnabled: boolean;
}

/**
 * Checks all rules and reports every broken one at once; identical messages are merged, as upstream's aggregate does.
 * @throws ProviderConfigError
 */
export function checkProviderRules(providers: readonly CredentialProvider[], context: RuleContext): void {
  const problems = [...new Set(listProblems(providers, context))];
  if (problems.length === 0) return;
  const joined = problems.length === 1 ? problems.join("") : `[${problems.join(", ")}]`;
  throw new ProviderConfigError(`failed to validate credential provider config: ${joined}`);
}

function listProblems(providers: readonly CredentialProvider[], context: RuleContext): string[] {
  if (providers.length === 0) return [required("providers", "at least 1 item in plugins is required")];
  const names = new Set<string>();
  return providers.flatMap((provider) => {
    const repeated = names.has(provider.name);
    names.add(provider.name);
    return [
      ...nameProblems(provider.name, repeated),
      ...versionProblems(provider.apiVersion, context.profile),
      ...imageProblems(provider.matchImages),
      ...durationProblems(provider.defaultCacheDurationMs),
      ...(provider.tokenAttributes ? tokenProblems(provider, provider.tokenAttributes, context) : []),
    ];
  });
}

function nameProblems(name: string, repeated: boolean): string[] {
  const path = "providers.name";
  return [
    ...(name.includes("/") ? [invalid(path, name, "provider name cannot contain '/'")] : []),
    ...(name.includes(" ") ? [invalid(path, name, "provider name cannot contain spaces")] : []),
    ...(name === "." ? [invalid(path, name, "provider name cannot be '.'")] : []),
    ...(name === ".." ? [invalid(path, name, "provider name cannot be '..'")] : []),
    ...(repeated ? [duplicate(path, name)] : []),
  ];
}

function versionProblems(apiVersion: string, profile: Profile): string[] {
  const path = "providers.apiVersion";
  if (apiVersion === "") return [required(path, profile.configDirectory ? "" : "apiVersion is required")];
  if (EXEC_VERSIONS.includes(apiVersion)) return [];
  return [
    `${path}: Unsupported value: ${JSON.stringify(apiVersion)}: supported values: ${EXEC_VERSIONS.map(quote).join(", ")}`,
  ];
}

function imageProblems(patterns: readonly string[]): string[] {
  const path = "providers.matchImages";
  if (patterns.length === 0) return [required(path, "at least 1 item in matchImages is required")];
  return patterns.flatMap((pattern) => {
    try {
      parseGoUrl(`https://${pattern}`);
      return [];
    } catch (error) {
      if (!(error instanceof GoUrlError)) throw error;
      return [invalid(path, pattern, `match image is invalid: ${error.message}`)];
    }
  });
}

function durationProblems(durationMs: number | undefined): string[] {
  const path = "providers.defaultCacheDuration";
  if (durationMs === undefined) return [required(path, "defaultCacheDuration is required")];
  if (durationMs >= 0) return [];
  return [invalid(path, renderGoDuration(durationMs), "defaultCacheDuration must be greater than or equal to 0")];
}

function tokenProblems(provider: CredentialProvider, tokens: TokenAttributes, context: RuleContext): string[] {
  if (!context.tokensEnabled) {
    return [
      `${TOKENS}: Forbidden: tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders feature gate is disabled`,
    ];
  }
  const needed = tokens.requiredServiceAccountAnnotationKeys;
  return [
    ...(tokens.serviceAccountTokenAudience === "" ? [required(`${TOKENS}.serviceAccountTokenAudience`)] : []),
    ...(tokens.requireServiceAccount === undefined ? [required(`${TOKENS}.requireServiceAccount`)] : []),
    ...(EXEC_VERSIONS.includes(provider.apiVersion) && provider.apiVersion !== EXEC_V1
      ? [`${TOKENS}: Forbidden: tokenAttributes is only supported for ${EXEC_V1} API version`]
      : []),
    ...(tokens.requireServiceAccount === false && needed.length > 0
      ? [
          `${TOKENS}.requiredServiceAccountAnnotationKeys: Forbidden: requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set`,
        ]
      : []),
    ...keyProblems(`${TOKENS}.requiredServiceAccountAnnotationKeys`, needed),
    ...keyProblems(`${TOKENS}.optionalServiceAccountAnnotationKeys`, tokens.optionalServiceAccountAnnotationKeys),
    ...overlapProblems(needed, tokens.optionalServiceAccountAnnotationKeys),
    ...(context.profile.cacheType ? cacheTypeProblems(tokens.cacheType) : []),
  ];
}

function cacheTypeProblems(cacheType: string): string[] {
  const path = `${TOKENS}.cacheType`;
  if (cacheType === "")
    return [required(path, `cacheType is required to be set. Supported values are: ServiceAccount, Token`)];
  if (cacheType === "ServiceAccount" || cacheType === "Token") return [];
  return [`${path}: Unsupported value: ${JSON.stringify(cacheType)}: supported values: ${CACHE_TYPES}`];
}

function overlapProblems(needed: readonly string[], optional: readonly string[]): string[] {
  const both = [...new Set(needed.filter((key) => optional.includes(key)))].sort();
  if (both.length === 0) return [];
  return [`${TOKENS}: Invalid value: ${JSON.stringify(both)}: annotation keys cannot be both required and optional`];
}

function keyProblems(path: string, keys: readonly string[]): string[] {
  const seen = new Set<string>();
  return keys.flatMap((key) => {
    const repeated = seen.has(key);
    seen.add(key);
    return [
      ...qualifiedNameProblems(key.toLowerCase()).map((why) => invalid(path, key, why)),
      ...(repeated ? [duplicate(path, key)] : []),
    ];
  });
}

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const PREFIX_PART =
  "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** `IsQualifiedName` of apimachinery. */
function qualifiedNameProblems(key: string): string[] {
  const parts = key.split("/");
  if (parts.length > 2) {
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  }
  const [prefix, name] = parts.length === 2 ? [parts[0] ?? "", parts[1] ?? ""] : [undefined, key];
  return [
    ...(prefix === "" ? ["prefix part must be non-empty"] : []),
    ...(prefix && prefix.length > 253 ? ["prefix part must be no more than 253 bytes"] : []),
    ...(prefix && !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix)
      ? [PREFIX_PART]
      : []),
    ...(name === "" ? ["name part must be non-empty"] : []),
    ...(name.length > 63 ? ["name part must be no more than 63 bytes"] : []),
    ...(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name) ? [] : [NAME_PART]),
  ];
}

function required(path: string, detail = ""): string {
  return `${path}: Required value${detail === "" ? "" : `: ${detail}`}`;
}

function invalid(path: string, value: string, detail: string): string {
  return `${path}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
}

function duplicate(path: string, value: string): string {
  return `${path}: Duplicate value: ${JSON.stringify(value)}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
