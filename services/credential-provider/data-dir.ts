// Where the runnable plugin is, and the plugin directory that the simulated kubelet is pointed at (design 13.4).
// A published package carries the bundle; a clone bundles once and keeps the result in the user's cache.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PluginFileOptions {
  /** `XDG_CACHE_HOME`; `~/.cache` unless told (design 13.17). */
  readonly cacheHome?: string | undefined;
}

const PLUGIN_NAME = "ecr-credential-provider";
// Linux reads at most 255 bytes of a first line `#!…`, and passes what follows a blank as an argument.
const SHEBANG_LIMIT = 255;

/**
 * The script that Node runs as the plugin: the published bundle; in a clone a bundle from the cache, made when the
 * sources or the lock file changed, or `main.ts` itself where esbuild is not installed or the cache cannot be written.
 */
export async function findPluginFile(options: PluginFileOptions = {}): Promise<string> {
  // From dist/<room> and dist/chunks as from services/<room>, the plugin's folder is a sibling.
  const room = fileURLToPath(new URL("../credential-provider", import.meta.url));
  const published = join(room, "main.cjs");
  if (existsSync(published)) return published;
  try {
    return await bundleIntoCache(room, cacheFolder(options));
  } catch (error) {
    if (!isExpected(error)) throw error;
    return join(room, "main.ts");
  }
}

/**
 * Makes `directory` a plugin directory: it then holds an executable `ecr-credential-provider` that runs this very Node
 * binary on the plugin. Created if missing; safe to repeat.
 * @returns the directory
 */
export async function createBuiltinPluginDirectory(
  directory: string,
  options: PluginFileOptions = {},
): Promise<string> {
  const file = await findPluginFile(options);
  mkdirSync(directory, { recursive: true });
  const script = renderLauncher(process.execPath, file, join(cacheFolder(options), "compile"));
  const path = join(directory, PLUGIN_NAME);
  // Renamed into place, so that no pull ever finds a half-written or busy file.
  const temporary = `${path}.${randomUUID()}`;
  writeFileSync(temporary, script, { mode: 0o755 });
  renameSync(temporary, path);
  return directory;
}

/**
 * The text of the executable. A `#!` line naming Node saves the start of a shell; where the path is too long or has a
 * blank in it, the shell is needed. V8's compiled code is kept in `compileCache`, about a fifth of the run time.
 */
export function renderLauncher(node: string, file: string, compileCache: string): string {
  if (`#!${node}\n`.length <= SHEBANG_LIMIT && !/\s/.test(node)) {
    // Works as CommonJS and as an ES module: a file without ending takes its kind from a package.json above it.
    const open = 'const module_ = process.getBuiltinModule("node:module");';
    const cache = `module_.enableCompileCache(${JSON.stringify(compileCache)});`;
    const load = file.endsWith(".ts")
      ? `import(${JSON.stringify(`file://${file}`)});`
      : `module_.createRequire(${JSON.stringify(file)})(${JSON.stringify(file)});`;
    return `#!${node}\n${open}\n${cache}\n${load}\n`;
  }
  const [quotedNode, quotedFile, quotedCache] = [node, file, compileCache].map(quoteForShell);
  return `#!/bin/sh\nNODE_COMPILE_CACHE=${quotedCache} exec ${quotedNode} ${quotedFile} "$@"\n`;
}

const EXPECTED = ["ERR_MODULE_NOT_FOUND", "EACCES", "EPERM", "EROFS", "ENOSPC", "ENOTDIR", "ENOENT"];

function isExpected(error: unknown): boolean {
  return error instanceof Error && "code" in error && EXPECTED.includes(String(error.code));
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function cacheFolder({ cacheHome }: PluginFileOptions): string {
  return join(cacheHome || join(homedir(), ".cache"), "pullproof");
}

async function bundleIntoCache(room: string, cache: string): Promise<string> {
  const root = dirname(dirname(room));
  const folder = join(cache, `credential-provider-${hashSources(root, room)}`);
  if (!existsSync(folder)) {
    const [{ build }, { createBundleOptions }] = await Promise.all([import("esbuild"), import("./bundle.ts")]);
    const temporary = `${folder}.${randomUUID()}`;
    mkdirSync(temporary, { recursive: true });
    await Promise.all(createBundleOptions(root, temporary).map((options) => build(options)));
    putInPlace(temporary, folder);
  }
  return join(folder, "main.cjs");
}

// Another process may have been faster; its result is the same.
function putInPlace(temporary: string, folder: string): void {
  try {
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function hashSources(root: string, room: string): string {
  const own = readdirSync(room, { recursive: true, encoding: "utf8" }).sort();
  const sources = own.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const shared = ["clock.ts", "aws/registry-host.ts"].map((name) => join(root, "services/shared", name));
  const files = [...sources.map((name) => join(room, name)), ...shared, join(root, "package-lock.json")];
  const hash = createHash("sha256");
  for (const file of files) hash.update(file.slice(root.length)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex").slice(0, 16);
}
