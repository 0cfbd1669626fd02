// The package as users get it: packed once per state of the sources, installed into folders of its own.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
const PREFIX = "package-";

/** What `npm pack` says about the archive. */
export interface PackedPackage {
  /** Path of the archive. */
  readonly archive: string;
  /** Paths inside the package. */
  readonly files: readonly string[];
}

/**
 * Packs the working tree as it is. The build runs in a copy, so that nobody who uses `dist/` meanwhile is disturbed; the
 * archive is kept under the cache folder, by the content of the sources.
 */
export function packPackage(): PackedPackage {
  packed ??= findPacked();
  return packed;
}

let packed: PackedPackage | undefined;

function findPacked(): PackedPackage {
  const sources = listSources();
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pullproof");
  const folder = join(cache, PREFIX + hashOf(sources));
  if (!existsSync(join(folder, "pack.json"))) {
    for (const old of listOld(cache)) rmSync(join(cache, old), { recursive: true, force: true });
    pack(sources, folder);
  }
  const [{ filename, files }] = JSON.parse(readFileSync(join(folder, "pack.json"), "utf8"));
  return { archive: join(folder, filename), files: files.map(({ path }: { path: string }) => path) };
}

function listOld(cache: string): string[] {
  return existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith(PREFIX)) : [];
}

function listSources(): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z"];
  const listed = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).split("\0");
  const packed =
    /^(services\/|(package(-lock)?|tsconfig(\.build)?)\.json$|build\.ts$|README\.md$|CHANGELOG\.md$|LICENSE$)/;
  return listed.filter((file) => packed.test(file) && !file.endsWith(".test.ts") && existsSync(join(ROOT, file)));
}

function hashOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update("\0");
  return hash.digest("hex").slice(0, 16);
}

function pack(files: readonly string[], folder: string): void {
  const copy = mkdtempSync(join(tmpdir(), "pullproof-pack-"));
  try {
    for (const file of files) cpSync(join(ROOT, file), join(copy, file), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    mkdirSync(folder, { recursive: true });
    // What the build prints goes to stderr, or npm's JSON could not be read.
    const report = execFileSync("npm", ["pack", "--json", "--foreground-scripts=false", "--pack-destination", folder], {
      cwd: copy,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    writeFileSync(join(folder, "pack.json"), report);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** An empty folder with nothing in it but the installed package. Needs no network: the package has no dependencies. */
export function installPackage(): string {
  installed ??= install();
  const folder = mkdtempSync(join(tmpdir(), "pullproof-user-"));
  cpSync(installed, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Installed once per process, copied from then on. */
let installed: string | undefined;

function install(): string {
  const { archive } = packPackage();
  const folder = mkdtempSync(join(tmpdir(), "pullproof-install-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  const args = ["install", "--offline", "--no-audit", "--no-fund", "--save-dev", archive];
  execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"], env: userEnvironment(folder) });
  return folder;
}

/** Links programs and types that a user would install beside it, from this repository. */
export function linkPackages(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(ROOT, "node_modules", name), link);
    const { bin = {} } = JSON.parse(readFileSync(join(link, "package.json"), "utf8"));
    const programs = typeof bin === "string" ? { [basename(name)]: bin } : bin;
    for (const [program, path] of Object.entries<string>(programs)) {
      const target = join(folder, "node_modules", ".bin", program);
      mkdirSync(dirname(target), { recursive: true });
      if (!existsSync(target)) symlinkSync(join(link, path), target);
    }
  }
}

/** A user's environment: nothing of npm's own about this repository, no cached plugin, no settings. */
export function userEnvironment(folder: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => /^(PATH|HOME|LANG|TMPDIR|USER|SHELL|TERM)$/.test(name));
  return { ...Object.fromEntries(kept as [string, string][]), XDG_CACHE_HOME: join(folder, ".cache"), ...more };
}

/** What a program said and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a program in a user's folder to its end. */
export function runAsUser(
  folder: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: folder,
    env: userEnvironment(folder, environment),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...said }));
  });
}
