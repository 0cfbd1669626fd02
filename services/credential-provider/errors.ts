// Failures of the plugin. Every one ends as one line on standard error and exit code 1; the texts are those of the
// real plugin, which are those of the AWS SDK for Go (spec aws 1.4).

/** A failure with the text that is shown to the kubelet. */
export class PluginError extends Error {
  override readonly name = "PluginError";
}

/** The part of an SDK failure that the text is made of. */
interface ServiceFailure {
  readonly name: string;
  readonly message: string;
  readonly $metadata: { readonly httpStatusCode?: number; readonly requestId?: string; readonly attempts?: number };
}

// Errors in the service's model print as `<code>: <message>`, all others as `api error <code>: <message>`. The SDK for
// JavaScript names some classes unlike their code on the wire (spec aws 2.4).
const MODELLED: Readonly<Record<string, string>> = {
  ExpiredTokenException: "ExpiredTokenException",
  IDPCommunicationErrorException: "IDPCommunicationError",
  IDPRejectedClaimException: "IDPRejectedClaim",
  InvalidIdentityTokenException: "InvalidIdentityToken",
  MalformedPolicyDocumentException: "MalformedPolicyDocument",
  PackedPolicyTooLargeException: "PackedPolicyTooLarge",
  RegionDisabledException: "RegionDisabledException",
  InvalidParameterException: "InvalidParameterException",
  ServerException: "ServerException",
};

/**
 * A failed call in the words of the real plugin.
 * @param operation such as `STS: AssumeRoleWithWebIdentity`
 */
export function renderFailedCall(operation: string, error: unknown): string {
  const retries = attemptsOf(error);
  const prefix = `operation error ${operation}, ${retries}`;
  if (error instanceof PluginError) return prefix + error.message;
  if (isServiceFailure(error)) {
    const { httpStatusCode, requestId } = error.$metadata;
    return `${prefix}https response error StatusCode: ${httpStatusCode}, RequestID: ${requestId ?? ""}, ${reasonOf(error)}`;
  }
  const message = error instanceof Error ? error.message : String(error);
  if (message === "Region is missing") {
    return `${prefix}failed to resolve service endpoint, endpoint rule error, Invalid Configuration: Missing Region`;
  }
  return `${prefix}https response error StatusCode: 0, RequestID: , request send failed, ${message}`;
}

function reasonOf(error: ServiceFailure): string {
  const { httpStatusCode: status = 0 } = error.$metadata;
  if (status < 300) return "deserialization failed, failed to decode response body";
  const code = MODELLED[error.name];
  if (code) return `${code}: ${error.message}`;
  return isUnreadable(error) ? "api error UnknownError: UnknownError" : `api error ${error.name}: ${error.message}`;
}

// An error answer that is not in the protocol's form has no code: the SDK then reports its parser's complaint.
function isUnreadable(error: ServiceFailure): boolean {
  return ["Error", "SyntaxError", "TypeError", "Unknown", "UnknownError"].includes(error.name);
}

function isServiceFailure(error: unknown): error is ServiceFailure {
  if (!(error instanceof Error) || !("$metadata" in error)) return false;
  const metadata: unknown = error.$metadata;
  return typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata;
}

function attemptsOf(error: unknown): string {
  if (!(error instanceof Error) || !("$metadata" in error)) return "";
  const metadata: unknown = error.$metadata;
  if (typeof metadata !== "object" || metadata === null || !("attempts" in metadata)) return "";
  const { attempts } = metadata;
  return typeof attempts === "number" && attempts > 1 ? `exceeded maximum number of attempts, ${attempts}, ` : "";
}
