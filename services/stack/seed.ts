// What a stack is seeded with: the default world, a world file, or an object. The only reader of world files.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { listManifestProblems } from "../apiserver/index.ts";
import { listPolicyProblems } from "../iam/index.ts";
import { ConfigurationError } from "../shared/errors.ts";
import { readDefaultWorld } from "./default-world-read.ts";
import type { World } from "./types.ts";
import { parseWorldObject } from "./world.ts";
import type { WorldChecks } from "./world-context.ts";

/**
 * The world to start with.
 * @param source a file name, a world as an object, or nothing for the default world
 * @throws WorldError for a wrong world, ConfigurationError for a file that cannot be read
 */
export async function loadWorld(source?: string | object): Promise<World> {
  const checks: WorldChecks = { listManifestProblems, listPolicyProblems };
  if (source === undefined) return readDefaultWorld();
  if (typeof source !== "string") return parseWorldObject(source, checks);
  const text = readWorldFile(source);
  const folder = dirname(resolve(source));
  const { parseWorld } = await import("./world-file.ts");
  return parseWorld(text, source, {
    resolvePath: (path) => resolve(folder, path),
    readKeyFile: (file) => readFileSync(file, "utf8"),
    ...checks,
  });
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "it may not be read by this user",
  ENOTDIR: "a part of its path is no directory",
};

function readWorldFile(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const why = code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "it is not UTF-8 text" : (CAUSES[code] ?? code);
    throw new ConfigurationError(`cannot read the world file ${file}: ${why}`, {
      cause,
      hint: "name an existing YAML file with --world or PULLPROOF_WORLD, or leave both away for the default world",
    });
  }
}
