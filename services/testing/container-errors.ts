// What went wrong with a container, and what to do: one message for each cause that people meet.
import { ConfigurationError } from "../shared/errors.ts";

interface StartFacts {
  readonly image: string;
  /** The last lines that the container wrote. */
  readonly log: readonly string[];
}

interface Cause {
  /** In the message of the engine or of testcontainers. */
  readonly found: RegExp;
  readonly message: (image: string) => string;
  readonly hint: (image: string) => string;
}

const CAUSES: readonly Cause[] = [
  {
    found: /could not find a working container runtime|ECONNREFUSED|connect ENOENT/i,
    message: () => "no container engine answers",
    hint: () => "start Docker (or Podman's socket), or set DOCKER_HOST to an engine that runs",
  },
  {
    found: /lacks the label/,
    message: (image) => `the image ${image} is not Pullproof's`,
    hint: () => "build it with `docker build -t pullproof:dev .` in a clone, and name that image",
  },
  {
    found:
      /pull access denied|no such image|manifest.*(unknown|not found)|does not exist locally|repository .* not found|dial tcp|failed to resolve|lookup .*:/i,
    message: (image) => `the image ${image} is not there, and cannot be pulled`,
    hint: (image) => `build it with \`docker build -t ${image} .\` in a clone`,
  },
  {
    found: /port is already allocated|address already in use|ports are not available/i,
    message: () => "a port that the container should have on this machine is taken",
    hint: () => "leave the port to the engine (no fixed host port in withExposedPorts), or stop the other program",
  },
  {
    found: /container name .* is already in use/i,
    message: () => "another container has the name that was given with withName",
    hint: () => "remove that container (docker rm -f), or give none: the engine finds one",
  },
  {
    found: /already exists in network|network with name .* already exists/i,
    message: () => "the name is in use in the network",
    hint: () => "stop the other container or network of that name (docker network ls, docker network rm)",
  },
  {
    found: /network .*not found/i,
    message: () => "the network is not there",
    hint: () => "start the network before the container (new Network().start()), and stop it after",
  },
];

/**
 * An error for people: what happened · why · what to do. A wrong world keeps its own words.
 * @param cause what testcontainers or the engine threw
 */
export function explainStart(cause: unknown, { image, log }: StartFacts): Error {
  if (cause instanceof ConfigurationError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  const known = CAUSES.find(({ found }) => found.test(text));
  if (known) return compose(`${known.message(image)}: ${text}`, known.hint(image), cause);
  const said = log.length > 0 ? `; its last lines:\n${log.map((line) => `  ${line}`).join("\n")}` : "";
  const hint = "correct what the lines say; with none of them, give it more time with withStartupTimeout";
  return compose(`the container of ${image} did not become healthy: ${text}${said}`, hint, cause);
}

function compose(what: string, hint: string, cause: unknown): ConfigurationError {
  return new ConfigurationError(`${what}\nhint: ${hint}`, { cause, hint });
}
