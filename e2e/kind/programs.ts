// The Go programs of this folder: what they answer, and how to ask them.
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Verdict {
  readonly what: "gates" | "kubelet" | "kubeadm" | "provider" | "manifests";
  readonly file: string;
  /** Empty if the file was accepted. */
  readonly error: string;
}

export interface RenderedCluster {
  readonly name: string;
  readonly configPath: string;
  readonly nodes: readonly {
    readonly name: string;
    readonly role: string;
    readonly image: string;
    /** File with kubeadm's configuration of this node. */
    readonly kubeadm: string;
    readonly mounts: readonly { readonly hostPath: string; readonly containerPath: string }[];
  }[];
}

export interface RegistryHost {
  readonly url: string;
  readonly pull: boolean;
  readonly resolve: boolean;
}

export interface Programs {
  /** What kind makes of a cluster configuration for this version; rejects with kind's words. */
  renderCluster(config: string, kubernetes: string, out: string): Promise<RenderedCluster>;
  /** Where containerd goes for a registry, in order; rejects with containerd's words. */
  readHosts(folder: string, host: string): Promise<readonly RegistryHost[]>;
  /** What the programs of one minor say of files. */
  check(minor: string, args: readonly string[]): Promise<readonly Verdict[]>;
}

/** Builds what is not built yet. @throws if Go is missing or a program does not compile */
export function buildPrograms(): Programs {
  const folder = execFileSync(join(import.meta.dirname, "build.sh"), { encoding: "utf8" }).trim();
  const ask = async (program: string, args: readonly string[]) => {
    const { stdout } = await run(join(folder, program), args).catch((error: unknown) => {
      const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
      throw new Error(said || String(error), { cause: error });
    });
    return JSON.parse(stdout);
  };
  const containerd = join(folder, "containerd.toml");
  return {
    renderCluster: (config, kubernetes, out) =>
      ask("with-kind", ["-config", config, "-kubernetes", kubernetes, "-containerd", containerd, "-out", out]),
    readHosts: (hosts, host) => ask("with-kind", ["-hosts", hosts, "-host", host]),
    check: (minor, args) => ask(`with-kubernetes-${minor}`, args),
  };
}
