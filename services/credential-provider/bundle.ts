// Bundles the plugin for a fast start. It runs once for every pull, so each millisecond here is one of every Pod.
// What was measured to matter, in this order: CommonJS (importing node:http as an ES module builds the whole of fetch),
// no wrapped modules in the common path (a second file holds what only rare identities need), and no built-in
// modules that a plain call to STS and ECR does not use (TLS, zlib, web streams, readline behind fs/promises).
import type { BuildOptions, Plugin } from "esbuild";

/** File names of the bundle: the executable script, and what it loads for identities beyond the environment's keys. */
export const BUNDLE_FILES = ["main.cjs", "default-chain.cjs"] as const;

const RARE = /^(@aws-sdk\/credential-provider-(sso|ini|process|web-identity|http)|@smithy\/credential-provider-imds)$/;
const RARE_EXPORTS = `
export { fromSSO } from "@aws-sdk/credential-provider-sso";
export { fromIni } from "@aws-sdk/credential-provider-ini";
export { fromProcess } from "@aws-sdk/credential-provider-process";
export { fromTokenFile } from "@aws-sdk/credential-provider-web-identity";
export { fromHttp } from "@aws-sdk/credential-provider-http";
export { ENV_CMDS_FULL_URI, ENV_CMDS_RELATIVE_URI, fromContainerMetadata, fromInstanceMetadata } from "@smithy/credential-provider-imds";
`;

// Stand-ins for built-in modules. An agent made by the stand-in of https becomes a real one with its first request.
const STAND_INS: Readonly<Record<string, string>> = {
  "node:https": `
    class Agent {
      constructor(options) { this.options = options; }
      get defaultPort() { return 443; }
      get protocol() { return "https:"; }
      get real() { return (this.agent ??= new (require("node:https").Agent)(this.options)); }
      addRequest(...args) { return this.real.addRequest(...args); }
      destroy() { this.agent?.destroy(); }
    }
    module.exports = { Agent, request: (options, listener) =>
      require("node:https").request(options?.agent instanceof Agent ? { ...options, agent: options.agent.real } : options, listener) };`,
  "node:zlib": "module.exports = {};",
  "node:fs/promises": `
    const { promisify } = require("node:util");
    const { readFile, writeFile } = require("node:fs");
    module.exports = { readFile: promisify(readFile), writeFile: promisify(writeFile) };`,
};

const leaveOutTheRare: Plugin = {
  name: "leave-out-the-rare",
  setup(build) {
    const rare = { path: "./default-chain.cjs", external: true };
    build.onResolve({ filter: RARE }, (args) => (args.kind === "dynamic-import" ? rare : undefined));
    build.onResolve({ filter: /^@smithy\/core\/event-streams$/ }, (args) =>
      args.kind === "dynamic-import" ? rare : undefined,
    );
    build.onResolve({ filter: /^node:(https|zlib|fs\/promises)$/ }, ({ path, namespace }) =>
      namespace === "stand-in" ? undefined : { path, namespace: "stand-in" },
    );
    build.onLoad({ filter: /.*/, namespace: "stand-in" }, ({ path }) => ({ contents: STAND_INS[path] ?? "" }));
  },
};

/**
 * The two builds that make the plugin; hand each to esbuild's `build`.
 * @param root the package's own folder
 * @param outdir where `BUNDLE_FILES` are written
 */
export function createBundleOptions(root: string, outdir: string): readonly BuildOptions[] {
  const common: BuildOptions = {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    mainFields: ["module", "main"],
    minify: true,
    legalComments: "none",
    logLevel: "error",
    metafile: true,
    supported: { "dynamic-import": false },
  };
  return [
    {
      ...common,
      entryPoints: ["services/credential-provider/main.ts"],
      outfile: `${outdir}/main.cjs`,
      plugins: [leaveOutTheRare],
      define: { ReadableStream: "undefined", Blob: "undefined" },
    },
    { ...common, stdin: { contents: RARE_EXPORTS, resolveDir: root }, outfile: `${outdir}/default-chain.cjs` },
  ];
}
