// The load client: a small Go program (load/), built once per state of its source and kept in the user's cache.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CLEAN_ENVIRONMENT, pinned } from "./processes.ts";

/** What to ask; see `load/main.go`. */
export interface Job {
  readonly url: string;
  readonly method?: string;
  readonly host?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly ca?: string;
  readonly requests: number;
  readonly connections: number;
  readonly bodies?: string;
  readonly bodyBytes?: number;
  readonly push?: boolean;
  readonly expect?: number;
}

/** What came of it; `cpuSeconds` is the client's own. */
export interface Report {
  readonly requests: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly reconnects: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuSeconds: number;
  readonly digest?: string;
}

const SOURCE = join(import.meta.dirname, "load");

/** Where built and downloaded programs are kept between runs. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pullproof");
}

let built: string | undefined;

/** @returns the path of the client's binary */
function findClient(): string {
  built ??= buildClient();
  return built;
}

function buildClient(): string {
  const files = readdirSync(SOURCE).filter((name) => /\.go$|^go\.mod$/.test(name));
  const source = files.toSorted().map((name) => readFileSync(join(SOURCE, name), "utf8"));
  const version = execFileSync("go", ["env", "GOVERSION"], { encoding: "utf8", cwd: SOURCE });
  const key = createHash("sha256")
    .update([version, ...source].join("\0"))
    .digest("hex")
    .slice(0, 16);
  const path = join(cacheFolder(), `bench-load-${key}`);
  if (existsSync(path)) return path;
  mkdirSync(cacheFolder(), { recursive: true });
  const draft = `${path}.${process.pid}`;
  const env = { ...CLEAN_ENVIRONMENT, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" };
  execFileSync("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", draft, "."], { cwd: SOURCE, env });
  renameSync(draft, path);
  return path;
}

/**
 * Runs one job on the client's core.
 * @throws Error with the client's own words when an answer was not the expected one
 */
export function runLoad(job: Job): Promise<Report> {
  const [command, args] = pinned("client", findClient(), []);
  const child = spawn(command, args, { env: CLEAN_ENVIRONMENT, stdio: ["pipe", "pipe", "pipe"] });
  const texts = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    texts.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    texts.err += chunk;
  });
  child.stdin.end(JSON.stringify({ method: "GET", expect: 200, ...job }));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(JSON.parse(texts.out));
      else reject(new Error(`${job.method ?? "GET"} ${job.url}: ${texts.err.trim()}`));
    });
  });
}
