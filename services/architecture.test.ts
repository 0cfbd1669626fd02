// The rules of the house, kept by a machine: who may know whom, and what may be used where.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = import.meta.dirname;

/** A room may import these rooms, through their index.ts only. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  oidc: [],
  iam: [],
  registry: [],
  kubelet: [],
  control: [],
  "credential-provider": [],
  apiserver: ["oidc"],
  sts: ["iam"],
  ecr: ["iam", "registry"],
  stack: ["oidc", "iam", "registry", "kubelet", "control", "credential-provider", "apiserver", "sts", "ecr"],
  testing: ["stack"],
  cli: ["stack", "kubelet", "testing"],
};

/** Rooms that another loads lazily: a static import of them (other than of types) is a mistake. */
const LAZY_FROM_CLI = ["stack", "testing", "kubelet"];

/** What core may import beside its own core, types, errors and pure files of shared. */
const CORE_LIBRARIES = ["node:crypto", "jose", "yaml", "zod", "ipaddr.js"];
/** Files of shared that do no I/O and read no clock. */
const PURE_SHARED = /^shared\/(errors|redact|random|clock|event|seal)\.ts$|^shared\/aws\/[\w-]+\.ts$/;

/** A module that only these files may import. */
const ONLY_IN: readonly { readonly module: RegExp; readonly files: RegExp }[] = [
  { module: /^express$/, files: /(^|\/)http\.ts$|^shared\/edge\.ts$/ },
  { module: /^node-forge$/, files: /^shared\/tls\.ts$/ },
  { module: /^node:child_process$/, files: /^kubelet\/exec\.ts$|^cli\// },
  {
    module: /^node:fs(\/promises)?$/,
    files: /(^|\/)(main|seed|tls|records-files|store-dir|config-files|data-dir)\.ts$|^cli\//,
  },
];

/** Text that only these files may contain. */
const TEXT_ONLY_IN: readonly { readonly text: RegExp; readonly files: RegExp }[] = [
  { text: /\bprocess\.env\b/, files: /(^|\/)main\.ts$/ },
  { text: /\bnew Date\(\)|\bDate\.now\(|\bMath\.random\(|\bperformance\.now\(/, files: /^shared\/(clock|random)\.ts$/ },
];

/** File names of style.md that never exist. */
const FORBIDDEN_NAMES = /(^|\/)(utils?|helpers?|common|misc|manager)\.ts$/;

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
}

interface Source {
  /** Relative to services/. */
  readonly file: string;
  readonly room: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "testdata" ? [] : listFiles(path);
    return entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts") ? [path] : [];
  });
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
}

function parseImports(text: string): Import[] {
  const found: Import[] = [];
  for (const match of text.matchAll(/^(import|export)\b([^;]*?)\bfrom\s+"([^"]+)"/gm)) {
    found.push({ specifier: match[3] ?? "", typeOnly: /^\s*type\b/.test(match[2] ?? ""), dynamic: false });
  }
  for (const match of text.matchAll(/^import\s+"([^"]+)"/gm))
    found.push({ specifier: match[1] ?? "", typeOnly: false, dynamic: false });
  for (const match of text.matchAll(/\bimport\("([^"]+)"\)/g))
    found.push({ specifier: match[1] ?? "", typeOnly: false, dynamic: true });
  return found;
}

const SOURCES: readonly Source[] = listFiles(ROOT).map((path) => {
  const file = relative(ROOT, path);
  const text = withoutComments(readFileSync(path, "utf8"));
  return { file, room: file.split("/")[0] ?? "", text, imports: parseImports(text) };
});

function target(source: Source, specifier: string): string | undefined {
  return specifier.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(source.file), specifier)) : undefined;
}

/** `iam/types.ts` may be named by type where its index would be a cycle: never; so only index.ts counts as a door. */
function roomViolations(source: Source): string[] {
  return source.imports.flatMap(({ specifier, typeOnly }) => {
    const file = target(source, specifier);
    if (file === undefined) return [];
    const room = file.split("/")[0] ?? "";
    if (room === source.room || room === "shared") return [];
    if (!(MAY_IMPORT[source.room] ?? []).includes(room)) return [`${source.file} imports room ${room}`];
    if (file !== `${room}/index.ts`) return [`${source.file} imports ${file} past its door`];
    if (source.room === "ecr" && room === "registry" && !typeOnly)
      return [`${source.file} imports more than types of registry`];
    return [];
  });
}

