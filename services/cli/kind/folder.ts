// Writes the generated folder. Files that someone changed are not overwritten unless asked for.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ConfigurationError } from "../../shared/errors.ts";
import { FILES } from "./paths.ts";

interface FolderContent {
  readonly files: Readonly<Record<string, string>>;
  /** Written with mode 0600. */
  readonly secrets: Readonly<Record<string, string>>;
  /** An executable for plugin/bin. */
  readonly plugin?: string;
  /** The stack's CA. */
  readonly ca?: string;
  readonly force: boolean;
}

/**
 * Writes everything, or nothing.
 * @returns the paths written, in the folder
 * @throws ConfigurationError naming the files that are there with other content, or what cannot be read or written
 */
export function writeKindFolder(out: string, content: FolderContent): readonly string[] {
  const { files, secrets, plugin, ca, force } = content;
  const bytes = new Map<string, Buffer>();
  for (const [path, text] of Object.entries({ ...files, ...secrets })) bytes.set(path, Buffer.from(text));
  if (ca !== undefined) bytes.set(FILES.ca, readInput("--ca", ca));
  if (plugin !== undefined) bytes.set(`${FILES.pluginFolder}/${basename(plugin)}`, readInput("--plugin", plugin));
  if (!force) refuseForeign(out, bytes);
  try {
    mkdirSync(join(out, FILES.pluginFolder), { recursive: true });
    mkdirSync(join(out, dirname(FILES.ca)), { recursive: true });
    for (const [path, data] of bytes) writeOne(join(out, path), data, modeOf(path, secrets));
  } catch (cause) {
    throw new ConfigurationError(`cannot write to ${out}: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
      hint: "choose a folder you may write to with --out",
    });
  }
  return [...bytes.keys()];
}

/** In place, never by renaming: a file that is mounted keeps its inode. */
function writeOne(file: string, data: Buffer, mode: number): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, data, { mode });
  chmodSync(file, mode);
}

function modeOf(path: string, secrets: FolderContent["secrets"]): number {
  if (Object.hasOwn(secrets, path)) return path === FILES.publicKey ? 0o644 : 0o600;
  return path.endsWith(".sh") || path.startsWith(`${FILES.pluginFolder}/`) ? 0o755 : 0o644;
}

function refuseForeign(out: string, bytes: ReadonlyMap<string, Buffer>): void {
  const other = [...bytes].filter(([path, data]) => differs(join(out, path), data)).map(([path]) => path);
  if (other.length === 0) return;
  throw new ConfigurationError(`${out} has files with other content: ${other.join(", ")}`, {
    hint: "--force overwrites them, --out chooses another folder",
  });
}

function differs(file: string, data: Buffer): boolean {
  return existsSync(file) && !readInput("--out", file).equals(data);
}

function readInput(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new ConfigurationError(`${option}: cannot read ${file}: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}
