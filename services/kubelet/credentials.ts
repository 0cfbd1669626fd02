// All credentials of a Pod for an image, in the order in which they are tried (kubelet.md 2.6): imagePullSecrets, the
// node's docker configuration, plugins.
import type { Clock } from "../shared/clock.ts";
import type { ApiClient, Secret } from "./api-client.ts";
import { readNodeDockerConfig } from "./config-files.ts";
import { type DockerConfig, DockerConfigError, parsePullSecret } from "./core/docker-config.ts";
import { type Credential, Keyring } from "./core/keyring.ts";
import type { Pod } from "./core/pod.ts";
import { ImageRefusal } from "./errors.ts";
import type { Provider } from "./provider.ts";
import type { ProviderReport } from "./types.ts";

/** A look-up's result with the providers' stories. */
export interface FoundCredentials {
  readonly credentials: readonly Credential[];
  readonly providers: readonly ProviderReport[];
}

/** The secrets of a Pod as one sync found them. */
export interface PullSecrets {
  readonly found: readonly (Secret & { readonly name: string })[];
  readonly missing: readonly string[];
}

const NODE_CONFIG_TTL_MS = 5 * 60_000;

export interface CredentialSourcesDeps {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly rootDirectory: string;
  readonly providers: readonly Provider[];
  readonly traceparent: (trace: string) => string;
}

/** The three layers of credentials of one kubelet. */
export class CredentialSources {
  readonly #deps: CredentialSourcesDeps;
  #nodeConfig: { readonly config: DockerConfig; readonly readAt: Date } | undefined;

  constructor(deps: CredentialSourcesDeps) {
    this.#deps = deps;
  }

  /** The Pod's imagePullSecrets; unreadable ones are only named, their loss is not fatal (2.8). */
  async readSecrets(pod: Pod, trace: string): Promise<PullSecrets> {
    const missing: string[] = [];
    const read = pod.pullSecretNames.map(async (name) => {
      try {
        return [{ ...(await this.#deps.api.getSecret(pod.namespace, name, this.#deps.traceparent(trace))), name }];
      } catch {
        missing.push(name); // the API server's event of this trace says why
        return [];
      }
    });
    const found = (await Promise.all(read)).flat();
    return { found, missing: pod.pullSecretNames.filter((name) => missing.includes(name)) };
  }

  /**
   * Looks everything up; plugins are run one after the other.
   * @throws ImageRefusal if an accepted secret is broken
   */
  async find(query: { pod: Pod; image: string; trace: string; secrets: PullSecrets }): Promise<FoundCredentials> {
    const bySecrets = this.#secretKeyring(query.pod, query.secrets).find(query.image);
    const byNode = new Keyring();
    byNode.add({ kind: "none", name: "the node's docker configuration" }, this.#readNodeConfig());
    const byPlugins = new Keyring();
    const providers: ProviderReport[] = [];
    for (const provider of this.#deps.providers) {
      const answer = await provider.provide(query);
      providers.push(answer.report);
      if (answer.auth && answer.source) byPlugins.add(answer.source, answer.auth);
    }
    return { credentials: [...bySecrets, ...byNode.find(query.image), ...byPlugins.find(query.image)], providers };
  }

  #secretKeyring(pod: Pod, secrets: PullSecrets): Keyring {
    const keyring = new Keyring();
    for (const secret of secrets.found) {
      try {
        const config = parsePullSecret(secret);
        const source = { kind: "secret" as const, uid: secret.uid, namespace: pod.namespace, name: secret.name };
        if (config) keyring.add(source, config);
      } catch (error) {
        if (!(error instanceof DockerConfigError)) throw error;
        // Upstream hands the raw JSON error on as the waiting reason (7.1).
        throw new ImageRefusal(error.message, "", {
          reason: "credential-lookup-failed",
          decidedBy: `Secret ${pod.namespace}/${secret.name}`,
        });
      }
    }
    return keyring;
  }

  #readNodeConfig(): DockerConfig {
    const now = this.#deps.clock.now();
    const age = this.#nodeConfig ? now.getTime() - this.#nodeConfig.readAt.getTime() : Number.POSITIVE_INFINITY;
    if (!this.#nodeConfig || age > NODE_CONFIG_TTL_MS || age < 0) {
      this.#nodeConfig = { config: readNodeDockerConfig(this.#deps.rootDirectory), readAt: now };
    }
    return this.#nodeConfig.config;
  }
}
