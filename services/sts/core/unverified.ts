// What nobody has seen on the real service: reasoned texts and thresholds, in one place so that one capture corrects them.

/** Texts. Everything else that STS says is evidenced in the specification. */
export const UNVERIFIED_TEXTS = {
  invalidClaim: (name: string) => `Invalid value for claim: ${name}`,
  issuerNotHttps: (issuer: string) => `Invalid issuer: ${issuer} (expected a URL that starts with https://)`,
  wrongSignature: "Token signature invalid",
  notYetValid: (claim: string, now: number, at: number) =>
    `Token not yet valid: current date/time ${now} must not be before the ${claim} date/time ${at}`,
  issuerUnreachable: "The identity provider could not be reached to verify the incoming identity token",
  packedPolicyTooLarge: (percent: number) =>
    `Packed policy consumes ${percent}% of allotted space, please use smaller policy.`,
  malformedSessionPolicy: (cause: string) => `Session policy is malformed: ${cause}`,
  foreignManagedPolicy: (arn: string, account: string) =>
    `Session policy ${arn} is not a managed policy of account ${account}`,
  providerIdGiven: "ProviderId must not be given with an OpenID Connect token",
  multiFactorGiven: "MultiFactorAuthentication is not supported",
  chainingLimit: "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining",
  unknownAction: (action: string, version: string) => `Could not find operation ${action} for version ${version}`,
  sessionCallsGetSessionToken: "Cannot call GetSessionToken with session credentials",
  notAnInteger: "Member must be an integer",
  tooMany: (name: string, limit: number) =>
    `1 validation error detected: Value at '${name}' failed to satisfy constraint: Member must have length less than or equal to ${limit}`,
  duplicateTag: (key: string) => `Duplicate tag keys found: ${key}. Please note that tag keys are case insensitive.`,
} as const;

/** Thresholds. The first three are options of the room; these are their defaults. */
export const UNVERIFIED_LIMITS = {
  maxTokenAgeSeconds: 86_400,
  skewSeconds: 300,
  jwksCacheSeconds: 60,
  /** Longest `sub` of the response model; longer ones are refused. */
  subjectLength: 255,
  /** What a session's policies and tags may take together. */
  packedPolicyBytes: 2048,
  discoveryTimeoutMs: 5_000,
  /** Documents of an identity provider longer than this are not usable. */
  documentBytes: 1 << 20,
  /** Fetches caused by unknown keys or failing providers: so many at once, then one per interval. */
  refetchBurst: 10,
  refetchIntervalMs: 1_000,
} as const;
