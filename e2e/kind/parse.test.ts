// Every file of `pullproof kind generate`, for every minor, read by those who read it in a cluster: kind's own packages,
// containerd's, and Kubernetes' of that very minor. Each kind of file has broken twins that must be refused.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { MINORS } from "../../services/cli/kind/minors.ts";
import { systemClock } from "../../services/shared/clock.ts";
import { systemRandom } from "../../services/shared/random.ts";
import { createCertificateAuthority } from "../../services/shared/tls.ts";
import { buildPrograms, type Programs, type RenderedCluster, type Verdict } from "./programs.ts";

const CLI = join(import.meta.dirname, "../../services/cli/bin.cjs");
const ECR_HOST = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
const HOSTS = [ECR_HOST, "444455556666.dkr.ecr.us-west-2.amazonaws.com", "registry.pullproof.test"];
const minors = Object.keys(MINORS);
/** Built with validation, not with decoders alone (build.sh). */
const VALIDATING = ["1.36", "1.37"];

let root: string;
let programs: Programs;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "pullproof-kind-"));
  mkdirSync(join(root, "authority"));
  programs = buildPrograms();
  writeFileSync(join(root, "ecr-credential-provider"), "#!/bin/sh\nexit 1\n");
  const authority = createCertificateAuthority({
    ...{ directory: join(root, "authority"), isServed: () => false },
    ...{ systemClock, random: systemRandom },
  });
  writeFileSync(join(root, "ca.pem"), await authority.caPem());
}, 3_600_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

const generated = new Map<string, string>();

/** A folder as the real command writes it, for the caller alone. */
function generate(minor: string, ...more: string[]): string {
  const key = JSON.stringify([minor, more]);
  const original = generated.get(key) ?? runCommand(minor, more);
  generated.set(key, original);
  const copy = mkdtempSync(join(root, `${minor}-`));
  cpSync(original, copy, { recursive: true });
  return copy;
}

function runCommand(minor: string, more: readonly string[]): string {
  const out = mkdtempSync(join(root, `${minor}-`));
  const inputs = ["--plugin", join(root, "ecr-credential-provider"), "--ca", join(root, "ca.pem")];
  const args = ["--kubernetes", minor, "--out", out, ...inputs, ...more];
  execFileSync(process.execPath, [CLI, "kind", "generate", ...args], { stdio: ["ignore", "ignore", "pipe"] });
  for (const host of HOSTS) {
    // Where a node has the CA is no place of this machine.
    const file = join(out, "certs.d", host, "hosts.toml");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replaceAll("/etc/ssl/certs/pullproof-ca.pem", join(out, "tls/ca.pem")),
    );
  }
  chmodSync(join(out, "plugin/bin/ecr-credential-provider"), 0o755);
  return out;
}

function spoil(folder: string, file: string, change: readonly [string | RegExp, string]): void {
  const text = readFileSync(join(folder, file), "utf8");
  const spoiled = text.replace(change[0], change[1]);
  expect(spoiled, `${file} has nothing like ${change[0]}`).not.toBe(text);
  writeFileSync(join(folder, file), spoiled);
}

async function renderCluster(minor: string, folder: string): Promise<RenderedCluster> {
  const out = join(folder, "rendered");
  mkdirSync(out, { recursive: true });
  const version = /:(v[\d.]+)@/.exec(MINORS[minor]?.image ?? "")?.[1] ?? "";
  return programs.renderCluster(join(folder, "kind.yaml"), version, out);
}

function checkFolder(minor: string, folder: string, kubeadm: string): Promise<readonly Verdict[]> {
  const manifests = ["audience.yaml", "world.yaml"].map((name) => join(folder, "manifests", name)).join(",");
  return programs.check(minor, [
    ...["-kubeadm", kubeadm, "-manifests", manifests],
    ...["-provider", join(folder, "plugin/config/config.yaml"), "-bin", join(folder, "plugin/bin")],
  ]);
}

interface KubeadmDocument {
  readonly kind: string;
  readonly apiVersion: string;
  readonly nodeRegistration?: { readonly kubeletExtraArgs: ExtraArgs };
  readonly apiServer?: { readonly extraArgs: ExtraArgs };
}

/** A map up to v1beta3, a list from v1beta4 on. */
type ExtraArgs = Readonly<Record<string, string>> | readonly { readonly name: string; readonly value: string }[];

function argument(args: ExtraArgs | undefined, name: string): string | undefined {
  if (isList(args)) return args.find((one) => one.name === name)?.value;
  return args?.[name];
}

function isList(args: ExtraArgs | undefined): args is readonly { readonly name: string; readonly value: string }[] {
  return Array.isArray(args);
}

