// `pullproof token create`: a ServiceAccount token from an issuer of a running stack, good or bad on purpose.
import { parseNamesAnswer, parseTextAnswer } from "../answers.ts";
import { type ClientOptions, type ControlClient, createControlClient } from "../client.ts";
import { parseSeconds } from "../duration.ts";
import { EXIT } from "../exit.ts";
import type { Cli } from "../types.ts";

export interface TokenCreateOptions extends ClientOptions {
  readonly namespace?: string;
  readonly audience?: string;
  /** Seconds or a duration. */
  readonly duration?: string;
  /** A kind of bad token, such as `expired` or `wrong-key`. */
  readonly bad?: string;
  /** The cluster's own unless told. */
  readonly issuer?: string;
  readonly json?: boolean;
}

/** Prints the token, and nothing else, so that it can be captured. @returns the exit code */
export async function runTokenCreate(serviceAccount: string, options: TokenCreateOptions, cli: Cli): Promise<number> {
  const { namespace = "default", audience, duration, bad } = options;
  const expirationSeconds = duration === undefined ? undefined : parseSeconds(duration, "--duration");
  const client = createControlClient(options, cli.environment);
  const issuer = options.issuer ?? (await findClusterIssuer(client));
  const answer = await client.request("POST", `issuers/${encodeURIComponent(issuer)}/tokens`, {
    serviceAccount,
    namespace,
    ...(audience === undefined ? {} : { audience }),
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    ...(bad === undefined ? {} : { bad }),
  });
  if (options.json) cli.output.json(answer);
  else cli.output.print(parseTextAnswer(answer, "token"));
  return EXIT.ok;
}

async function findClusterIssuer(client: ControlClient): Promise<string> {
  const world = await client.request("GET", "world");
  const cluster = typeof world === "object" && world !== null && "cluster" in world ? world.cluster : undefined;
  if (cluster !== undefined) return parseTextAnswer(cluster, "issuer");
  return parseNamesAnswer(await client.request("GET", "issuers"), "issuers")[0] ?? "";
}
