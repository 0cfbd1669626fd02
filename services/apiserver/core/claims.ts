// The claims of a ServiceAccount token (spec kubelet 4.1, 4.3).
import type { BoundObject, Claims, KubeObject } from "../types.ts";

export interface ClaimsInput {
  readonly issuer: string;
  readonly jti: string;
  readonly now: Date;
  readonly serviceAccount: KubeObject;
  readonly bound: BoundObject | undefined;
  readonly audiences: readonly string[];
  /** What the caller is told. */
  readonly expirationSeconds: number;
  /** What the token really lasts; longer only for extended tokens. */
  readonly lifetimeSeconds: number;
}

/** Claims of a token, and the expiration that the caller is told. */
export function createClaims(input: ClaimsInput): { claims: Claims; expiration: Date } {
  const { issuer, jti, serviceAccount, bound, audiences, expirationSeconds, lifetimeSeconds } = input;
  const { namespace = "", name, uid } = serviceAccount.metadata;
  const iat = Math.floor(input.now.getTime() / 1000);
  const told = iat + expirationSeconds;
  const claims = {
    aud: audiences,
    exp: iat + lifetimeSeconds,
    iat,
    iss: issuer,
    jti,
    "kubernetes.io": {
      namespace,
      ...(bound ? renderBound(bound) : {}),
      serviceaccount: { name, uid },
      ...(lifetimeSeconds > expirationSeconds ? { warnafter: told } : {}),
    },
    nbf: iat,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
  return { claims, expiration: new Date(told * 1000) };
}

function renderBound({ kind, object, node }: BoundObject): Record<string, unknown> {
  const { name, uid } = object.metadata;
  return { ...(node ? { node } : {}), [kind.toLowerCase()]: { name, uid } };
}