describe.each(minors)("the files for Kubernetes %s", (minor) => {
  let folder: string;
  let cluster: RenderedCluster;
  beforeAll(async () => {
    folder = generate(minor);
    cluster = await renderCluster(minor, folder);
  });

  it("are a cluster that kind takes, with every mounted file there", () => {
    expect(cluster.nodes.map(({ role, image }) => [role, image])).toEqual([
      ["control-plane", MINORS[minor]?.image],
      ["worker", MINORS[minor]?.image],
    ]);
    for (const { hostPath } of cluster.nodes.flatMap(({ mounts }) => mounts)) {
      expect(existsSync(join(folder, hostPath)), hostPath).toBe(true);
    }
    expect(cluster.configPath).toBe("/etc/containerd/certs.d");
  });

  it("are accepted by Kubernetes' own packages, for every node", async () => {
    for (const { kubeadm } of cluster.nodes) {
      const verdicts = await checkFolder(minor, folder, kubeadm);
      expect(verdicts.map(({ what, error }) => [what, error])).toEqual([
        ["kubelet", ""],
        ["kubeadm", ""],
        ["provider", ""],
        ["manifests", ""],
        ["manifests", ""],
      ]);
    }
  });

  it("reach the components: flags of every kubelet, issuer of the API server, policy, gates", () => {
    for (const { kubeadm } of cluster.nodes) {
      const documents: KubeadmDocument[] = parseAllDocuments(readFileSync(kubeadm, "utf8")).map((one) => one.toJS());
      const of = (kind: string) => documents.find((document) => document.kind === kind);
      for (const kind of ["InitConfiguration", "JoinConfiguration"]) {
        const document = of(kind);
        expect(document?.apiVersion).toBe(`kubeadm.k8s.io/${MINORS[minor]?.kubeadm}`);
        const args = document?.nodeRegistration?.kubeletExtraArgs;
        const config = argument(args, "image-credential-provider-config");
        expect(config).toBe("/etc/kubernetes/credential-provider/config.yaml");
        expect(argument(args, "image-credential-provider-bin-dir")).toBe("/opt/credential-provider/bin");
      }
      const server = of("ClusterConfiguration")?.apiServer?.extraArgs;
      expect(argument(server, "service-account-issuer")).toMatch(/^https:\/\/oidc\.eks\.us-west-2\./);
      expect(of("KubeletConfiguration")).toMatchObject({
        imagePullCredentialsVerificationPolicy: "NeverVerifyPreloadedImages",
        ...(Object.keys(MINORS[minor]?.gates ?? {}).length > 0 ? { featureGates: MINORS[minor]?.gates } : {}),
      });
    }
  });

  it.each(HOSTS)("lead containerd to the stack alone for %s", async (host) => {
    const hosts = await programs.readHosts(join(folder, "certs.d"), host);
    expect(hosts.length).toBeGreaterThan(0);
    for (const one of hosts) expect(one).toMatchObject({ url: `https://${host}/v2`, pull: true, resolve: true });
  });

  it.each([
    [["--policy", "NeverVerifyAllowlistedImages"]],
    [["--policy", "NeverVerify", "--workers", "0"]],
    [["--issuer", "cluster", "--workers", "2"]],
    [["--mirror", "stack.test:4566"]],
  ])("are accepted with %j too", async (more) => {
    const other = generate(minor, ...more);
    const { nodes } = await renderCluster(minor, other);
    const verdicts = await checkFolder(minor, other, nodes[0]?.kubeadm ?? "");
    expect(verdicts.filter(({ error }) => error !== "")).toEqual([]);
  });

  it.each<[string, string, readonly [string | RegExp, string], RegExp]>([
    ["an unknown field", "kind.yaml", [/^name:/m, "nickname:"], /field nickname not found in type v1alpha4\.Cluster/],
    ["a wrong kind", "kind.yaml", ["kind: Cluster\n", "kind: Clusters\n"], /unknown kind Clusters/],
    ["a wrong role", "kind.yaml", ["role: worker", "role: wroker"], /wroker/],
    [
      "a patch that hits nothing",
      "kind.yaml",
      ["kind: JoinConfiguration", "kind: JoinConfig"],
      /\[1\] changes nothing/,
    ],
  ])("with %s in the cluster are refused by kind", async (_what, file, change, message) => {
    const broken = generate(minor);
    spoil(broken, file, change);
    await expect(renderCluster(minor, broken)).rejects.toThrow(message);
  });

  it.each<[string, Verdict["what"], string, readonly [string | RegExp, string], RegExp]>([
    [
      "an unknown field",
      "kubelet",
      "kind.yaml",
      ["imagePullCredentialsVerificationPolicy", "imagePullPolicy"],
      /imagePullPolicy/,
    ],
    ["an unknown field", "kubeadm", "kind.yaml", ["  apiServer:", "  apiServers:"], /unknown field "apiServers"/],
    [
      "an unknown gate",
      "kubelet",
      "kind.yaml",
      [/^name:/m, "featureGates: {KubeletEnsureSecrets: true}\nname:"],
      /KubeletEnsureSecrets/,
    ],
    [
      "an unknown field",
      "provider",
      "plugin/config/config.yaml",
      ["  matchImages:", "  matchImage:"],
      /unknown field "providers\[0\]\.matchImage"/,
    ],
    [
      "a wrong kind",
      "provider",
      "plugin/config/config.yaml",
      ["CredentialProviderConfig", "CredentialProvider"],
      /no kind "CredentialProvider" is registered/,
    ],
    [
      "a wrong type",
      "provider",
      "plugin/config/config.yaml",
      ["defaultCacheDuration: 0s", "defaultCacheDuration: 0"],
      /cannot unmarshal number/,
    ],
    ["an unknown field", "manifests", "manifests/audience.yaml", ["rules:", "rule:"], /unknown field "rule"/],
    [
      "a wrong kind",
      "manifests",
      "manifests/audience.yaml",
      ["kind: ClusterRole\n", "kind: ClusterRoles\n"],
      /no kind "ClusterRoles" is registered/,
    ],
    [
      "an empty rule",
      "manifests",
      "manifests/audience.yaml",
      [/ {2}verbs:\n.*\n/, ""],
      /rules\[0\]\.verbs: Required value/,
    ],
  ])("with %s (%s) are refused by Kubernetes", async (_what, what, file, change, message) => {
    const broken = generate(minor);
    if (file === "kind.yaml" && change[0] instanceof RegExp && MINORS[minor]?.gates.KubeletEnsureSecretPulledImages) {
      spoil(broken, file, ["KubeletEnsureSecretPulledImages: true", "KubeletEnsureSecrets: true"]);
    } else spoil(broken, file, change);
    const { nodes } = await renderCluster(minor, broken);
    const verdicts = await checkFolder(minor, broken, nodes[0]?.kubeadm ?? "");
    expect(verdicts.find((verdict) => verdict.what === what)?.error).toMatch(message);
  });

  it.each<[string, readonly [string | RegExp, string], RegExp]>([
    ["an unknown field", ["capabilities", "capability"], /capability/],
    ["an unknown capability", ['"resolve"', '"resolv"'], /unknown capability resolv/],
    ["a wrong type", [/server = .*/, "server = 1"], /toml/],
    ["no CA", [/ca = ".*"/, 'ca = "/nowhere/ca.pem"'], /\/nowhere\/ca\.pem/],
  ])("with %s in hosts.toml are refused", async (_what, change, message) => {
    const broken = generate(minor);
    spoil(broken, join("certs.d", ECR_HOST, "hosts.toml"), change);
    await expect(programs.readHosts(join(broken, "certs.d"), ECR_HOST)).rejects.toThrow(message);
  });
});

