// The kubelet's CredentialProviderConfig, as one minor wants it (spec wiring 1.4, spec kubelet 1.4).
import { ConfigurationError } from "../../shared/errors.ts";
import type { Minor } from "./minors.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Target {
  readonly facts: Minor;
  readonly region: string;
  readonly mirror?: string;
}

interface AdaptedProviders {
  readonly providers: readonly Fields[];
  readonly providersVersion: string;
  readonly audiences: readonly string[];
}

/**
 * A world's configuration for the kubelet of one minor.
 * @throws ConfigurationError for a pattern that could never match
 */
export function adaptProviders(config: Fields, target: Target): AdaptedProviders {
  const providers = listOf(config.providers).map((provider) => adaptProvider(provider, target));
  const audiences = providers.flatMap(({ tokenAttributes }) =>
    isFields(tokenAttributes) ? [String(tokenAttributes.serviceAccountTokenAudience)] : [],
  );
  return { providers, providersVersion: String(config.apiVersion), audiences: [...new Set(audiences)] };
}

function adaptProvider(provider: Fields, target: Target): Fields {
  for (const pattern of Array.isArray(provider.matchImages) ? provider.matchImages.map(String) : []) {
    checkPattern(pattern);
  }
  const { tokenAttributes, env, ...rest } = provider;
  const token = isFields(tokenAttributes) ? { tokenAttributes: adaptToken(tokenAttributes, target.facts) } : {};
  const variables = adaptVariables(listOf(env), provider, target);
  return { ...rest, ...token, ...(variables.length > 0 ? { env: variables } : {}) };
}

/** A path never globs: `host/*` matches nothing, silently (kubernetes-sigs/kind#4185). */
function checkPattern(pattern: string): void {
  const slash = pattern.indexOf("/");
  if (slash === -1 || !/[*?[]/.test(pattern.slice(slash))) return;
  throw new ConfigurationError(`matchImages: ${JSON.stringify(pattern)} matches no image: only host labels may glob`, {
    hint: `write ${JSON.stringify(pattern.slice(0, slash))}, or a path prefix without wildcards`,
  });
}

function adaptToken({ cacheType, ...attributes }: Fields, facts: Minor): Fields {
  if (!facts.cacheType) return attributes; // an unknown field: the kubelet would not start
  const { serviceAccountTokenAudience, ...others } = attributes;
  return { serviceAccountTokenAudience, cacheType: cacheType ?? "ServiceAccount", ...others };
}

/** What the AWS SDK needs to know; nothing that the world says itself is changed. */
function adaptVariables(given: readonly Fields[], provider: Fields, { region, mirror }: Target): readonly Fields[] {
  if (!JSON.stringify(provider.matchImages ?? []).includes("amazonaws")) return given;
  const wanted: Readonly<Record<string, string>> = {
    AWS_REGION: region,
    // Without it the SDK waits for a metadata service that no kind node has.
    AWS_EC2_METADATA_DISABLED: "true",
    ...(mirror ? { AWS_ENDPOINT_URL_STS: `https://${mirror}`, AWS_ENDPOINT_URL_ECR: `https://${mirror}` } : {}),
  };
  const known = new Set(given.map(({ name }) => name));
  const added = Object.entries(wanted).filter(([name]) => !known.has(name));
  return [...given, ...added.map(([name, value]) => ({ name, value }))];
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
