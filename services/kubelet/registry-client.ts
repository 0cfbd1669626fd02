// Asks a registry as containerd does: first without credentials, then as the challenge demands (registry.md 3.7, 3.8).
import { createHash } from "node:crypto";
import type { Dialer, DialResponse } from "../shared/dial.ts";
import { readResponse } from "../shared/dial.ts";
import { parseChallenges } from "./core/challenge.ts";
import { RegistryPullError } from "./errors.ts";

/** Username and password for Basic, or for a token endpoint. */
export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
}

export interface RegistryClientOptions {
  readonly domain: string;
  readonly repository: string;
  readonly login: RegistryLogin | undefined;
  readonly dialer: Dialer;
  /** A fresh `traceparent` for each request. */
  readonly traceparent: () => string;
  readonly signal?: AbortSignal | undefined;
}

/** One request below `/v2/<repository>/`. */
export interface RegistryQuery {
  readonly method: "HEAD" | "GET";
  readonly path: string;
  readonly accept: string;
}

/** Texts of http statuses as Go prints them. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

const MAX_REDIRECTS = 10;

/** One pull's conversation with one repository; what it learns about authorization is used for its later requests. */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  #authorization: string | undefined;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
  }

  /** The full URL, as it appears in messages. */
  urlOf(path: string): string {
    const { domain, repository } = this.#options;
    return `https://${domain === "docker.io" ? "registry-1.docker.io" : domain}/v2/${repository}/${path}`;
  }

  /**
   * A successful answer.
   * @throws RegistryPullError with containerd's text (without its outer frame)
   */
  async ask(query: RegistryQuery): Promise<DialResponse> {
    const url = this.urlOf(query.path);
    const first = await this.#send(url, query);
    if (first.status !== 401) return this.#accept(query, first);
    first.body.resume();
    const answered = await this.#answerChallenge(first);
    const second = await this.#send(url, query);
    if (second.status === 401 && answered === "bearer") {
      second.body.resume();
      const error = parseChallenges(second.headers["www-authenticate"])[0]?.parameters.error;
      throw refused(error ? `server message: ${error}: authorization failed` : "authorization failed");
    }
    return this.#accept(query, second);
  }

  async #send(url: string, query: RegistryQuery): Promise<DialResponse> {
    let target = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      // Go drops the Authorization header when a redirect leads to another host.
      const sameHost = new URL(target).host === new URL(url).host;
      const authorization = sameHost && this.#authorization ? { authorization: this.#authorization } : {};
      const response = await this.#dial(target, query.method, { accept: query.accept, ...authorization });
      const { location } = response.headers;
      if (![301, 302, 303, 307, 308].includes(response.status) || !location) return response;
      response.body.resume();
      target = new URL(location, target).href;
    }
    throw new RegistryPullError("pull-failed", `stopped after ${MAX_REDIRECTS} redirects`);
  }

  async #dial(url: string, method: string, headers: Record<string, string>): Promise<DialResponse> {
    const { dialer, traceparent, signal } = this.#options;
    try {
      return await dialer.request(url, {
        method,
        headers: { "user-agent": "containerd/v2.2.0", traceparent: traceparent(), ...headers },
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      const verb = method.charAt(0) + method.slice(1).toLowerCase();
      const why = error instanceof Error ? error.message : String(error);
      throw new RegistryPullError("registry-unreachable", `failed to do request: ${verb} "${url}": ${why}`);
    }
  }

  async #answerChallenge(response: DialResponse): Promise<"basic" | "bearer"> {
    const { login } = this.#options;
    const [challenge] = parseChallenges(response.headers["www-authenticate"]);
    if (!challenge) throw new RegistryPullError("registry-refused", "unexpected status: 401 Unauthorized");
    if (challenge.scheme === "bearer") {
      this.#authorization = `Bearer ${await this.#fetchToken(challenge.parameters)}`;
      return "bearer";
    }
    if (!login) throw refused("authorization failed: no basic auth credentials", "no-credentials");
    this.#authorization = basic(login);
    return "basic";
  }

  /** Differs: containerd tries OAuth2 POST before this GET; registries that know both answer the same. */
  async #fetchToken(parameters: Readonly<Record<string, string>>): Promise<string> {
    const { login, repository } = this.#options;
    const realm = URL.parse(parameters.realm ?? "");
    if (!realm) throw new RegistryPullError("pull-failed", "failed to authorize: invalid token auth challenge realm");
    if (parameters.service) realm.searchParams.set("service", parameters.service);
    realm.searchParams.set("scope", parameters.scope ?? `repository:${repository}:pull`);
    const response = await this.#dial(realm.href, "GET", login ? { authorization: basic(login) } : {});
    const body = (await readResponse(response)).toString("utf8");
    if (response.status !== 200) {
      const kind = login ? "oauth" : "anonymous";
      throw new RegistryPullError(
        "registry-refused",
        `failed to authorize: failed to fetch ${kind} token: unexpected status from GET request to ${realm.href}: ${renderStatus(response.status)}`,
        findMessage(body),
      );
    }
    return findToken(body);
  }

  async #accept(query: RegistryQuery, response: DialResponse): Promise<DialResponse> {
    if (response.status >= 200 && response.status < 300) return response;
    const detail = await this.#readDetail(query, response);
    const url = this.urlOf(query.path);
    if (response.status === 404) throw new RegistryPullError("image-not-found", "not found", detail);
    const kind = response.status === 401 || response.status === 403 ? "registry-refused" : "pull-failed";
    throw new RegistryPullError(
      kind,
      `unexpected status from ${query.method} request to ${url}: ${renderStatus(response.status)}`,
      detail,
    );
  }

  /** The registry's own words. A refused HEAD has none, so containerd since 2.3.4 asks once more with GET. */
  async #readDetail(query: RegistryQuery, response: DialResponse): Promise<string | undefined> {
    const body = (await readResponse(response, 64_000)).toString("utf8");
    if (query.method === "GET" || response.status !== 403) return findMessage(body);
    const again = await this.#send(this.urlOf(query.path), { ...query, method: "GET" });
    return findMessage((await readResponse(again, 64_000)).toString("utf8"));
  }
}

