// docs/clients.md says which version of each client is tested: compared with what the programs print and the pins say.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findDebianProgram, findGoTool, readPin } from "./programs.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The first version number that a program prints. */
function printed(program: string, ...args: string[]): string {
  const text = execFileSync(program, args, { encoding: "utf8" });
  const found = /\d+\.\d+\.\d+/.exec(text);
  if (!found) throw new Error(`expected a version from ${program} ${args.join(" ")}, found ${text}`);
  return found[0];
}

function locked(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages[`node_modules/${name}`].version;
}

const tool = (module: string) => readPin("tools/go.mod", module);
const python = (name: string) => readPin("python/requirements.txt", name);

/** Every client, in the order of the table. */
const VERSIONS: Readonly<Record<string, () => string>> = {
  awscli: () => python("awscli"),
  boto3: () => python("boto3"),
  "aws-sdk-go-v2": () => readPin("go-sdk/go.mod", "github.com/aws/aws-sdk-go-v2"),
  "AWS SDK for JavaScript, client-sts": () => locked("@aws-sdk/client-sts"),
  "AWS SDK for JavaScript, client-ecr": () => locked("@aws-sdk/client-ecr"),
  "ecr-credential-provider": () => readPin("../ecr-credential-provider/go.mod", "k8s.io/cloud-provider-aws"),
  "docker-credential-ecr-login": () => printed(findDebianProgram("docker-credential-ecr-login"), "-v"),
  "docker-credential-ecr-login, newest": () => tool("github.com/awslabs/amazon-ecr-credential-helper/ecr-login"),
  skopeo: () => printed(findDebianProgram("skopeo"), "--version"),
  podman: () => printed(findDebianProgram("podman"), "--version"),
  buildah: () => printed(findDebianProgram("buildah"), "--version"),
  docker: () => printed(findDebianProgram("dockerd"), "--version"),
  "containerd (`ctr`)": () => printed(findDebianProgram("containerd"), "--version"),
  "containerd (CRI), by crictl": () => tool("sigs.k8s.io/cri-tools"),
  crane: () => tool("github.com/google/go-containerregistry"),
  oras: () => tool("oras.land/oras"),
  regctl: () => tool("github.com/regclient/regclient"),
};

/** Client and version of every row of the first table. */
function documented(): readonly (readonly [string, string])[] {
  const [table = ""] = readFileSync(join(ROOT, "docs/clients.md"), "utf8").split("\n## ");
  const rows = table.split("\n").filter((line) => line.startsWith("| ") && !/^\| (---|client) /.test(line));
  return rows.map((row) => {
    const [, client = "", version = ""] = row.split("|").map((cell) => cell.trim());
    return [client, version];
  });
}

describe("README.md", () => {
  it("lists the same clients, versions and commands", () => {
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    const [table = ""] = readFileSync(join(ROOT, "docs/clients.md"), "utf8").split("\n## ");
    const rows = [...table.matchAll(/^\| (.+?) \| ([\d.]+) \| .+? \| (.+) \| \[/gm)];
    expect(rows.length).toBeGreaterThan(10);
    for (const [, client, version, what] of rows) expect(readme).toContain(`| ${client} | ${version} | ${what} |`);
  });
});

describe("docs/clients.md", () => {
  it("lists every client with the version that is tested", () => {
    expect(documented()).toEqual(Object.entries(VERSIONS).map(([client, version]) => [client, version()]));
  });

  it("is built from the pinned versions", () => {
    const built = execFileSync("go", ["version", "-m", findGoTool("crane")], { encoding: "utf8" });
    expect(built).toContain(
      `github.com/google/go-containerregistry\tv${tool("github.com/google/go-containerregistry")}`,
    );
  });
});
