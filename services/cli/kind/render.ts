// The files that make a real kubelet in kind use the stack: options in, texts out. Nothing is read or written here.
import { renderCluster } from "./cluster.ts";
import { renderHosts } from "./hosts.ts";
import { renderAudience, renderWorldObjects } from "./manifests.ts";
import type { Minor } from "./minors.ts";
import { FILES } from "./paths.ts";
import { planKind } from "./plan.ts";
import { renderReadme } from "./readme.ts";
import { renderConnect, renderCreate } from "./scripts.ts";
import type { KindOptions, KindPlan } from "./types.ts";
import { listWarnings } from "./warnings.ts";
import { yaml } from "./yaml.ts";

/**
 * Renders every file but the secret ones (CA, issuer key, plugin), which the writer puts beside them.
 * @returns path in the folder → text
 * @throws ConfigurationError for options that do not fit the minor or the world
 */
export function renderKindFiles(options: KindOptions): Readonly<Record<string, string>> {
  const plan = planKind(options);
  const objects = renderWorldObjects(plan);
  const files: Record<string, string> = {
    [FILES.readme]: renderReadme(plan, listWarnings(plan)),
    [FILES.ignore]: "# Secrets, programs and what belongs to one machine.\n/tls/\n/config/\n/plugin/bin/\n",
    [FILES.cluster]: renderCluster(plan),
    [FILES.create]: renderCreate(plan, objects !== undefined),
    [FILES.connect]: renderConnect(plan),
    [FILES.provider]: renderProviders(plan),
    [FILES.audience]: renderAudience(plan),
    ...(objects === undefined ? {} : { [FILES.world]: objects }),
    ...renderHosts(plan),
  };
  return Object.fromEntries(Object.entries(files).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** What the chosen minor and options cannot do: one sentence each. */
export function listKindWarnings(options: KindOptions): readonly string[] {
  return listWarnings(planKind(options));
}

function renderProviders({ minor, facts, providers, providersVersion }: KindPlan & { readonly facts: Minor }): string {
  const range = facts.cacheType ? "Kubernetes 1.34 and newer" : `Kubernetes ${minor} only`;
  const config = yaml({ apiVersion: providersVersion, kind: "CredentialProviderConfig", providers });
  return `# For ${range}: tokenAttributes.cacheType is unknown to 1.33 and required since 1.34.\n${config}`;
}
