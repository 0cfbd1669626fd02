// Tokens on request: through the TokenRequest API, and bad ones made from the good one so that they differ in one fact.
import { ControlError, type MintedToken, type TokenMintRequest } from "../control/index.ts";
import { BAD_TOKENS, type Issuer, isBadTokenKind } from "../oidc/index.ts";
import type { Clock } from "../shared/clock.ts";
import { createUuid, type Random } from "../shared/random.ts";
import type { ApiClient } from "./api-client.ts";

/** A token of an issuer that no account has registered: same claims, other `iss` and key. */
const UNREGISTERED_ISSUER = "unregistered-issuer";

export interface TokenMinter {
  /** A token of this issuer for a ServiceAccount of the cluster. @throws ControlError */
  mint(issuer: string, request: TokenMintRequest): Promise<MintedToken>;
  /** The bad twin of a token. @throws ControlError for an unknown kind */
  spoil(token: string, kind: string): Promise<string>;
}

export interface TokenMinterDeps {
  readonly issuers: ReadonlyMap<string, Issuer>;
  readonly clusterIssuer: Issuer;
  /** An issuer of the world without an OIDC provider in any account. */
  readonly unregisteredIssuer: Issuer | undefined;
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
}

export function createTokenMinter(deps: TokenMinterDeps): TokenMinter {
  async function spoilWith(issuer: Issuer, token: string, kind: string): Promise<string> {
    if (kind === UNREGISTERED_ISSUER) return signUnregistered(deps, token);
    if (isBadTokenKind(kind)) return issuer.spoil(token, kind);
    const kinds = [...Object.keys(BAD_TOKENS), UNREGISTERED_ISSUER].join(", ");
    throw new ControlError("BadRequest", `expected a kind of bad token (${kinds}), found "${kind}"`);
  }

  return {
    spoil: (token, kind) => spoilWith(deps.clusterIssuer, token, kind),
    async mint(name, request) {
      const issuer = deps.issuers.get(name);
      if (!issuer) throw new ControlError("NotFound", `expected an issuer of this stack, found "${name}"`);
      const granted = await requestToken(deps.api, request);
      const good = issuer === deps.clusterIssuer ? granted.token : await resign(deps, granted.token, issuer);
      const token = request.bad ? await spoilWith(issuer, good, request.bad) : good;
      return { token, claims: claimsOf(token), expirationTimestamp: granted.expirationTimestamp };
    },
  };
}

async function requestToken(
  api: ApiClient,
  request: TokenMintRequest,
): Promise<{ token: string; expirationTimestamp: string }> {
  const [namespace, name] = [request.namespace, request.serviceAccount].map(encodeURIComponent);
  const { status } = await api.request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {
      audiences: [request.audience],
      ...(request.expirationSeconds === undefined ? {} : { expirationSeconds: request.expirationSeconds }),
    },
  });
  return status as { token: string; expirationTimestamp: string };
}

/** The same claims from another issuer, under a `jti` of their own. */
function resign(deps: TokenMinterDeps, token: string, issuer: Issuer): Promise<string> {
  return issuer.sign({ ...(claimsOf(token) ?? {}), iss: issuer.url, jti: createUuid(deps.random) });
}

async function signUnregistered(deps: TokenMinterDeps, token: string): Promise<string> {
  if (!deps.unregisteredIssuer) {
    throw new ControlError("BadRequest", "expected a world with an issuer that no account registers, found none");
  }
  const claims = claimsOf(token);
  return deps.unregisteredIssuer.sign({ ...claims, iss: deps.unregisteredIssuer.url });
}

/** The payload of a token, or null for what is no JWT (a bad kind may be none). */
function claimsOf(token: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  } catch {
    return null; // garbage on purpose
  }
}
