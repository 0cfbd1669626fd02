// connect.sh with a real Docker engine: the container is known in kind's network by every name, also the second time.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CLI = join(import.meta.dirname, "../../services/cli/bin.cjs");
const BUSYBOX = "/bin/busybox";
const NAME = `pullproof-kind-connect-${process.pid}`;
const ECR_HOST = "111122223333.dkr.ecr.us-west-2.amazonaws.com";

let root: string;

function docker(...args: string[]): string {
  return execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Without complaint about what is not there. */
function remove(...args: string[]): void {
  spawnSync("docker", args, { stdio: "ignore" });
}

beforeAll(() => {
  // An engine that does not answer, or a missing busybox-static, fails here with their own words.
  docker("version");
  root = mkdtempSync(join(tmpdir(), "pullproof-connect-"));
  mkdirSync(join(root, "image/bin"), { recursive: true });
  execFileSync("cp", [BUSYBOX, join(root, "image/bin/busybox")]);
  execFileSync("tar", ["-C", join(root, "image"), "-cf", join(root, "image.tar"), "."]);
  docker("import", join(root, "image.tar"), NAME);
  docker("network", "create", NAME);
  docker("run", "--detach", "--name", NAME, NAME, "/bin/busybox", "sleep", "600");
  const out = join(root, "kind");
  const args = ["--kubernetes", "1.37", "--issuer", "cluster", "--container", NAME, "--out", out];
  execFileSync(process.execPath, [CLI, "kind", "generate", ...args], { stdio: "ignore" });
});

afterAll(() => {
  remove("rm", "--force", NAME);
  remove("network", "rm", NAME);
  remove("image", "rm", NAME);
  if (root) rmSync(root, { recursive: true, force: true });
});

function connect(network = NAME): { status: number | null; stderr: string } {
  const environment = { ...process.env, KIND_EXPERIMENTAL_DOCKER_NETWORK: network };
  const { status, stderr } = spawnSync(join(root, "kind/connect.sh"), { env: environment, encoding: "utf8" });
  return { status, stderr };
}

/** What a neighbour in the network finds under a name. */
function addressOf(host: string): string {
  const { stdout } = spawnSync(
    "docker",
    ["run", "--rm", "--network", NAME, NAME, "/bin/busybox", "nslookup", host, "127.0.0.11"],
    { encoding: "utf8" },
  );
  return stdout;
}

describe("connect.sh", () => {
  it("gives the container every name, each time it runs", () => {
    for (const _time of ["first", "second"]) {
      expect(connect()).toEqual({ status: 0, stderr: "" });
      const [inspected] = JSON.parse(docker("container", "inspect", NAME));
      const { Aliases: aliases, IPAddress: address } = inspected.NetworkSettings.Networks[NAME];
      const wanted = readFileSync(join(root, "kind/connect.sh"), "utf8").match(/(?<=--alias )\S+/g) ?? [];
      expect(wanted).toContain(ECR_HOST);
      expect(aliases).toEqual(expect.arrayContaining(wanted));
      expect(addressOf(ECR_HOST)).toContain(address);
      expect(addressOf(ECR_HOST.replace("1111", "9999"))).not.toContain(address);
    }
  });

  it("says that the cluster is missing when there is no such network", () => {
    const { status, stderr } = connect(`${NAME}-none`);
    expect(status).toBe(1);
    expect(stderr).toBe(
      `connect.sh: there is no network ${NAME}-none\nhint: create the cluster first: kind makes the network\n`,
    );
  });
});
