// Golden files of every minor; the newest ones are the reference in kind-config/. `vitest run -u` writes them anew.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { ConfigurationError } from "../../shared/errors.ts";
import { listHostNames, loadWorld, type World } from "../../stack/index.ts";
import { MINORS } from "./minors.ts";
import { listKindWarnings, renderKindFiles } from "./render.ts";
import type { KindOptions } from "./types.ts";

const REFERENCE = join(import.meta.dirname, "../../../kind-config");
const NEWEST = "1.37";
const minors = Object.keys(MINORS);

let world: World;
beforeAll(async () => {
  world = await loadWorld();
});

function options(changed: Partial<KindOptions> = {}): KindOptions {
  return { kubernetes: NEWEST, world, networkNames: listHostNames(world), ...changed };
}

function render(changed: Partial<KindOptions> = {}): Readonly<Record<string, string>> {
  return renderKindFiles(options(changed));
}

const folderOf = (minor: string) =>
  minor === NEWEST ? join(REFERENCE, `kubernetes-${NEWEST}`) : join(import.meta.dirname, "testdata", minor);

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

interface Cluster {
  readonly name: string;
  readonly featureGates?: Record<string, boolean>;
  readonly kubeadmConfigPatches: readonly string[];
  readonly nodes: readonly {
    readonly role: string;
    readonly image: string;
    readonly extraMounts: readonly { hostPath: string; containerPath: string }[];
  }[];
}

function clusterOf(files: Readonly<Record<string, string>>): Cluster {
  return parse(files["kind.yaml"] ?? "");
}

function patchOf(files: Readonly<Record<string, string>>, kind: string): Record<string, unknown> | undefined {
  return clusterOf(files)
    .kubeadmConfigPatches.map((patch) => parse(patch))
    .find((patch) => patch.kind === kind);
}

interface Provider {
  readonly tokenAttributes: Record<string, unknown>;
  readonly env: readonly { name: string; value: string }[];
}

function providerOf(files: Readonly<Record<string, string>>): Provider {
  return parse(files["plugin/config/config.yaml"] ?? "").providers[0];
}

describe("the files of every minor", () => {
  it.each(minors)("of %s are the golden ones", async (minor) => {
    const files = render({ kubernetes: minor });
    for (const [path, text] of Object.entries(files))
      await expect(text).toMatchFileSnapshot(join(folderOf(minor), path));
    expect(listFiles(folderOf(minor))).toEqual(Object.keys(files).sort());
  });

  it("have the reference for the newest minor", () => {
    expect(minors.at(-1)).toBe(NEWEST);
  });

  it.each([
    ["1.33", { KubeletEnsureSecretPulledImages: true, KubeletServiceAccountTokenForCredentialProviders: true }, false],
    ["1.34", { KubeletEnsureSecretPulledImages: true }, true],
    ["1.35", undefined, true],
    ["1.36", undefined, true],
    ["1.37", undefined, true],
  ])("of %s switch on what is off there, and say cacheType only where it exists", (kubernetes, gates, cacheType) => {
    const files = render({ kubernetes });
    expect(clusterOf(files).featureGates).toEqual(gates);
    expect("cacheType" in providerOf(files).tokenAttributes).toBe(cacheType);
  });

  it("keep to what spec and image agree on: the image is of the minor, with a digest", () => {
    for (const [minor, { image }] of Object.entries(MINORS)) {
      expect(image).toMatch(new RegExp(`^kindest/node:v${minor}\\.\\d+@sha256:[0-9a-f]{64}$`));
    }
  });
});

