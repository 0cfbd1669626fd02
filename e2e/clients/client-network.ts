// A private corner of this machine for client programs: network, mount and process namespaces of its own, in which the
// stack's real host names resolve, port 443 leads to the stack and the stack's CA is the system's only trusted one.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";

/** Reserved for documentation (RFC 5737), and not loopback: docker skips TLS verification for registries on 127.0.0.0/8. */
const ADDRESS = "192.0.2.1";
/** Where Debian's programs, Go, OpenSSL and curl find the trusted CAs, inside the network. */
export const SYSTEM_CA_BUNDLE = "/etc/ssl/certs/ca-certificates.crt";

/**
 * `/run` and `/var/lib` become empty: engines run with their default folders, see no other engine of this machine, and
 * everything they stored is gone with the namespace.
 */
const SETUP = `set -e
ip address add ${ADDRESS}/32 dev lo
ip link set lo up
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/certs" /etc/ssl/certs
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
shift
exec "$@"`;

export interface ClientNetworkOptions {
  /** An existing folder of this network alone. */
  readonly folder: string;
  /** Names that lead to the stack. */
  readonly names: readonly string[];
  /** The stack's port on 127.0.0.1. */
  readonly port: number;
  readonly caPem: string;
}

export interface ClientNetwork {
  /** The words before a program's own that make it run inside: `nsenter` and its options. */
  readonly enter: readonly string[];
  /** Ends every process inside, however many there are, and unmounts. */
  close(): Promise<void>;
}

/**
 * Opens the network. Needs root, `unshare`, `nsenter`, `mount` (util-linux) and `ip` (iproute2).
 * @throws Error with the cure if the machine does not allow it
 */
export async function openClientNetwork({ folder, names, port, caPem }: ClientNetworkOptions): Promise<ClientNetwork> {
  if (process.getuid?.() !== 0)
    throw new Error("the client tests need root, for namespaces and engines: run them as root");
  const hosts = ["127.0.0.1 localhost", ...names.map((name) => `${ADDRESS} ${name}`)];
  writeFileSync(join(folder, "hosts"), `${hosts.join("\n")}\n`);
  mkdirSync(join(folder, "certs"));
  writeFileSync(join(folder, "certs", "ca-certificates.crt"), caPem);

  const socketPath = join(folder, "stack.sock");
  const outside = await listenOutside(socketPath, port);
  const namespaces = [
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--propagation",
    "private",
  ];
  const gateway = [process.execPath, join(import.meta.dirname, "gateway.ts"), ADDRESS, socketPath];
  const holder = spawn("unshare", [...namespaces, "--", "sh", "-c", SETUP, "sh", folder, ...gateway], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const close = async () => {
    const gone =
      holder.exitCode === null && holder.signalCode === null && holder.pid ? once(holder, "close") : undefined;
    holder.kill("SIGKILL");
    await gone;
    await new Promise((resolve) => outside.close(resolve));
  };
  try {
    await untilReady(holder);
  } catch (error) {
    await close();
    throw error;
  }
  const of = (namespace: string) => `/proc/${holder.pid}/ns/${namespace}`;
  const enter = ["nsenter", `--net=${of("net")}`, `--mount=${of("mnt")}`, `--pid=${of("pid_for_children")}`, "--"];
  return { enter, close };
}

async function listenOutside(socketPath: string, port: number): Promise<net.Server> {
  const server = net.createServer({ allowHalfOpen: true }, (inside) => {
    const stack = net.connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    inside.pipe(stack).pipe(inside);
    inside.on("error", () => stack.destroy());
    stack.on("error", () => inside.destroy());
  });
  server.listen(socketPath);
  await once(server, "listening");
  return server;
}

function untilReady(holder: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let complaint = "";
    holder.stderr?.on("data", (chunk) => {
      complaint += chunk;
    });
    holder.stdout?.once("data", () => resolve());
    holder.once("error", (error) => reject(new Error(`unshare (util-linux) does not run: ${error.message}`)));
    holder.once("close", () =>
      reject(new Error(`the clients' network cannot be made (root, util-linux, iproute2): ${complaint}`)),
    );
  });
}
