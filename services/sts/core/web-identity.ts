// The checks between a token's form and the trust policy that need no I/O (spec aws 2.3, rows 5, 7, 10 to 12).
import { StsError } from "../errors.ts";
import type { WebIdentityClaims } from "./token.ts";
import { UNVERIFIED_LIMITS, UNVERIFIED_TEXTS } from "./unverified.ts";

/**
 * Row 5: the issuer is an https URL (http too where the switch says so), and the subject fits the response.
 * @throws StsError `issuer-not-https`, `invalid-claim`
 */
export function checkIssuer(claims: WebIdentityClaims, httpIssuers: boolean): void {
  const allowed = claims.iss.startsWith("https://") || (httpIssuers && claims.iss.startsWith("http://"));
  if (!allowed) throw new StsError("issuer-not-https", UNVERIFIED_TEXTS.issuerNotHttps(claims.iss));
  if (claims.sub.length > UNVERIFIED_LIMITS.subjectLength) {
    throw new StsError("invalid-claim", UNVERIFIED_TEXTS.invalidClaim("sub"));
  }
}

/**
 * Row 7: the audience that counts. `azp` where the token has one, else the first registered of `aud`.
 * @returns the matched audience: the response's `Audience` and the condition key `<provider>:aud`
 * @throws StsError `wrong-audience`
 */
export function matchAudience(claims: WebIdentityClaims, clientIds: readonly string[]): string {
  const asked = claims.azp === undefined ? claims.aud : [claims.azp];
  const matched = asked.find((audience) => clientIds.includes(audience));
  if (matched === undefined) throw new StsError("wrong-audience", "Incorrect token audience");
  return matched;
}

/**
 * Rows 10 to 12: expiry, age, and nothing from the future beyond the allowed skew.
 * @param now the stack's clock
 * @throws StsError `expired-token`, `token-too-old`, `not-yet-valid`
 */
export function checkTimes(
  claims: WebIdentityClaims,
  now: Date,
  limits: { readonly maxTokenAgeSeconds: number; readonly skewSeconds: number },
): void {
  const seconds = Math.floor(now.getTime() / 1000);
  if (seconds >= claims.exp) {
    throw new StsError(
      "expired-token",
      `Token expired: current date/time ${seconds} must be before the expiration date/time ${claims.exp}`,
    );
  }
  const ageSeconds = seconds - claims.iat;
  if (ageSeconds > limits.maxTokenAgeSeconds) throw new StsError("token-too-old", `Token too old: ${ageSeconds}`);
  for (const name of ["nbf", "iat"] as const) {
    const at = claims[name];
    if (at !== undefined && at > seconds + limits.skewSeconds) {
      throw new StsError("not-yet-valid", UNVERIFIED_TEXTS.notYetValid(name, seconds, at));
    }
  }
}