describe("the options", () => {
  it("give every node its mounts, and only the first control plane the key", () => {
    const { nodes, name } = clusterOf(render({ workers: 2, name: "other" }));
    expect(name).toBe("other");
    expect(nodes.map(({ role }) => role)).toEqual(["control-plane", "worker", "worker"]);
    const mounted = nodes.map(({ extraMounts }) => extraMounts.map(({ containerPath }) => containerPath));
    expect(mounted[0]).toEqual([...(mounted[1] ?? []), "/etc/kubernetes/pki/sa.key", "/etc/kubernetes/pki/sa.pub"]);
    expect(mounted[2]).toEqual(mounted[1]);
  });

  it("leave the cluster its own issuer", () => {
    const own = render({ issuer: "cluster" });
    expect(patchOf(own, "ClusterConfiguration")).toBeUndefined();
    expect(own["kind.yaml"]).not.toContain("sa.key");
    const stack = patchOf(render(), "ClusterConfiguration");
    expect(JSON.stringify(stack)).toContain(`"service-account-issuer":"${world.issuers[0]?.url}"`);
  });

  it("send nodes to one name instead of aliases", () => {
    const files = render({ mirror: "stack.local:4566" });
    const hosts = files["certs.d/111122223333.dkr.ecr.us-west-2.amazonaws.com/hosts.toml"];
    expect(hosts).toContain('server = "https://stack.local:4566"');
    expect(providerOf(files).env).toContainEqual({ name: "AWS_ENDPOINT_URL_STS", value: "https://stack.local:4566" });
    expect(files["connect.sh"]).toContain("--alias stack.local \\");
    expect(files["connect.sh"]).not.toContain("amazonaws");
    expect(providerOf(render()).env.map(({ name }) => name)).toEqual(["AWS_REGION", "AWS_EC2_METADATA_DISABLED"]);
  });

  it("verify everything but kind's own images", () => {
    const patch = patchOf(render({ policy: "NeverVerifyAllowlistedImages" }), "KubeletConfiguration");
    expect(patch).toMatchObject({
      imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages",
      preloadedImagesVerificationAllowlist: ["registry.k8s.io/*", "docker.io/kindest/*"],
    });
    expect(patchOf(render(), "KubeletConfiguration")).not.toHaveProperty("preloadedImagesVerificationAllowlist");
  });

  it("take AlwaysVerify only with the network", () => {
    expect(() => render({ policy: "AlwaysVerify" })).toThrow(/from the Internet/);
    const patch = patchOf(render({ policy: "AlwaysVerify", allowNetwork: true }), "KubeletConfiguration");
    expect(patch?.imagePullCredentialsVerificationPolicy).toBe("AlwaysVerify");
  });

  it.each<[string, Partial<KindOptions>, RegExp]>([
    ["an old minor", { kubernetes: "1.32" }, /"1\.32" is not known; known are 1\.33, 1\.34, 1\.35, 1\.36, 1\.37$/],
    ["a minor of the future", { kubernetes: "1.38" }, /known are 1\.33/],
    ["no minor", { kubernetes: "toString" }, /known are 1\.33/],
    ["a patch release", { kubernetes: "1.36.1" }, /"1\.36\.1" is not known/],
    ["another minor's image", { image: "kindest/node:v1.35.0" }, /is of Kubernetes 1\.35, but --kubernetes says 1\.37/],
    ["a node that is none", { node: "node-9" }, /node "node-9" is none .*node-1, node-lax/],
    ["a policy that is none", { policy: "Sometimes" as never }, /expected one of NeverVerify,/],
    ["too many workers", { workers: 21 }, /--workers: expected a number from 0 to 20, found 21/],
    ["a mirror with a scheme", { mirror: "https://x" }, /--mirror: expected HOST or HOST:PORT/],
    ["a name that kind refuses", { name: "A b" }, /--name: expected a name/],
  ])("refuse %s", (_what, changed, message) => {
    expect(() => render(changed)).toThrow(ConfigurationError);
    expect(() => render(changed)).toThrow(message);
  });

  it.each(["v1.36", "1.36"])("take %s", (kubernetes) => {
    expect(clusterOf(render({ kubernetes })).nodes[0]?.image).toContain(":v1.36.");
  });

  it("say what a minor cannot do", () => {
    expect(listKindWarnings(options({ kubernetes: "1.33" })).join("\n")).toMatch(/do not name ServiceAccounts/);
    expect(listKindWarnings(options({ kubernetes: "1.36" }))).toEqual([]);
    expect(listKindWarnings(options({ kubernetes: "1.36", policy: "NeverVerify" }))).toHaveLength(1);
    for (const minor of minors) {
      const readme = render({ kubernetes: minor })["README.md"] ?? "";
      for (const warning of MINORS[minor]?.warnings ?? []) expect(readme).toContain(`- ${warning}.`);
    }
  });
});

