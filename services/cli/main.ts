// The command line of pullproof: arguments to a command. Loads a command's code only when that command runs.
import { Command, CommanderError, Option } from "commander";
import { VERSION } from "../shared/version.ts";
import type { ClockChange, ClockOptions } from "./commands/clock.ts";
import type { DemoOptions } from "./commands/demo.ts";
import type { EnvOptions } from "./commands/env.ts";
import type { EventsOptions } from "./commands/events.ts";
import type { HealthOptions } from "./commands/health.ts";
import type { KindGenerateOptions } from "./commands/kind-generate.ts";
import type { PullOptions } from "./commands/pull.ts";
import type { ResetOptions } from "./commands/reset.ts";
import type { TokenCreateOptions } from "./commands/token-create.ts";
import type { UpOptions } from "./commands/up.ts";
import { EXIT, reportError } from "./exit.ts";
import { createOutput, type OutputStreams } from "./output.ts";
import type { Cli } from "./types.ts";

/**
 * Runs the command line of this process.
 * @returns the exit code: 0 as expected, 1 a verdict or check failed, 2 usage or configuration
 */
export async function main(args: readonly string[] = process.argv.slice(2)): Promise<number> {
  process.stdout.on("error", ignoreClosedPipe);
  const { stdout, stderr, env: environment } = process;
  return run(args, { stdout, stderr, environment, untilStopped });
}

/** Runs a command line with the streams, the environment and the signals of someone's process. @returns the exit code */
export async function run(args: readonly string[], at: OutputStreams & Pick<Cli, "untilStopped">): Promise<number> {
  const { environment, untilStopped } = at;
  const cli: Cli = { output: createOutput(at), environment, untilStopped };
  let code: number = EXIT.ok;
  const finish: Finish = (exitCode) => {
    code = exitCode;
  };
  try {
    await createProgram(cli, at, finish).parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    // commander has said already what was wrong; help and version end here too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportError(error, cli.output, Boolean(environment.PULLPROOF_DEBUG));
  }
}

/** A reader that went away (`| head`) is no error of ours. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.exit(EXIT.ok);
}

/** The first signal asks to end; a second one does not wait. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        resolve();
        process.once(signal, () => process.exit(EXIT.failed));
      });
    }
    // npm and npx start programs through a shell and pass signals no further than to that.
    if (process.env.npm_command !== undefined) whenOrphaned(resolve);
  });
}

const ORPHAN_CHECK_MS = 250;

/** Calls back once the process that started this one is gone. */
function whenOrphaned(notify: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    notify();
  }, ORPHAN_CHECK_MS).unref();
}

type Finish = (exitCode: number) => void;

function createProgram(cli: Cli, { stdout, stderr }: OutputStreams, finish: Finish): Command {
  const program = new Command("pullproof")
    .description(
      "Prove who may pull what: a local OIDC, STS, IAM, ECR and registry stack, and the kubelet's image pull path",
    )
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .showHelpAfterError("(--help shows what is possible)")
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride();
  addStackCommands(program, cli, finish);
  addPullCommands(program, cli, finish);
  addControlCommands(program, cli, finish);
  addKindCommands(program, cli, finish);
  return program;
}

