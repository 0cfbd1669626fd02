// The command as people run it: what is written, what is kept, what is refused; and the shell scripts with stand-ins.
import { execFileSync, spawnSync } from "node:child_process";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadWorld } from "../../stack/index.ts";
import { run } from "../main.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pullproof-kind-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function generate(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await run(["kind", "generate", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    environment: {},
    untilStopped: async () => {},
  });
  return { code, out, err };
}

const modeOf = (file: string) => statSync(join(root, "kind", file)).mode & 0o777;
const read = (file: string) => readFileSync(join(root, "kind", file), "utf8");
const to = (minor: string) => ["--kubernetes", minor, "--out", join(root, "kind")];

describe("pullproof kind generate", () => {
  it("writes the folder, with a key that the world beside it uses", async () => {
    const { code, out, err } = await generate(...to("1.36"), "--json");
    expect([code, err]).toEqual([0, ""]);
    const { files, warnings } = JSON.parse(out);
    expect(warnings).toEqual([]);
    for (const file of files) expect(existsSync(join(root, "kind", file)), file).toBe(true);
    expect([modeOf("create.sh"), modeOf("connect.sh"), modeOf("kind.yaml")]).toEqual([0o755, 0o755, 0o644]);
    expect([modeOf("config/sa.key"), modeOf("config/sa.pub")]).toEqual([0o600, 0o644]);
    const key = createPrivateKey(read("config/sa.key"));
    expect(createPublicKey(key).export({ type: "spki", format: "pem" })).toBe(read("config/sa.pub"));
    const world = await loadWorld(join(root, "kind/config/pullproof.yaml"));
    expect(world.issuers.find(({ name }) => name === "eks")?.key).toEqual({ pem: read("config/sa.key") });
    const { source: _source, issuers: _issuers, ...same } = await loadWorld();
    expect(world).toMatchObject(same);
  });

  it("says what the minor cannot do, as warnings on stderr", async () => {
    const { code, out, err } = await generate(...to("1.33"));
    expect(code).toBe(0);
    expect(out).toContain("/kind/kind.yaml\n");
    expect(err).toMatch(/warning: pull records of 1\.33 do not name ServiceAccounts/);
  });

  it("keeps the key from run to run, and files that someone changed unless told otherwise", async () => {
    await generate(...to("1.36"));
    const key = read("config/sa.key");
    expect((await generate(...to("1.36"))).code).toBe(0);
    expect(read("config/sa.key")).toBe(key);
    writeFileSync(join(root, "kind/kind.yaml"), "mine\n");
    const refused = await generate(...to("1.36"));
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/has files with other content: kind\.yaml\nhint: --force/);
    expect(read("kind.yaml")).toBe("mine\n");
    expect((await generate(...to("1.36"), "--force")).code).toBe(0);
    expect(read("kind.yaml")).toContain("kind: Cluster");
    expect(read("config/sa.key")).toBe(key);
  });

  it("takes a given world's own key, and does not rewrite that world", async () => {
    const world = join(root, "world.yaml");
    await generate("--kubernetes", "1.36", "--out", join(root, "first"));
    const own = readFileSync(join(root, "first/config/pullproof.yaml"), "utf8").replace(
      "sa.key",
      "first/config/sa.key",
    );
    writeFileSync(world, own);
    expect((await generate(...to("1.37"), "--world", world)).code).toBe(0);
    expect(read("config/sa.key")).toBe(readFileSync(join(root, "first/config/sa.key"), "utf8"));
    expect(existsSync(join(root, "kind/config/pullproof.yaml"))).toBe(false);
  });

  it("copies plugin and CA", async () => {
    const plugin = join(root, "ecr-credential-provider");
    writeFileSync(plugin, "#!/bin/sh\n");
    writeFileSync(join(root, "my-ca.pem"), "a CA\n");
    await generate(...to("1.36"), "--plugin", plugin, "--ca", join(root, "my-ca.pem"));
    expect(modeOf("plugin/bin/ecr-credential-provider")).toBe(0o755);
    expect(read("tls/ca.pem")).toBe("a CA\n");
  });

  it("needs no key where the cluster signs itself", async () => {
    await generate(...to("1.36"), "--issuer", "cluster");
    expect(existsSync(join(root, "kind/config"))).toBe(false);
  });

  it.each<[string, readonly string[], RegExp]>([
    ["an unknown minor", ["--kubernetes", "1.30"], /"1\.30" is not known; known are 1\.33, 1\.34, 1\.35, 1\.36, 1\.37/],
    ["a patch release", ["--kubernetes", "1.36.2"], /hint: name the minor: --kubernetes 1\.36/],
    ["no minor", [], /required option '--kubernetes <minor>'/],
    ["an issuer that is none", ["--kubernetes", "1.36", "--issuer", "x"], /stack, cluster/],
    ["a missing world", ["--kubernetes", "1.36", "--world", "/nowhere"], /cannot read the world file \/nowhere/],
    ["a missing plugin", ["--kubernetes", "1.36", "--plugin", "/nowhere"], /--plugin: cannot read \/nowhere/],
    ["a number that is none", ["--kubernetes", "1.36", "--workers", "two"], /--workers: expected a number/],
    [
      "AlwaysVerify",
      ["--kubernetes", "1.36", "--policy", "AlwaysVerify"],
      /hint: --policy NeverVerifyAllowlistedImages/,
    ],
  ])("refuses %s with exit code 2, and writes nothing", async (_what, args, message) => {
    const { code, out, err } = await generate("--out", join(root, "kind"), ...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
    expect(existsSync(join(root, "kind"))).toBe(false);
  });

  it("says why it cannot write", async () => {
    writeFileSync(join(root, "kind"), "a file");
    const { code, err } = await generate(...to("1.36"));
    expect(code).toBe(2);
    expect(err).toMatch(/cannot write to .*kind: /);
    expect(err).not.toMatch(/^\s+at /m);
  });
});

