// When the kubelet asks for a new ServiceAccount token although it has one (kubelet.md 3.3).

const MAX_AGE_SECONDS = 24 * 3600;

/** A token as the API server granted it. */
export interface GrantedToken {
  readonly token: string;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
}

/**
 * True once the token is older than a day or within the last fifth of its life.
 * @param jitterSeconds 0 to 9, drawn anew at each check
 */
export function needsRefresh(granted: GrantedToken, now: Date, jitterSeconds: number): boolean {
  const lifetimeMs = granted.expiresAt.getTime() - granted.requestedAt.getTime();
  const ageMs = now.getTime() - granted.requestedAt.getTime();
  const jitterMs = jitterSeconds * 1000;
  return ageMs > MAX_AGE_SECONDS * 1000 - jitterMs || ageMs > lifetimeMs * 0.8 - jitterMs;
}
