// The executable: standard input → request → credentials → standard output; exit code 0, or 1 with one line why.
// It is started for every pull, so it loads as little as it can before it knows that it needs more.
import { readFileSync, writeSync } from "node:fs";
import { systemClock } from "../shared/clock.ts";
import { PluginError } from "./errors.ts";
import { parseRequest, renderResponse } from "./protocol.ts";
import { getCredentials, type ProviderOptions } from "./provider.ts";
import type { LogLine } from "./types.ts";

const USAGE = "Usage:\n  ecr-credential-provider [flags]\n\nFlags:\n  -h, --help   help for ecr-credential-provider\n";

/** Runs the plugin once and returns the exit code. */
async function run(args: readonly string[]): Promise<number> {
  const flag = args.find((arg) => arg.startsWith("-") && arg !== "-");
  if (flag === "-h" || flag === "--help") {
    write(1, `ECR credential provider for kubelet\n\n${USAGE}`);
    return 0;
  }
  if (flag) {
    write(2, `Error: ${describeUnknownFlag(flag)}\n${USAGE}\n`);
    return 1;
  }
  try {
    const request = parseRequest(readFileSync(0, "utf8"));
    const response = await getCredentials(request, readOptions(process.env));
    write(1, renderResponse(response));
    return 0;
  } catch (error) {
    const reason = error instanceof PluginError ? error.message : `unexpected failure: ${String(error)}`;
    log("E", `Error running credential provider plugin: ${reason}`);
    return 1;
  }
}

function readOptions(environment: NodeJS.ProcessEnv): ProviderOptions {
  trustBundle(environment.AWS_CA_BUNDLE);
  const ignoreEndpoints = environment.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS?.toLowerCase() === "true";
  const endpoint = environment.AWS_ENDPOINT_URL_ECR_PUBLIC || environment.AWS_ENDPOINT_URL || undefined;
  return {
    log,
    now: () => systemClock.now(),
    environmentRoleArn: environment.AWS_ECR_ROLE_ARN,
    metadataDisabled: environment.AWS_EC2_METADATA_DISABLED?.toLowerCase() === "true",
    publicEndpoint: ignoreEndpoints ? undefined : endpoint,
  };
}

// As in the SDK for Go, the bundle takes the place of the system's roots (spec aws 1.5); Node's SDK does not know it.
function trustBundle(file: string | undefined): void {
  if (!file) return;
  try {
    process.getBuiltinModule("node:tls").setDefaultCACertificates([readFileSync(file, "utf8")]);
  } catch (cause) {
    throw new PluginError(`failed to load custom CA bundle PEM file, ${String(cause)}`);
  }
}

function describeUnknownFlag(flag: string): string {
  if (flag.startsWith("--")) return `unknown flag: ${flag.split("=")[0]}`;
  return `unknown shorthand flag: '${flag[1]}' in ${flag}`;
}

// Written at once and whole: the process ends right after, and the stream objects would cost more than the write.
function write(descriptor: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
    }
  }
}

// klog's header: severity, month and day, time, process, place.
const log: LogLine = (severity, message) => {
  const now = systemClock.now();
  const two = (value: number) => String(value).padStart(2, "0");
  const day = two(now.getMonth() + 1) + two(now.getDate());
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(":");
  const micros = String(now.getMilliseconds() * 1000).padStart(6, "0");
  write(2, `${severity}${day} ${time}.${micros} ${String(process.pid).padStart(7)} main.ts:1] ${message}\n`);
};

// No top-level await: the bundle is CommonJS, because importing node:http as an ES module loads fetch and all that it needs.
run(process.argv.slice(2)).then((code) => process.exit(code));
