// `pullproof health`: is a stack there, and ready? The health command of the container image.
import { ConfigurationError } from "../../shared/errors.ts";
import { type ClientOptions, createControlClient } from "../client.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

export interface HealthOptions extends ClientOptions {
  readonly json?: boolean;
}

interface HealthAnswer {
  readonly status: string;
  readonly services: Readonly<Record<string, string>>;
}

/**
 * Asks for `health`. Only 0 and 1 leave here: Docker reserves 2.
 * @returns 0 if every service answers, else 1
 */
export async function runHealth(options: HealthOptions, { environment, output }: Cli): Promise<number> {
  const { PULLPROOF_ENDPOINT, PULLPROOF_PORT } = environment;
  const own = PULLPROOF_PORT ? `http://127.0.0.1:${PULLPROOF_PORT}` : undefined;
  const endpoint = options.endpoint ?? PULLPROOF_ENDPOINT ?? own;
  try {
    const client = createControlClient(endpoint === undefined ? options : { ...options, endpoint }, environment);
    const answer = await client.request("GET", "health");
    const { status, services } = parseHealth(answer);
    if (options.json) output.json(answer);
    else output.print(status === "ok" ? "ok" : describe(services));
    return status === "ok" ? EXIT.ok : EXIT.failed;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    output.note(`error: ${error.message}`);
    return EXIT.failed;
  }
}

function describe(services: HealthAnswer["services"]): string {
  const waiting = Object.entries(services).filter(([, state]) => state !== "ok");
  return `not ready: ${waiting.map(([name, state]) => `${name} ${state}`).join(", ")}`;
}

function parseHealth(answer: unknown): HealthAnswer {
  const { status, services } = (answer ?? {}) as Partial<HealthAnswer>;
  if (typeof status !== "string" || typeof services !== "object") {
    throw new ConfigurationError("expected the answer of a stack's health, found something else");
  }
  return { status, services };
}
