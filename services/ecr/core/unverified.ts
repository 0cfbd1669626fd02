// What nobody has seen on the real service: reasoned texts and numbers, in one place so that one capture corrects them.

/** Texts. Everything else that ECR says is evidenced in the specification. */
export const UNVERIFIED_TEXTS = {
  missingMember: "Member must not be null",
  tooLong: (limit: number) => `Member must have length less than or equal to ${limit}`,
  tooShort: (limit: number) => `Member must have length greater than or equal to ${limit}`,
  pattern: (pattern: string) => `must satisfy regular expression '${pattern}'`,
  notOneOf: (values: readonly string[]) => `Member must satisfy enum value set: [${values.join(", ")}]`,
  tooLarge: (limit: number) => `Member must have value less than or equal to ${limit}`,
  tooSmall: (limit: number) => `Member must have value greater than or equal to ${limit}`,
  wrongType: (name: string, expected: string) => `Expected ${expected} at '${name}'`,
  invalidToken: "Invalid pagination token",
  lockOut: "The policy would not allow the caller to set the policy again; use force to set it nevertheless",
  notARepositoryArn: "Invalid repository ARN",
  notOffered: (operation: string) => `Operation ${operation} is not offered by this stack`,
  reservedTag: "Tag keys must not begin with aws:",
  tooManyTags: "The list of tags on the repository is over the limit. The maximum number of tags is 50.",
} as const;

/** Where no real behaviour is known. */
export const UNVERIFIED_LIMITS = {
  /** The longest body of a call that is read; the longest legal one carries a policy of 10 240 characters. */
  bodyBytes: 1 << 20,
  /** A password is at least this long, so that clients with too small a header limit are found. */
  passwordBytes: 1024,
  pageSize: 100,
} as const;
