// `pullproof kind generate`: writes the files that make a real kubelet in kind use the stack.
import { ConfigurationError } from "../../shared/errors.ts";
import { EXIT } from "../exit.ts";
import { writeKindFolder } from "../kind/folder.ts";
import { issuerSecrets } from "../kind/issuer-key.ts";
import { listKindWarnings, renderKindFiles } from "../kind/render.ts";
import type { ClusterIssuer, KindOptions, VerificationPolicy } from "../kind/types.ts";
import type { Cli } from "../types.ts";

/** Options as the command line gives them. */
export interface KindGenerateOptions {
  readonly kubernetes: string;
  readonly out: string;
  readonly world?: string;
  readonly node?: string;
  readonly name?: string;
  readonly container?: string;
  readonly workers?: string;
  readonly image?: string;
  readonly mirror?: string;
  readonly issuer?: ClusterIssuer;
  readonly policy?: VerificationPolicy;
  readonly allowNetwork?: boolean;
  readonly plugin?: string;
  readonly ca?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/**
 * Renders and writes.
 * @returns the exit code
 * @throws ConfigurationError for options that do not fit, and for files in the folder that are not ours
 */
export async function runKindGenerate(options: KindGenerateOptions, { output, environment }: Cli): Promise<number> {
  const { DEFAULT_WORLD, listHostNames, loadWorld } = await import("../../stack/index.ts");
  const source = options.world ?? (environment.PULLPROOF_WORLD || undefined);
  const world = await loadWorld(source);
  const { workers, out, world: _file, plugin, ca, force, json, ...rest } = options;
  const kind: KindOptions = {
    ...rest,
    world,
    networkNames: listHostNames(world),
    ...(workers === undefined ? {} : { workers: parseCount(workers) }),
  };
  const files = renderKindFiles(kind);
  const secrets = options.issuer === "cluster" ? {} : issuerSecrets(world, out, source ? undefined : DEFAULT_WORLD);
  const inputs = { ...(plugin ? { plugin } : {}), ...(ca ? { ca } : {}), force: force === true };
  const written = writeKindFolder(out, { files, secrets, ...inputs });
  const warnings = listKindWarnings(kind);
  if (json) output.json({ out, files: written, warnings });
  else {
    for (const file of written) output.print(`${out.replace(/\/$/, "")}/${file}`);
    for (const warning of warnings) output.note(`${output.paint.yellow("warning:")} ${warning}`);
    output.note(`${output.paint.dim("next:")} the steps in ${out.replace(/\/$/, "")}/README.md`);
  }
  return EXIT.ok;
}

function parseCount(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new ConfigurationError(`--workers: expected a number from 0 to 20, found ${JSON.stringify(text)}`);
}
