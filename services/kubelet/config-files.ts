// The node's files that are not records: provider configuration, executables, folders, the node's docker configuration.
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs";
import { extname, join } from "node:path";
import { type DockerConfig, parseDockerConfigJson, parsePullSecret } from "./core/docker-config.ts";
import { type ConfigFile, ProviderConfigError } from "./core/provider-config.ts";

const EXTENSIONS = [".json", ".yaml", ".yml"];

/**
 * Reads a configuration file, or the direct children of a directory in byte order (kubelet.md 1.2).
 * @throws ProviderConfigError with the kubelet's text
 */
export async function readConfigFiles(path: string, allowDirectory: boolean): Promise<ConfigFile[]> {
  if (path === "") throw new ProviderConfigError("credential provider config path is empty");
  const files = listConfigFiles(path, allowDirectory);
  const { parseManifestText } = await import("./core/manifest-text.ts");
  return files.map((file) => {
    const bytes = readText(file);
    return { path: file, bytes, ...parseManifestText(bytes.toString("utf8"), file) };
  });
}

function listConfigFiles(path: string, allowDirectory: boolean): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new ProviderConfigError(`unable to access path "${path}": stat ${path}: no such file or directory`);
  if (!found.isDirectory()) return [path];
  if (!allowDirectory) throw new ProviderConfigError(`unable to read file "${path}": read ${path}: is a directory`);
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && EXTENSIONS.includes(extname(entry.name)))
    .map((entry) => join(path, entry.name))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  if (files.length === 0) throw new ProviderConfigError(`no configuration files found in directory "${path}"`);
  return files;
}

function readText(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new ProviderConfigError(`unable to read file "${file}": ${cause instanceof Error ? cause.message : cause}`);
  }
}

/**
 * Checks that a provider's executable can be run, as Go's `exec.LookPath` does.
 * @throws ProviderConfigError; paths are missing in the texts because upstream prints an empty result
 */
export function checkExecutable(pluginDirectory: string, name: string): void {
  const path = join(pluginDirectory, name);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new ProviderConfigError("plugin binary executable  did not exist");
  const refuse = (why: string) =>
    new ProviderConfigError(
      `error inspecting binary executable : exec: ${JSON.stringify(name === "" ? pluginDirectory : path)}: ${why}`,
    );
  if (found.isDirectory()) throw refuse("is a directory");
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw refuse("permission denied");
  }
}

const START_BYTES = 128;

/**
 * False for text without `#!`: the kernel does not run it. Node would hand it to a shell all the same (execvp does), the
 * kubelet does not. What cannot be read is left to the kernel's own answer.
 */
export function isProgram(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return true;
  }
  try {
    const start = Buffer.alloc(START_BYTES);
    const bytes = start.subarray(0, readSync(file, start));
    return bytes.toString("latin1", 0, 2) === "#!" || bytes.includes(0);
  } finally {
    closeSync(file);
  }
}

/**
 * @throws ProviderConfigError if the directory of plugins is not there
 */
export function checkPluginDirectory(pluginDirectory: string): void {
  if (statSync(pluginDirectory, { throwIfNoEntry: false })) return;
  throw new ProviderConfigError(`plugin binary directory ${pluginDirectory} did not exist`);
}

/** Creates the kubelet's root and the plugins' home; answers the home. */
export function prepareDirectories(rootDirectory: string): string {
  const home = join(rootDirectory, "home");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return home;
}

/**
 * The node's docker configuration (2.9). Differs: only the kubelet's root is looked at, never anybody's home or the
 * working directory, so that a developer's own credentials cannot decide a verdict.
 */
export function readNodeDockerConfig(rootDirectory: string): DockerConfig {
  for (const [name, parse] of NODE_CONFIGS) {
    const path = join(rootDirectory, name);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) continue;
    try {
      return parse(readFileSync(path, "utf8"));
    } catch {
      // Upstream goes on to the next place when a file cannot be parsed.
    }
  }
  return {};
}

const NODE_CONFIGS: readonly (readonly [string, (text: string) => DockerConfig])[] = [
  ["config.json", parseDockerConfigJson],
  [
    ".dockercfg",
    (text) =>
      parsePullSecret({
        type: "kubernetes.io/dockercfg",
        data: { ".dockercfg": Buffer.from(text).toString("base64") },
      }) ?? {},
  ],
];
