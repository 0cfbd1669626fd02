// From options to a plan: defaults, checks, and the facts that the world says.
import { ConfigurationError } from "../../shared/errors.ts";
import type { World } from "../../stack/index.ts";
import { type Minor, parseMinor } from "./minors.ts";
import { adaptProviders } from "./providers.ts";
import type { KindOptions, KindPlan, VerificationPolicy } from "./types.ts";

type WorldNode = World["cluster"]["nodes"][number];

const POLICIES: Readonly<Record<VerificationPolicy, true>> = {
  NeverVerify: true,
  NeverVerifyPreloadedImages: true,
  NeverVerifyAllowlistedImages: true,
  AlwaysVerify: true,
};

/**
 * Checks the options against the minor and the world.
 * @throws ConfigurationError that says what is wrong and what would be right
 */
export function planKind(options: KindOptions): KindPlan & { readonly facts: Minor } {
  const { minor, facts } = parseMinor(options.kubernetes);
  const { world } = options;
  const node = findNode(world, options.node);
  const { kind: _kind, apiVersion: _version, ...kubelet } = node.kubeletConfiguration;
  const mirror = options.mirror === undefined ? {} : { mirror: checkMirror(options.mirror) };
  const config = adaptProviders(node.credentialProviderConfig ?? {}, { facts, region: world.region, ...mirror });
  return {
    ...options,
    ...mirror,
    ...config,
    facts,
    minor,
    kubelet,
    name: checkName("--name", options.name ?? "pullproof", /^[a-z0-9.-]+$/),
    container: checkName("--container", options.container ?? "pullproof", /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/),
    workers: checkWorkers(options.workers ?? 1),
    image: checkImage(options.image ?? facts.image, minor),
    issuer: options.issuer ?? "stack",
    policy: checkPolicy(options.policy ?? kubelet.imagePullCredentialsVerificationPolicy, options.allowNetwork),
    registryHosts: registryHostsOf(world),
    issuerUrl: issuerUrlOf(world),
  };
}

function findNode(world: World, name: string | undefined): WorldNode {
  const { nodes } = world.cluster;
  const usable = nodes.filter((node) => node.credentialProviderConfig);
  const found = name === undefined ? usable[0] : usable.find((node) => node.name === name);
  if (found) return found;
  const known = usable.map((node) => node.name).join(", ") || "none";
  const wanted = name === undefined ? "no node" : `node ${JSON.stringify(name)} is none`;
  throw new ConfigurationError(`${world.source}: ${wanted} with a credentialProviderConfig (there are: ${known})`, {
    hint: "kind's kubelets are configured like a node of the world: give one a credentialProviderConfig, or choose it with --node",
  });
}

function issuerUrlOf(world: World): string {
  return world.issuers.find(({ name }) => name === world.cluster.issuer)?.url ?? "";
}

/** ECR's hosts of every account and region, and the plain registries. */
function registryHostsOf(world: World): readonly string[] {
  const ecr = world.accounts.flatMap(({ id, regions }) => regions.map((at) => `${id}.dkr.ecr.${at}.amazonaws.com`));
  return [...ecr, ...world.registries.map(({ host }) => host)];
}

function checkName(option: string, name: string, rule: RegExp): string {
  if (rule.test(name)) return name;
  throw new ConfigurationError(`${option}: expected a name like pullproof, found ${JSON.stringify(name)}`);
}

function checkWorkers(workers: number): number {
  if (Number.isInteger(workers) && workers >= 0 && workers <= 20) return workers;
  throw new ConfigurationError(`--workers: expected a number from 0 to 20, found ${workers}`);
}

function checkMirror(mirror: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9.-]*(:\d{1,5})?$/.test(mirror)) return mirror;
  throw new ConfigurationError(`--mirror: expected HOST or HOST:PORT, found ${JSON.stringify(mirror)}`);
}

function checkImage(image: string, minor: string): string {
  const found = /:v?(1\.\d+)\.\d/.exec(image)?.[1];
  if (found === undefined || found === minor) return image;
  throw new ConfigurationError(`--image: ${image} is of Kubernetes ${found}, but --kubernetes says ${minor}`, {
    hint: `the files differ between minors: --kubernetes ${found}`,
  });
}

function checkPolicy(policy: unknown, allowNetwork = false): VerificationPolicy {
  const wanted = String(policy ?? "NeverVerifyPreloadedImages");
  const known = Object.keys(POLICIES).find((name) => name === wanted) as VerificationPolicy | undefined;
  if (!known) {
    throw new ConfigurationError(`--policy: expected one of ${Object.keys(POLICIES).join(", ")}, found ${wanted}`);
  }
  if (known === "AlwaysVerify" && !allowNetwork) {
    throw new ConfigurationError("AlwaysVerify would make the nodes pull kind's own images again, from the Internet", {
      hint: "--policy NeverVerifyAllowlistedImages verifies everything but kind's own images; --allow-network if you mean it",
    });
  }
  return known;
}
