// The real programs of a node, found before anything is started; all that are missing are told at once.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { RealNodeError } from "./real-node-error.ts";

/** Paths of what a node is made of. */
export interface Programs {
  readonly etcd: string;
  readonly containerd: string;
  readonly ctr: string;
  readonly kubelet: string;
  readonly kubeApiserver: string;
  /** The folder with the unmodified ecr-credential-provider. */
  readonly pluginDirectory: string;
  /** As it says itself. */
  readonly containerdVersion: string;
}

/** Program → Debian package; the first group comes with every Debian. */
const PACKAGES = {
  unshare: "util-linux",
  nsenter: "util-linux",
  flock: "util-linux",
  containerd: "containerd",
  ctr: "containerd",
  "containerd-shim-runc-v2": "containerd",
  runc: "runc",
  etcd: "etcd-server",
} as const;

const FROM_CONTAINERD = ["containerd", "ctr", "containerd-shim-runc-v2"];
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Finds the programs and builds those that are built here (about 12 CPU minutes cold, nothing warm).
 * @param options `searchPath` where Debian's programs are; `containerdDirectory` another containerd than Debian's
 *   (`PULLPROOF_CONTAINERD_DIR` unless told)
 * @throws RealNodeError naming every missing program and its package
 */
export function findPrograms(
  options: { readonly searchPath?: string; readonly containerdDirectory?: string | undefined } = {},
): Programs {
  const { searchPath = SYSTEM_PATH, containerdDirectory = process.env.PULLPROOF_CONTAINERD_DIR } = options;
  const find = (program: string) => {
    const own = containerdDirectory !== undefined && FROM_CONTAINERD.includes(program);
    const folders = own ? [containerdDirectory] : searchPath.split(":");
    return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
  };
  const missing = Object.entries(PACKAGES).filter(([program]) => find(program) === undefined);
  if (missing.length > 0) {
    const packages = [...new Set(missing.map(([, name]) => name))];
    throw new RealNodeError("the real node lacks programs", {
      why: `not found: ${missing.map(([program]) => program).join(", ")}`,
      cure: `apt-get install ${packages.join(" ")}`,
    });
  }
  if (process.getuid?.() !== 0) {
    throw new RealNodeError("the real node needs root", {
      why: "a kubelet makes mounts and cgroups",
      cure: "run as root",
    });
  }
  const containerd = find("containerd") ?? "";
  const kubernetes = build(join(import.meta.dirname, "build.sh"));
  return {
    etcd: find("etcd") ?? "",
    containerd,
    ctr: find("ctr") ?? "",
    kubelet: join(kubernetes, "kubelet"),
    kubeApiserver: join(kubernetes, "kube-apiserver"),
    pluginDirectory: dirname(build(join(import.meta.dirname, "../ecr-credential-provider/build.sh"))),
    containerdVersion: spawnSync(containerd, ["--version"], { encoding: "utf8" }).stdout.split(" ")[2] ?? "",
  };
}

function build(script: string): string {
  return execFileSync(script, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
}
