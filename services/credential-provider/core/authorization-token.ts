// From ECR's authorization token to user name, password and the time the kubelet may keep them (spec aws 1.4).
import { PluginError } from "../errors.ts";
import type { AuthorizationData, CredentialProviderResponse } from "../types.ts";

/**
 * The answer for the kubelet.
 * @param data undefined when the API's answer carried no authorization data
 * @throws PluginError when there is no token, or none that is base64 of `<user>:<password>`
 */
export function createResponse(
  host: string,
  data: AuthorizationData | undefined,
  now: Date,
): CredentialProviderResponse {
  if (!data) throw new PluginError("authorization data was empty");
  if (data.authorizationToken === undefined) throw new PluginError("authorization token in response was nil");
  const plain = decodeBase64(data.authorizationToken);
  const colon = plain.indexOf(":");
  if (colon < 0) throw new PluginError("error parsing username and password from authorization token");
  const cacheDurationSeconds = decideCacheDuration(data.expiresAt, now);
  return { cacheDurationSeconds, host, username: plain.slice(0, colon), password: plain.slice(colon + 1) };
}

/** Half of what is left, in whole seconds; 0 without an expiry; undefined (field left out) when less than 2 s are left. */
export function decideCacheDuration(expiresAt: Date | undefined, now: Date): number | undefined {
  if (!expiresAt) return 0;
  const leftSeconds = Math.floor(expiresAt.getTime() / 1000) - Math.floor(now.getTime() / 1000);
  const half = Math.trunc(leftSeconds / 2);
  return half > 0 ? half : undefined;
}

// Standard alphabet, padded; line breaks are skipped as Go's decoder does. Buffer would accept anything.
function decodeBase64(text: string): string {
  const bare = text.replace(/[\r\n]/g, "");
  const good = /^[A-Za-z0-9+/]*={0,2}/.exec(bare)?.[0] ?? "";
  if (good.length !== bare.length) throw illegalBase64(good.replace(/=+$/, "").length);
  if (bare.length % 4 !== 0) throw illegalBase64(bare.length - (bare.length % 4));
  return Buffer.from(bare, "base64").toString();
}

function illegalBase64(offset: number): PluginError {
  return new PluginError(`illegal base64 data at input byte ${offset}`);
}