function addStackCommands(program: Command, cli: Cli, finish: Finish): void {
  program
    .command("up")
    .description("start a stack and keep it running")
    .option("--port <port>", "port for http and https; 0 takes a free one (PULLPROOF_PORT, else 4566)")
    .option("--host <address>", "address to listen on (PULLPROOF_HOST, else 127.0.0.1)")
    .option("--world <file>", "world file (PULLPROOF_WORLD, else the default world)")
    .option("--data-dir <folder>", "folder for CA, key and nodes (PULLPROOF_DATA_DIR, else a temporary one)")
    .option("--more-ports <ports>", "further ports, such as 443,80 (PULLPROOF_MORE_PORTS)")
    .option("--hosts <names>", "further host names to answer to, such as a,b (PULLPROOF_HOSTS)")
    .option("--init <folder>", "manifests and scripts to run before it is ready (PULLPROOF_INIT)")
    .option("--control-key <key>", "key of the control API (PULLPROOF_CONTROL_KEY, else generated)")
    .option("--switch <name...>", "turn switches of the world on (name) or off (name=false) (PULLPROOF_SWITCHES)")
    .option("--log", "write every event to stderr")
    .option("--json", "print one line of JSON when ready")
    .action(async (options: UpOptions) => finish(await (await import("./commands/up.ts")).runUp(options, cli)));
  program
    .command("demo")
    .description("run the isolation story for real and compare every verdict")
    .option("--only <id...>", "only these rows, also a,b,c", collectIds)
    .option("--list", "list the rows, run nothing")
    .option("--world <file>", "world file (PULLPROOF_WORLD, else the default world)")
    .option("--endpoint <url>", "a running stack instead of one in process")
    .option("--control-key <key>", "its control key (PULLPROOF_CONTROL_KEY)")
    .option("--disruptive", "on a running stack: also rows that rotate keys or move the clock")
    .option("--plugin <folder>", "a folder with another ecr-credential-provider to run in place of the built-in one")
    .option("--json", "print JSON")
    .action(async ({ plugin, ...options }: DemoOptions & { plugin?: string }) => {
      const { runDemo } = await import("./commands/demo.ts");
      finish(
        await runDemo(
          { ...(await fromEnvironment(cli)), ...options, ...(plugin ? { pluginDirectory: plugin } : {}) },
          cli,
        ),
      );
    });
}

/** What the demo takes from the environment where no option says otherwise. */
async function fromEnvironment({ environment }: Cli): Promise<DemoOptions> {
  const { PULLPROOF_WORLD: world, XDG_CACHE_HOME: cacheHome } = environment;
  const { findControlKey } = await import("./client.ts");
  const controlKey = findControlKey({}, environment);
  return { ...(world ? { world } : {}), ...(controlKey ? { controlKey } : {}), ...(cacheHome ? { cacheHome } : {}) };
}

function collectIds(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...text.split(",").filter(Boolean)];
}

/** A command that talks to a running stack. */
function withEndpoint(command: Command): Command {
  return command
    .option("--endpoint <url>", "the running stack (PULLPROOF_ENDPOINT, else http://127.0.0.1:4566)")
    .option("--control-key <key>", "its control key (PULLPROOF_CONTROL_KEY, else from PULLPROOF_DATA_DIR)")
    .option("--json", "print JSON");
}

function addPullCommands(program: Command, cli: Cli, finish: Finish): void {
  withEndpoint(program.command("pull"))
    .description("run one Pod with an image on a simulated node, and explain the verdict")
    .argument("<image>", "image reference")
    .requiredOption("--as <namespace/serviceaccount>", "who pulls")
    .option("--node <name>", "on which node (else the first)")
    .addOption(new Option("--policy <policy>", "imagePullPolicy").choices(["Always", "IfNotPresent", "Never"]))
    .option("--secret <name...>", "imagePullSecrets of the Pod")
    .action(async (image: string, options: PullOptions) =>
      finish(await (await import("./commands/pull.ts")).runPull(image, options, cli)),
    );
  const token = program.command("token").description("tokens of ServiceAccounts");
  withEndpoint(token.command("create"))
    .description("mint a token, good or bad on purpose")
    .argument("<serviceaccount>", "name of the ServiceAccount")
    .option("-n, --namespace <name>", "its namespace", "default")
    .option("--audience <audience>", "audience (else sts.amazonaws.com)")
    .option("--duration <duration>", "life time: seconds, 10m, 1h …")
    .option("--bad <kind>", "a bad token: expired, wrong-key, none-alg …")
    .option("--issuer <name>", "issuer (else the cluster's)")
    .action(async (serviceAccount: string, options: TokenCreateOptions) =>
      finish(await (await import("./commands/token-create.ts")).runTokenCreate(serviceAccount, options, cli)),
    );
}