describe("the files of one minor in another", () => {
  const provider = (folder: string) => join(folder, "plugin/config/config.yaml");
  const gates = "KubeletServiceAccountTokenForCredentialProviders=true";

  it("of 1.34 are refused by 1.33, which does not know cacheType; its own are not", async () => {
    const ask = (folder: string) => programs.check("1.33", ["-gates", gates, "-provider", provider(folder)]);
    expect((await ask(generate("1.34")))[0]?.error).toMatch(
      /unknown field "providers\[0\]\.tokenAttributes\.cacheType"/,
    );
    expect((await ask(generate("1.33")))[0]?.error).toBe("");
  });

  it.each(VALIDATING)("of 1.33 are refused by %s, which requires cacheType; its own are not", async (minor) => {
    const bin = (folder: string) => join(folder, "plugin/bin");
    const ask = (folder: string) => programs.check(minor, ["-provider", provider(folder), "-bin", bin(folder)]);
    expect((await ask(generate("1.33")))[0]?.error).toMatch(/tokenAttributes\.cacheType: Required value/);
    expect((await ask(generate(minor)))[0]?.error).toBe("");
  });
});

describe.each(VALIDATING)("the validation of %s", (minor) => {
  it("refuses what its decoder takes", async () => {
    const broken = generate(minor);
    spoil(broken, "kind.yaml", ["NeverVerifyPreloadedImages", "NeverMind"]);
    rmSync(join(broken, "plugin/bin/ecr-credential-provider"));
    const { nodes } = await renderCluster(minor, broken);
    const verdicts = await checkFolder(minor, broken, nodes[0]?.kubeadm ?? "");
    const errorOf = (what: string) => verdicts.find((verdict) => verdict.what === what)?.error;
    expect(errorOf("kubelet")).toMatch(/NeverMind/);
    expect(errorOf("provider")).toMatch(/plugin binary executable .*did not exist/);
  });

  it("refuses the policy where the gate is off", async () => {
    const broken = generate(minor);
    spoil(broken, "kind.yaml", [/^name:/m, "featureGates: {KubeletEnsureSecretPulledImages: false}\nname:"]);
    const { nodes } = await renderCluster(minor, broken);
    const verdicts = await checkFolder(minor, broken, nodes[0]?.kubeadm ?? "");
    expect(verdicts[0]?.error).toMatch(
      /must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled/,
    );
  });
});