function coreViolations(source: Source): string[] {
  if (!source.file.includes("/core/")) return [];
  return source.imports.flatMap(({ specifier }) => {
    const file = target(source, specifier);
    if (file === undefined) return CORE_LIBRARIES.includes(specifier) ? [] : [`${source.file} imports ${specifier}`];
    const own = file.startsWith(`${source.room}/core/`) || /^[\w-]+\/(types|errors)\.ts$/.test(file);
    const foreignType =
      /^[\w-]+\/index\.ts$/.test(file) && (MAY_IMPORT[source.room] ?? []).includes(file.split("/")[0] ?? "");
    return own || foreignType || PURE_SHARED.test(file) ? [] : [`${source.file} imports ${file}`];
  });
}

function findCycles(): string[] {
  const graph = new Map(
    SOURCES.map((source) => {
      const eager = source.imports.filter((entry) => !entry.typeOnly && !entry.dynamic);
      return [source.file, eager.flatMap(({ specifier }) => target(source, specifier) ?? [])] as const;
    }),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) return void cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

describe("the architecture", () => {
  it("is looked at as a whole", () => {
    expect(SOURCES.length).toBeGreaterThan(100);
    expect(new Set(SOURCES.map((source) => source.room).filter((room) => !room.endsWith(".ts")))).toEqual(
      new Set(Object.keys(MAY_IMPORT)),
    );
  });

  it("lets rooms know each other only through their doors, along the agreed lines", () => {
    expect(SOURCES.flatMap(roomViolations)).toEqual([]);
  });

  it("keeps core pure", () => {
    expect(SOURCES.flatMap(coreViolations)).toEqual([]);
  });

  it("keeps every dangerous module in its files", () => {
    const violations = ONLY_IN.flatMap(({ module, files }) =>
      SOURCES.filter((source) => !files.test(source.file)).flatMap((source) =>
        source.imports
          .filter((entry) => module.test(entry.specifier) && !entry.typeOnly)
          .map((entry) => `${source.file} imports ${entry.specifier}`),
      ),
    );
    expect(violations).toEqual([]);
  });

  it("reads the clock, randomness and the environment in one place each", () => {
    const violations = TEXT_ONLY_IN.flatMap(({ text, files }) =>
      SOURCES.filter((source) => !files.test(source.file) && text.test(source.text)).map(
        (source) => `${source.file} has ${text}`,
      ),
    );
    expect(violations).toEqual([]);
  });

  it("has no import cycles", () => {
    expect(findCycles()).toEqual([]);
  });

  it("loads stack and kubelet lazily from the command line", () => {
    const violations = SOURCES.filter((source) => source.room === "cli").flatMap((source) =>
      source.imports
        .filter((entry) => !entry.dynamic && !entry.typeOnly)
        .filter((entry) => LAZY_FROM_CLI.includes(target(source, entry.specifier)?.split("/")[0] ?? ""))
        .map((entry) => `${source.file} imports ${entry.specifier} eagerly`),
    );
    expect(violations).toEqual([]);
  });

  it("names files after the noun inside", () => {
    expect(SOURCES.map((source) => source.file).filter((file) => FORBIDDEN_NAMES.test(file))).toEqual([]);
    expect(SOURCES.map((source) => source.file).filter((file) => !/^[a-z0-9./-]+$/.test(file))).toEqual([]);
  });

  it("opens each file with what it is for", () => {
    const silent = listFiles(ROOT).filter((path) => !readFileSync(path, "utf8").trimStart().startsWith("//"));
    expect(silent.map((path) => relative(ROOT, path))).toEqual([]);
  });

  it("gives each room a README with its five parts", () => {
    const parts = ["Imitates", "Speaks", "Differs", "Leaves out", "Sources"];
    const missing = Object.keys(MAY_IMPORT)
      .filter((room) => room !== "shared" && room !== "testing")
      .flatMap((room) => {
        const text = readFileSync(join(ROOT, room, "README.md"), "utf8");
        return parts.filter((part) => !text.includes(part)).map((part) => `${room}: ${part}`);
      });
    expect(missing).toEqual([]);
  });
});