/** Programs that write down how they were called; `docker` knows a container and a network, as told by variables. */
function standIns(): {
  run: (script: string, env?: Record<string, string>) => { code: number; err: string };
  calls: () => string[];
} {
  const bin = join(root, "bin");
  const log = join(root, "calls");
  execFileSync("mkdir", ["-p", bin]);
  const programs: Readonly<Record<string, string>> = {
    docker: `case "$1 $2" in
  "container inspect") [ "$HAVE_CONTAINER" = yes ] || exit 1; case "$3" in --format) echo bridge; echo "$CONNECTED";; esac;;
  "network inspect") [ "$HAVE_NETWORK" = yes ] || exit 1;;
  *) echo "docker $*" >> "${log}";;
esac`,
    kind: `echo "kind $* NO_PROXY=$NO_PROXY" >> "${log}"`,
    kubectl: `echo "kubectl $*" >> "${log}"`,
    curl: `while [ $# -gt 0 ]; do [ "$1" = -o ] && echo "the CA" > "$2"; shift; done`,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return {
    run: (script, env = {}) => {
      const all = { PATH: `${bin}:/usr/bin:/bin`, HAVE_CONTAINER: "yes", HAVE_NETWORK: "yes", CONNECTED: "", ...env };
      const { status, stderr } = spawnSync(join(root, "kind", script), ["my-stack"], { env: all, encoding: "utf8" });
      return { code: status ?? -1, err: stderr };
    },
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
  };
}

describe("the scripts", () => {
  const CONNECT = "docker network connect --alias oidc.eks.us-west-2.amazonaws.com --alias oidc.rogue.pullproof.test";
  beforeEach(async () => {
    await generate(...to("1.36"), "--issuer", "cluster"); // no key has to be made
  });

  it("connect the container under every name", () => {
    const { run: start, calls } = standIns();
    expect(start("connect.sh")).toEqual({ code: 0, err: "" });
    expect(calls()).toHaveLength(1);
    expect(calls()[0]).toMatch(new RegExp(`^${CONNECT} .*--alias 444455556666\\.dkr\\.ecr\\.\\S+ kind my-stack$`));
  });

  it("disconnect first what is connected already", () => {
    const { run: start, calls } = standIns();
    expect(start("connect.sh", { CONNECTED: "kind" }).code).toBe(0);
    expect(calls()[0]).toBe("docker network disconnect kind my-stack");
    expect(calls()[1]).toContain(CONNECT);
  });

  it("take another network's name from kind's own variable", () => {
    const { run: start, calls } = standIns();
    expect(start("connect.sh", { CONNECTED: "kind", KIND_EXPERIMENTAL_DOCKER_NETWORK: "other" }).code).toBe(0);
    expect(calls()).toHaveLength(1);
    expect(calls()[0]).toMatch(/ other my-stack$/);
  });

  it.each([
    ["connect.sh", { HAVE_CONTAINER: "no" }, /there is no container my-stack\nhint: start the stack first/],
    ["connect.sh", { HAVE_NETWORK: "no" }, /there is no network kind\nhint: create the cluster first/],
    ["create.sh", { HAVE_CONTAINER: "no" }, /there is no container my-stack/],
    ["create.sh", {}, /plugin\/bin\/ecr-credential-provider is missing or not executable/],
  ])("%s with %j says what is missing, and does nothing", (script, env, message) => {
    const { run: start, calls } = standIns();
    const { code, err } = start(script, env);
    expect(code).toBe(1);
    expect(err).toMatch(message);
    expect(calls()).toEqual([]);
  });

  it("create the cluster, connect the stack, apply the manifests, in this order", () => {
    const plugin = join(root, "kind/plugin/bin/ecr-credential-provider");
    writeFileSync(plugin, "");
    chmodSync(plugin, 0o755);
    const { run: start, calls } = standIns();
    expect(start("create.sh", { NO_PROXY: "localhost" })).toEqual({ code: 0, err: "" });
    expect(read("tls/ca.pem")).toBe("the CA\n");
    const [kind = "", connect, apply] = calls();
    expect(kind).toMatch(/^kind create cluster --config kind\.yaml --wait 180s NO_PROXY=localhost,oidc\.eks\./);
    expect(connect).toContain(CONNECT);
    expect(apply).toBe("kubectl --context kind-pullproof apply -f manifests/audience.yaml -f manifests/world.yaml");
  });
});
