// The peers and ours as servers: each started as its users start it, on loopback and a free port.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./load.ts";
import { findFreePort } from "./processes.ts";
import { type Server, type ServerCommand, startAnswering, startPrinting } from "./servers.ts";

const NODE = process.execPath;
const CLI = join(import.meta.dirname, "..", "dist", "cli", "bin.cjs");
/** The newest when this was written. Its server checks no signature, no time and no policy. */
const MOTO = "moto[server]==5.2.5";

/** What `pullproof up --json` says. */
export interface Ready {
  readonly http: string;
  readonly https: string;
  readonly ca: string;
  readonly control: string;
}

/** The built package as a process. */
export async function startOurs(folder: string, world?: string): Promise<Server & Ready> {
  const args = [CLI, "up", "--json", "--port", "0", "--data-dir", join(folder, "ours")];
  if (world !== undefined) args.push("--world", world);
  const [server, ready] = await startPrinting({ command: NODE, args }, (line): Ready => JSON.parse(line));
  return { ...server, ...ready, url: ready.http };
}

/** A Node script of this folder that prints its URL. */
export async function startScript(script: string, ...options: readonly string[]): Promise<Server> {
  const command = { command: NODE, args: [join(import.meta.dirname, script), ...options] };
  const [server] = await startPrinting(command, (line) => line);
  return server;
}

export interface DockerRegistryOptions {
  readonly users?: Readonly<Record<string, string>>;
  readonly tls?: { readonly certificate: string; readonly key: string };
}

/** Debian's docker-registry with files below `folder`; quiet, so that it does not pay for logs that nobody reads. */
export async function startDockerRegistry(folder: string, options: DockerRegistryOptions = {}): Promise<Server> {
  const port = await findFreePort();
  const home = join(folder, `docker-registry-${port}`);
  mkdirSync(home);
  const config = {
    version: 0.1,
    log: { level: "error", accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: home }, cache: { blobdescriptor: "inmemory" }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}`, ...(options.tls ? { tls: options.tls } : {}) },
    ...(options.users ? { auth: { htpasswd: { realm: "bench", path: writeUsers(home, options.users) } } } : {}),
  };
  const path = join(home, "config.json"); // YAML is a superset
  writeFileSync(path, JSON.stringify(config));
  const scheme = options.tls ? "https" : "http";
  const command = { command: "docker-registry", args: ["serve", path] };
  const server = await startAnswering(command, `${scheme}://127.0.0.1:${port}/v2/`);
  return server;
}

/** bcrypt at the cost that htpasswd takes unless told: the registry accepts nothing else. */
function writeUsers(home: string, users: Readonly<Record<string, string>>): string {
  const path = join(home, "htpasswd");
  const lines = Object.entries(users).map(([user, password]) => execFileSync("htpasswd", ["-nbB", user, password]));
  writeFileSync(path, lines.join("\n"));
  return path;
}

/** moto's server in a virtual environment that is kept between runs. */
export async function startMoto(): Promise<Server> {
  const port = await findFreePort();
  const command: ServerCommand = {
    command: join(findMoto(), "bin", "moto_server"),
    args: ["-H", "127.0.0.1", "-p", String(port)],
  };
  return startAnswering(command, `http://127.0.0.1:${port}/moto-api/`);
}

function findMoto(): string {
  const home = join(cacheFolder(), `bench-${MOTO.replace(/\W+/g, "-")}`);
  const done = join(home, "installed");
  if (existsSync(done)) return home;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(cacheFolder(), { recursive: true });
  execFileSync("python3", ["-m", "venv", home], { stdio: ["ignore", "ignore", "inherit"] });
  const pip = [join(home, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", MOTO];
  execFileSync(pip[0]!, pip.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
  writeFileSync(`${done}.draft`, "");
  renameSync(`${done}.draft`, done);
  return home;
}
