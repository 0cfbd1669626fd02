// ServiceAccount tokens for plugins: asked for at the API server, kept per Pod and audience (kubelet.md 3.2, 3.3).
import type { Clock } from "../shared/clock.ts";
import type { Random } from "../shared/random.ts";
import type { ApiClient, TokenQuery } from "./api-client.ts";
import { type GrantedToken, needsRefresh } from "./core/token-refresh.ts";

/** Everything a token is bound to. */
export interface TokenWish extends TokenQuery {
  readonly traceparent: string;
  /** Applied to a token fresh from the API server, before it is kept. */
  readonly spoil?: ((token: string) => Promise<string>) | undefined;
}

export interface TokenSourceDeps {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Told about each request to the API server. */
  readonly onRequest: (wish: TokenWish, outcome: { jti?: string; error?: string }) => void;
}

/** The token cache of one kubelet; lost at restart. */
export class TokenSource {
  readonly #deps: TokenSourceDeps;
  readonly #tokens = new Map<string, GrantedToken & { readonly podUid: string; readonly jti: string | undefined }>();

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps;
  }

  /**
   * A token that is good now, with the id it was granted under.
   * @throws Error with the kubelet's text
   */
  async find(wish: TokenWish): Promise<{ token: string; jti: string | undefined }> {
    const key = JSON.stringify([wish.serviceAccount, wish.namespace, [wish.audience], 0, wish.pod, wish.uid ?? ""]);
    this.#collect();
    const now = this.#deps.clock.now();
    const kept = this.#tokens.get(key);
    if (kept && !needsRefresh(kept, now, this.#jitterSeconds())) return kept;
    try {
      const granted = { ...(await this.#request(wish, now)), podUid: wish.pod.uid };
      this.#tokens.set(key, granted);
      return granted;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!kept) throw new Error(`failed to fetch token: ${error.message}`, { cause: error });
      if (now > kept.expiresAt)
        throw new Error(`token ${key} expired and refresh failed: ${error.message}`, { cause: error });
      return kept;
    }
  }

  /** A deleted Pod takes its tokens along. */
  forgetPod(podUid: string): void {
    for (const [key, token] of this.#tokens) if (token.podUid === podUid) this.#tokens.delete(key);
  }

  /** Upstream collects once a minute; doing it at each look-up shows the same. */
  #collect(): void {
    const now = this.#deps.clock.now();
    for (const [key, token] of this.#tokens) if (now > token.expiresAt) this.#tokens.delete(key);
  }

  async #request(wish: TokenWish, requestedAt: Date) {
    try {
      const { token, expiresAt } = await this.#deps.api.requestToken(wish, wish.traceparent);
      const jti = findTokenId(token);
      this.#deps.onRequest(wish, jti === undefined ? {} : { jti });
      return { token: wish.spoil ? await wish.spoil(token) : token, jti, expiresAt, requestedAt };
    } catch (error) {
      this.#deps.onRequest(wish, { error: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  /** 0 to 9 whole seconds, drawn at each check. */
  #jitterSeconds(): number {
    return (this.#deps.random.bytes(1)[0] ?? 0) % 10;
  }
}

/** The `jti` of a JWT, unverified: only to name the credential chain in events. */
function findTokenId(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const jti = typeof claims === "object" && claims !== null && "jti" in claims ? claims.jti : undefined;
    return typeof jti === "string" ? jti : undefined;
  } catch {
    return undefined; // no JWT: the plugin will be told the same by whoever verifies it
  }
}
