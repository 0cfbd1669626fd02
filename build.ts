// Makes `dist/`: the published package. One bundle with shared chunks for library and command line, a bundle of its
// own for the plugin, type declarations, and the licences of what is bundled.
//
// Dependencies are bundled because start-up is a feature, and so is a package that installs nothing it never loads.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import { createBundleOptions } from "./services/credential-provider/index.ts";

const ROOT = import.meta.dirname;
const DIST = join(ROOT, "dist");

/** Output name → source. A room that has no such file (yet) is left out. */
const ENTRIES: Readonly<Record<string, string>> = {
  "testing/index": "services/testing/index.ts",
  "testing/testcontainers": "services/testing/testcontainers.ts",
  "testing/vitest": "services/testing/vitest.ts",
  "cli/main": "services/cli/main.ts",
};

/** Loaded at run time only where they are installed. */
const EXTERNAL = ["esbuild", "testcontainers", "vitest"];

// `import "node:http"` evaluates every export of it, and with them fetch, web streams and workers: 60 ms that nothing
// here needs. Taken as an object, its members load when they are used.
const loadBuiltinsLazily: Plugin = {
  name: "load-builtins-lazily",
  setup({ onResolve, onLoad }) {
    const names = new Set(builtinModules.map((name) => name.replace(/^node:/, "")));
    onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path }) => {
      const name = path.replace(/^node:/, "");
      return names.has(name) ? { path: name, namespace: "builtin", sideEffects: false } : undefined;
    });
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(`node:${path}`)});`,
    }));
  },
};

// Express loads its body parsers eagerly, and with them half a megabyte of character sets. No room parses bodies with
// middleware: digests and request signatures need the raw bytes.
const leaveOutBodyParsers: Plugin = {
  name: "leave-out-body-parsers",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^body-parser$/ }, ({ path }) => ({ path, namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "module.exports = {};" }));
  },
};

// The table of all media types that were ever registered costs 20 ms to read. Rooms name their types in full; what
// counts beyond that is whether a type has a character set, and the endings of what a browser is served.
const BY_ENDING =
  /^(text\/(html|css|javascript|plain|xml)|image\/(png|svg\+xml)|application\/(json|xml|octet-stream)|font\/woff2)$/;
const shortenMediaTypes: Plugin = {
  name: "shorten-media-types",
  setup({ onLoad }) {
    onLoad({ filter: /mime-db[\\/]db\.json$/ }, ({ path }) => {
      const types: Record<string, { charset?: string }> = JSON.parse(readFileSync(path, "utf8"));
      const kept = Object.entries(types).filter(([name, { charset }]) => charset !== undefined || BY_ENDING.test(name));
      return { contents: JSON.stringify(Object.fromEntries(kept)), loader: "json" };
    });
  },
};

// Reading the default world costs 10 ms of a start of 30. It is the same every time: the value is put in.
const readDefaultWorldOnce: Plugin = {
  name: "read-default-world-once",
  setup({ onLoad }) {
    onLoad({ filter: /stack[\\/]default-world-read\.ts$/ }, async () => {
      const { readDefaultWorld } = await import("./services/stack/default-world-read.ts");
      const text = JSON.stringify(JSON.stringify(readDefaultWorld()));
      return { contents: `export function readDefaultWorld() { return JSON.parse(${text}); }`, loader: "js" };
    });
  },
};

async function bundlePackage(): Promise<Metafile> {
  const present = Object.entries(ENTRIES).filter(([, source]) => existsSync(join(ROOT, source)));
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(present),
    outdir: DIST,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    mainFields: ["module", "main"],
    external: EXTERNAL,
    plugins: [loadBuiltinsLazily, leaveOutBodyParsers, shortenMediaTypes, readDefaultWorldOnce],
    minifySyntax: true,
    minifyWhitespace: true,
    // Names are not minified, so errors keep those of their classes. Not `keepNames`: it pays for that with a call for
    // every closure that is ever made.
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  return result.metafile;
}

async function bundlePlugin(): Promise<Metafile[]> {
  const options = createBundleOptions(ROOT, join(DIST, "credential-provider"));
  const results = await Promise.all(options.map((each) => build({ ...each, metafile: true })));
  return results.map(({ metafile }) => metafile);
}

function copyGuard(): void {
  const target = join(DIST, "cli", "bin.cjs");
  copyFileSync(join(ROOT, "services", "cli", "bin.cjs"), target);
  chmodSync(target, 0o755);
}

function emitTypes(): void {
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  execFileSync(tsc, ["-p", "tsconfig.build.json"], { cwd: ROOT, stdio: "inherit" });
  replaceExpressTypes();
}

// Express is bundled, its types are not: what declarations take from there is no more than this.
const EXPRESS_TYPES = `import type { IncomingMessage, ServerResponse } from "node:http";
export type Request = IncomingMessage;
export type Response = ServerResponse;
export type NextFunction = (error?: unknown) => void;
export type RequestHandler = (request: IncomingMessage, response: ServerResponse, next: NextFunction) => unknown;
export type Router = RequestHandler;
`;

function replaceExpressTypes(): void {
  const name = "express.d.ts";
  for (const file of readdirSync(DIST, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const text = readFileSync(join(DIST, file), "utf8");
    const path = relative(dirname(file), name.replace(".d.ts", ".js"));
    const replaced = text.replace(/(?<=^import .*from )"express"/gm, `"${path.startsWith(".") ? path : `./${path}`}"`);
    if (replaced !== text) writeFileSync(join(DIST, file), replaced);
  }
  writeFileSync(join(DIST, name), EXPRESS_TYPES);
}

/** Folders below node_modules that the bundles took something from. */
function listBundledPackages(metafiles: readonly Metafile[]): string[] {
  const folders = metafiles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .flatMap((path) => /^(?:.*?:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

function renderLicence(folder: string): string {
  const path = join(ROOT, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const files = readdirSync(path).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  if (license === undefined && files.length === 0) throw new Error(`${name} states no licence`);
  const texts = files.map((file) => readFileSync(join(path, file), "utf8").trim());
  return [`${name} ${version} (${license ?? "see below"})`, ...texts].join("\n\n");
}

function writeLicences(metafiles: readonly Metafile[]): void {
  const intro = "The files in this folder contain parts of the following packages.";
  const parts = listBundledPackages(metafiles).map(renderLicence);
  writeFileSync(join(DIST, "THIRD-PARTY-LICENSES"), `${[intro, ...parts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}

rmSync(DIST, { recursive: true, force: true });
const [metafile, pluginMetafiles] = await Promise.all([bundlePackage(), bundlePlugin()]);
copyGuard();
writeLicences([metafile, ...pluginMetafiles]);
// The container image has no use for them.
if (!process.argv.includes("--without-types")) emitTypes();
