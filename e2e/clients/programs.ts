// Where the client programs are, and what they say of themselves. A missing one is an error that says how to get it.
import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dirname;

/** Debian's programs: package, path. Another program of the same name earlier on the PATH is not what is tested. */
const DEBIAN = {
  skopeo: ["skopeo", "/usr/bin/skopeo"],
  podman: ["podman", "/usr/bin/podman"],
  buildah: ["buildah", "/usr/bin/buildah"],
  docker: ["docker.io", "/usr/bin/docker"],
  dockerd: ["docker.io", "/usr/sbin/dockerd"],
  containerd: ["containerd", "/usr/bin/containerd"],
  ctr: ["containerd", "/usr/bin/ctr"],
  "docker-credential-ecr-login": ["amazon-ecr-credential-helper", "/usr/bin/docker-credential-ecr-login"],
} as const;

/** The path of one of Debian's programs. */
export function findDebianProgram(name: keyof typeof DEBIAN): string {
  const [debianPackage, path] = DEBIAN[name];
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new Error(`${path} is missing: apt-get install ${debianPackage}`);
  }
  return path;
}

/** Runs one of this folder's build scripts, which print the folder that holds what they built or find it built. */
function build(script: string): string {
  return execFileSync(join(HERE, script), { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
}

/** A program of `tools/go.mod`. */
export function findGoTool(name: "crane" | "oras" | "regctl" | "crictl" | "docker-credential-ecr-login"): string {
  return join(build("tools/build.sh"), name);
}

/** Our program on the AWS SDK for Go. */
export function findGoProgram(): string {
  return join(build("go-sdk/build.sh"), "go-sdk");
}

/** `aws` or `python` of the virtual environment that `python/requirements.txt` pins. */
export function findPythonProgram(name: "aws" | "python"): string {
  return join(build("python/build.sh"), "bin", name);
}

/** The version that a `go.mod` or `requirements.txt` of this folder pins for a module or package. */
export function readPin(file: string, name: string): string {
  const escaped = name.replaceAll(/[.\\/]/g, "\\$&");
  const found = new RegExp(`^\\s*(?:require )?${escaped}(?:==| v)(\\S+)`, "m").exec(
    readFileSync(join(HERE, file), "utf8"),
  );
  if (!found?.[1]) throw new Error(`expected a version of ${name} in ${file}, found none`);
  return found[1];
}
