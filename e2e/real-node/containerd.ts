// The container runtime of the real node: containerd, which finds our registry behind every host name of the world.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Enclosure } from "./enclosure.ts";
import type { Programs } from "./programs.ts";

export interface ContainerdOptions {
  readonly enclosure: Enclosure;
  readonly programs: Programs;
  /** The registry's host names, and the one address that answers for all of them. */
  readonly hosts: readonly string[];
  readonly address: string;
  readonly caFile: string;
  /** Holds a Pod's namespaces; pulled from the stack like any other. */
  readonly sandboxImage: string;
}

export interface Containerd {
  /** For `containerRuntimeEndpoint`. */
  readonly endpoint: string;
  /** Puts an image on the node behind the kubelet's back. */
  preload(image: string, user: string): Promise<void>;
}

/** Starts containerd and waits until it answers. @throws RealNodeError */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { enclosure, programs } = options;
  const { folder } = enclosure;
  const socket = join(folder, "containerd.sock");
  const hostsFolder = writeHosts(options);
  const config = join(folder, "containerd.toml");
  writeFileSync(config, renderConfig({ folder, socket, hostsFolder, sandboxImage: options.sandboxImage }));
  // The shim is found on the PATH, and must be of the same make.
  const pathFirst = dirname(programs.containerd);
  const daemon = enclosure.start("containerd", [programs.containerd, "--config", config], { pathFirst });
  const ctr = (...args: string[]) =>
    enclosure.run([programs.ctr, "--address", socket, "--namespace", "k8s.io", ...args]);
  await daemon.until("it answers", async () => (await ctr("version")) !== "", 30);
  return {
    endpoint: `unix://${socket}`,
    preload: async (image, user) =>
      void (await ctr("images", "pull", "--hosts-dir", hostsFolder, "--user", user, image)),
  };
}

/** One address answers for all names: containerd says with `?ns=` which one it means (spec: mirrors of hosts.toml). */
function writeHosts({ enclosure, hosts, address, caFile }: ContainerdOptions): string {
  const folder = join(enclosure.folder, "certs.d");
  for (const host of hosts) {
    mkdirSync(join(folder, host), { recursive: true });
    const mirror = `[host."${address}"]\n  capabilities = ["pull", "resolve"]\n  ca = "${caFile}"\n`;
    // Without `server` a failure would lead to the real host of that name; it has a `ca` of its own, and is asked again
    // for what the mirror does not have.
    writeFileSync(join(folder, host, "hosts.toml"), `server = "${address}"\nca = "${caFile}"\n${mirror}`);
  }
  return folder;
}

/** Version 2 of the file is read by 1.6 and, migrated, by 2.x. */
function renderConfig(at: { folder: string; socket: string; hostsFolder: string; sandboxImage: string }): string {
  return `version = 2
root = "${at.folder}/containerd"
state = "${at.folder}/run"
[grpc]
  address = "${at.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${at.sandboxImage}"
  restrict_oom_score_adj = true # not every machine grants CAP_SYS_RESOURCE
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${at.folder}/cni" # empty: every Pod uses the host's network
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${at.hostsFolder}"
`;
}