describe("the names", () => {
  const other = {
    version: 1,
    region: "eu-central-1",
    issuers: { mine: { url: "https://issuer.example.test/cluster" } },
    accounts: { "999900001111": { regions: ["eu-central-1", "eu-west-1"] } },
    cluster: {
      issuer: "mine",
      objects: [{ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "builder" } }],
      nodes: {
        only: {
          version: "1.36",
          credentialProviderConfig: {
            apiVersion: "kubelet.config.k8s.io/v1",
            kind: "CredentialProviderConfig",
            providers: [
              {
                name: "my-provider",
                apiVersion: "credentialprovider.kubelet.k8s.io/v1",
                matchImages: ["registry.example.test:5000/team"],
                defaultCacheDuration: "1m",
                tokenAttributes: { serviceAccountTokenAudience: "my-audience", requireServiceAccount: true },
              },
            ],
          },
        },
      },
    },
    registries: { plain: { host: "registry.example.test:5000", auth: "none" } },
  };

  it("come from the world", async () => {
    const mine = await loadWorld(other);
    const files = render({ world: mine, networkNames: listHostNames(mine) });
    expect(Object.keys(files).filter((path) => path.startsWith("certs.d/"))).toEqual([
      "certs.d/999900001111.dkr.ecr.eu-central-1.amazonaws.com/hosts.toml",
      "certs.d/999900001111.dkr.ecr.eu-west-1.amazonaws.com/hosts.toml",
      "certs.d/registry.example.test_5000_/hosts.toml",
    ]);
    for (const name of [
      "999900001111.dkr.ecr.eu-west-1.amazonaws.com",
      "issuer.example.test",
      "registry.example.test",
    ]) {
      expect(files["connect.sh"]).toContain(`  --alias ${name} \\\n`);
    }
    expect(files["connect.sh"]).not.toContain("kubernetes.default");
    const [role] = parseAllDocuments(files["manifests/audience.yaml"] ?? "").map((document) => document.toJS());
    expect(role.rules).toEqual([
      { apiGroups: [""], verbs: ["request-serviceaccounts-token-audience"], resources: ["my-audience"] },
    ]);
    expect(files["kind.yaml"]).toContain("service-account-jwks-uri: https://issuer.example.test/cluster/keys");
    // Nothing of AWS is put into a provider that has nothing to do with it; the missing cacheType is.
    expect(providerOf(files)).not.toHaveProperty("env");
    expect(providerOf(files).tokenAttributes.cacheType).toBe("ServiceAccount");
    expect(files["create.sh"]).toContain("plugin/bin/my-provider");
  });

  it("leave out Pods and Nodes, which name simulated nodes", async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [] } };
    const mine = { ...world, cluster: { ...world.cluster, objects: [...world.cluster.objects, pod] } };
    expect(render({ world: mine })["manifests/world.yaml"]).toBe(render()["manifests/world.yaml"]);
  });

  it("refuse a pattern that never matches, and take its twin", async () => {
    const withPattern = (pattern: string) => {
      const copy = structuredClone(other);
      const provider = copy.cluster.nodes.only.credentialProviderConfig.providers[0];
      if (provider) provider.matchImages = [pattern];
      return loadWorld(copy);
    };
    const never = await withPattern("registry.example.test/*");
    expect(() => render({ world: never })).toThrow(/"registry\.example\.test\/\*" matches no image/);
    expect(render({ world: await withPattern("*.example.test/team") })).toBeDefined();
  });

  it("need a node with credential providers", async () => {
    const none = await loadWorld({ ...other, cluster: { issuer: "mine" } });
    expect(() => render({ world: none })).toThrow(/no node with a credentialProviderConfig/);
  });
});
