// How a stack may be started; the same options in process, in the command line and in the container.
import type { Authorizer } from "../registry/index.ts";
import type { Random } from "../shared/random.ts";
import type { RunningStack } from "./stack.ts";
import type { WorldSwitches } from "./types.ts";

/** All optional. */
export interface StackOptions {
  /** A world file, or a world as an object; the default world unless told. */
  readonly world?: string | object;
  /** Address to listen on; 127.0.0.1. */
  readonly host?: string;
  /** 0 (the default) takes a free port. */
  readonly port?: number;
  /** Further ports, such as 443 and 80 inside a container. */
  readonly morePorts?: readonly number[];
  /** Further host names that this stack answers to by request shape, a container's alias for instance. */
  readonly hosts?: readonly string[];
  /** Where the CA, keys and the nodes' files are; a temporary folder unless told. */
  readonly dataDir?: string;
  /** Key of the control API and admin token of the API server; generated unless told. */
  readonly controlKey?: string;
  /** Seals session tokens and registry passwords; stacks that share it accept each other's. Generated unless told. */
  readonly sealingKey?: string;
  /** Overrides of the world's switches. */
  readonly switches?: Partial<WorldSwitches>;
  /** Everything inside the process goes through TLS as well (docs/decisions/0001); false. */
  readonly tls?: boolean;
  /** The kubelets' limit for one plugin run; 60 000. */
  readonly pluginTimeoutMs?: number;
  /** `XDG_CACHE_HOME`: where a clone keeps the bundled plugin; `~/.cache` unless told. */
  readonly cacheHome?: string;
  /**
   * Runs when the stack answers, and before `health` says so (503 with `init: running` until then): for what must be in
   * place before anybody uses the stack. If it fails, the stack is closed and the start fails.
   */
  readonly prepare?: (stack: RunningStack) => Promise<void>;
  readonly random?: Random;
  /** Puts something else in the place of a registry's authorizer: to see that a broken registry is noticed. */
  readonly replaceAuthorizer?: (host: string, authorizer: Authorizer) => Authorizer;
}

/** Every option there is; the type keeps the list complete. */
const OPTIONS: Readonly<Record<keyof StackOptions, true>> = {
  world: true,
  host: true,
  port: true,
  morePorts: true,
  hosts: true,
  dataDir: true,
  controlKey: true,
  sealingKey: true,
  switches: true,
  tls: true,
  pluginTimeoutMs: true,
  cacheHome: true,
  prepare: true,
  random: true,
  replaceAuthorizer: true,
};

export const OPTION_NAMES: readonly string[] = Object.keys(OPTIONS);