function refused(why: string, kind: "registry-refused" | "no-credentials" = "registry-refused"): RegistryPullError {
  return new RegistryPullError(
    kind,
    `pull access denied, repository does not exist or may require authorization: ${why}`,
  );
}

function basic(login: RegistryLogin): string {
  return `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
}

function renderStatus(status: number): string {
  return `${status} ${STATUS_TEXTS[status] ?? ""}`.trim();
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {}; // many refusals have no body, or a page of HTML
  }
}

function findMessage(body: string): string | undefined {
  const { errors } = parseJson(body);
  const [first] = Array.isArray(errors) ? errors : [];
  if (typeof first !== "object" || first === null) return undefined;
  const { code, message } = Object.fromEntries(Object.entries(first));
  return [code, message].filter((part) => typeof part === "string" && part !== "").join(": ") || undefined;
}

function findToken(body: string): string {
  const { token, access_token } = parseJson(body);
  if (typeof token === "string" && token !== "") return token;
  if (typeof access_token === "string" && access_token !== "") return access_token;
  throw new RegistryPullError("pull-failed", "failed to authorize: failed to fetch token: no token in the answer");
}

/** A digest that is being computed while bytes stream by. */
export function createDigester(digest: string): { update(chunk: Buffer): void; verify(): boolean; found(): string } {
  const algorithm = digest.startsWith("sha512:") ? "sha512" : "sha256";
  const hash = createHash(algorithm);
  let found = "";
  const finish = () => {
    if (found === "") found = `${algorithm}:${hash.digest("hex")}`;
    return found;
  };
  return { update: (chunk) => void hash.update(chunk), verify: () => finish() === digest, found: finish };
}