function addControlCommands(program: Command, cli: Cli, finish: Finish): void {
  withEndpoint(program.command("health"))
    .description("say whether a stack answers and is ready; exit code 0 or 1")
    .action(async (options: HealthOptions) =>
      finish(await (await import("./commands/health.ts")).runHealth(options, cli)),
    );
  withEndpoint(program.command("env"))
    .description("print the environment that clients of the stack need")
    .addOption(new Option("--format <format>", "shell exports or JSON").choices(["sh", "json"]).default("sh"))
    .action(async (options: EnvOptions) => finish(await (await import("./commands/env.ts")).runEnv(options, cli)));
  withEndpoint(program.command("events"))
    .description("print the event log")
    .option("-f, --follow", "go on as events happen")
    .option("--since <seq>", "only after this sequence number")
    .option("--trace <id>", "only of this pull")
    .option("--lineage <id>", "only of this credential chain")
    .option("--operation <name>", "only this operation, such as sts:AssumeRoleWithWebIdentity")
    .option("--principal <name>", "only of this principal")
    .addOption(new Option("--decision <decision>", "only so decided").choices(["allow", "deny", "none"]))
    .option("--limit <count>", "at most so many")
    .action(async (options: EventsOptions) =>
      finish(await (await import("./commands/events.ts")).runEvents(options, cli)),
    );
  addClockCommands(program, cli, finish);
  withEndpoint(program.command("reset"))
    .description("take the stack back to its world as loaded")
    .action(async (options: ResetOptions) =>
      finish(await (await import("./commands/reset.ts")).runReset(options, cli)),
    );
}

function addKindCommands(program: Command, cli: Cli, finish: Finish): void {
  const kind = program.command("kind").description("a real kubelet in kind that uses the stack");
  kind
    .command("generate")
    .description("write the files of a kind cluster: configuration, provider, RBAC, certs.d, scripts")
    .requiredOption("--kubernetes <minor>", "Kubernetes minor, such as 1.36")
    .requiredOption("--out <folder>", "where the files go")
    .option("--world <file>", "world file (PULLPROOF_WORLD, else the default world)")
    .option("--node <name>", "node of the world that kind's kubelets are configured like (else the first)")
    .option("--name <name>", "name of the cluster (else pullproof)")
    .option("--container <name>", "name of the stack's container (else pullproof)")
    .option("--workers <count>", "worker nodes (else 1)")
    .option("--image <image>", "node image (else the one known for the minor)")
    .option("--mirror <host[:port]>", "reach the stack by this one name instead of by network aliases")
    .addOption(new Option("--issuer <whose>", "whose key signs the cluster's tokens").choices(["stack", "cluster"]))
    .option("--policy <policy>", "imagePullCredentialsVerificationPolicy (else the world's)")
    .option("--allow-network", "let --policy AlwaysVerify pull kind's own images again")
    .option("--plugin <file>", "credential provider to copy into plugin/bin")
    .option("--ca <file>", "the stack's CA to copy into tls (else create.sh fetches it)")
    .option("--force", "overwrite files that have other content")
    .option("--json", "print JSON")
    .action(async (options: KindGenerateOptions) =>
      finish(await (await import("./commands/kind-generate.ts")).runKindGenerate(options, cli)),
    );
}

function addClockCommands(program: Command, cli: Cli, finish: Finish): void {
  const run = async (change: ClockChange, options: ClockOptions) =>
    finish(await (await import("./commands/clock.ts")).runClock(change, options, cli));
  const clock = withEndpoint(program.command("clock"))
    .description("show or move the clock of the stack")
    .action((options: ClockOptions) => run({ kind: "show" }, options));
  const add = (name: string, description: string) => withEndpoint(clock.command(name)).description(description);
  add("set", "set it to an instant")
    .argument("<instant>", "RFC 3339, such as 2026-01-02T03:04:05Z")
    .action((instant: string, _: unknown, command: Command) =>
      run({ kind: "set", instant }, command.optsWithGlobals()),
    );
  add("advance", "move it on")
    .argument("<duration>", "seconds, 10m, 12h, 1d …")
    .action((by: string, _: unknown, command: Command) => run({ kind: "advance", by }, command.optsWithGlobals()));
  for (const [kind, description] of CLOCK_VERBS) {
    add(kind, description).action((_: unknown, command: Command) => run({ kind }, command.optsWithGlobals()));
  }
}

const CLOCK_VERBS = [
  ["freeze", "stop it"],
  ["unfreeze", "let it run again"],
  ["reset", "back to the system's time"],
] as const;
