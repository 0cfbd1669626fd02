// containerd and dockerd of our own inside the clients' network. Neither runs a container here; both pull and push.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findDebianProgram } from "./programs.ts";
import type { Stage } from "./stage.ts";

export const CONTAINERD_SOCKET = "/run/containerd/containerd.sock";

/**
 * No overlay file system: images alone need none. Isolated content: else the CRI finds what `ctr` fetched into another
 * of containerd's namespaces, and asks the registry for nothing but the tag.
 */
const CONTAINERD_CONFIG = `version = 2
[plugins."io.containerd.metadata.v1.bolt"]
  content_sharing_policy = "isolated"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"
`;

/** One process that stays; `close` ends it. */
export interface Engine extends AsyncDisposable {
  readonly name: string;
}

/** containerd with its CRI plugin. */
export async function startContainerd(stage: Stage): Promise<Engine> {
  const config = join(stage.home("containerd"), "config.toml");
  writeFileSync(config, CONTAINERD_CONFIG);
  const ctr = findDebianProgram("ctr");
  return startEngine(stage, {
    name: "containerd",
    words: [findDebianProgram("containerd"), "--config", config],
    probe: [ctr, "version"],
  });
}

/** dockerd on the containerd of {@link startContainerd}, without bridge and packet filter. */
export async function startDockerd(stage: Stage): Promise<Engine> {
  const config = join(stage.home("dockerd"), "daemon.json");
  writeFileSync(config, "{}");
  const offline = ["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"];
  return startEngine(stage, {
    name: "dockerd",
    words: [
      findDebianProgram("dockerd"),
      `--config-file=${config}`,
      `--containerd=${CONTAINERD_SOCKET}`,
      "--storage-driver=vfs",
      ...offline,
    ],
    probe: [findDebianProgram("docker"), "version", "--format", "{{.Server.Version}}"],
  });
}

interface EngineStart {
  readonly name: string;
  readonly words: readonly [string, ...string[]];
  /** Exits with 0 once the engine answers. */
  readonly probe: readonly [string, ...string[]];
}

const TRIES = 100;

async function startEngine(stage: Stage, { name, words, probe }: EngineStart): Promise<Engine> {
  const [program = "", ...args] = [...stage.enter, ...words];
  const child = spawn(program, args, {
    env: stage.environment(stage.home(name)),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log = `${log}${chunk}`.slice(-4_000);
  });
  for (let n = 0; n < TRIES; n += 1) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${log}`);
    if ((await stage.run(probe, { home: name })).exitCode === 0)
      return { name, [Symbol.asyncDispose]: () => end(child) };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await end(child);
  throw new Error(`${name} does not answer:\n${log}`);
}

/** `nsenter` hands no signal on: the engine itself ends with the network; this ends the wait for it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  child.stderr?.destroy();
  await closed;
}
