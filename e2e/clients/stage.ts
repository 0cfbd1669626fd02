// What every suite here stands on: one stack, one private network that leads to it, a home folder for each client, and
// the identities that clients use.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Stack, startStack } from "../../services/testing/index.ts";
import { openClientNetwork, SYSTEM_CA_BUNDLE } from "./client-network.ts";

export const REGION = "us-west-2";
export const HOST_A = `111122223333.dkr.ecr.${REGION}.amazonaws.com`;
export const HOST_B = `444455556666.dkr.ecr.${REGION}.amazonaws.com`;
export const ROLE_A = "arn:aws:iam::111122223333:role/team-a-pull";
const CI_KEY = {
  AWS_ACCESS_KEY_ID: "AKIABTX3GSDS2UISEM2E",
  AWS_SECRET_ACCESS_KEY: "pullproofExampleSecretKeyOfAccount111122",
};

/** Long enough for a busy machine; a client that hangs is ended and fails with exit code 124. */
const LIMIT_SECONDS = 90;

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Standard error and standard output together, as a person would see them. */
  readonly text: string;
}

/** One program run: its path and arguments. */
export type Words = readonly [program: string, ...args: string[]];

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard input; none unless told. */
  readonly input?: string;
  /** Whose home folder; `shared` unless told. */
  readonly home?: string;
}

export interface Stage extends AsyncDisposable {
  readonly stack: Stack;
  readonly enter: readonly string[];
  /** A folder of the client's own, empty at first: its HOME. */
  home(name: string): string;
  /** Runs a program inside the network, with an environment of its own. */
  run(words: Words, options?: RunOptions): Promise<Outcome>;
  /** The variables of a web identity: a fresh token in a file, a role, a session named after the client. */
  webIdentity(
    client: string,
    as?: { namespace?: string; serviceAccount?: string; role?: string },
  ): Promise<Record<string, string>>;
  /** The variables of the user who may push. */
  readonly ci: Readonly<Record<string, string>>;
  /** What every program inside is given. */
  environment(home: string): Record<string, string>;
}

/** Opens the stage; close it with `await using`, or by `[Symbol.asyncDispose]()`. */
export async function openStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "pullproof-clients-"));
  const stack = await startStack();
  const close = async () => {
    await stack.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const names = [
      `sts.${REGION}.amazonaws.com`,
      `api.ecr.${REGION}.amazonaws.com`,
      HOST_A,
      HOST_B,
      "registry.pullproof.test",
    ];
    const port = Number(new URL(stack.https).port);
    const network = await openClientNetwork({ folder, names, port, caPem: await stack.caPem() });
    return createStage({
      stack,
      folder,
      enter: network.enter,
      async close() {
        await network.close();
        await close();
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
}

interface StageParts {
  readonly stack: Stack;
  readonly folder: string;
  readonly enter: readonly string[];
  close(): Promise<void>;
}

function createStage({ stack, folder, enter, close }: StageParts): Stage {
  const home = (name: string) => {
    const path = join(folder, "home", name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const environment = (path: string): Record<string, string> => ({
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    LANG: "C.UTF-8",
    HOME: path,
    REGISTRY_AUTH_FILE: join(path, "auth.json"),
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_CA_BUNDLE: SYSTEM_CA_BUNDLE,
    AWS_EC2_METADATA_DISABLED: "true",
  });
  return {
    stack,
    enter,
    home,
    environment,
    ci: CI_KEY,
    run: (words, options = {}) =>
      runProgram([...enter, "timeout", "--kill-after=5", String(LIMIT_SECONDS), ...words], {
        environment: { ...environment(home(options.home ?? "shared")), ...options.environment },
        input: options.input ?? "",
      }),
    async webIdentity(client, { namespace = "team-a", serviceAccount = "puller", role = ROLE_A } = {}) {
      const { token } = await stack.issuer("eks").mint({ namespace, serviceAccount });
      const file = join(home(client), "web-identity-token");
      writeFileSync(file, token, { mode: 0o600 });
      return { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_SESSION_NAME: client };
    },
    [Symbol.asyncDispose]: close,
  };
}

function runProgram(
  [program = "", ...args]: readonly string[],
  { environment, input }: { environment: Record<string, string>; input: string },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let text = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      text += chunk;
    });
    child.stderr.on("data", (chunk) => {
      text += chunk;
    });
    child.stdin.on("error", () => undefined); // a program need not read what it is given
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, text }));
  });
}
