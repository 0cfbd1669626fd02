// The nouns of IAM: policies, what is asked of them, and the decision with its reason.
import type { AwsPrincipal } from "../shared/aws/principal.ts";

/** What a document is used as; it decides which elements are legal and how it is named in denials. */
export type PolicyKind = "trust" | "identity" | "boundary" | "session" | "resource";

/** One parsed policy document. */
export interface Policy {
  readonly kind: PolicyKind;
  /** What to call it in reasons: `team-a-pull/pull`, `trust policy of team-a-pull`, `repository policy of shared/base`. */
  readonly name: string;
  readonly version: "2012-10-17" | "2008-10-17";
  readonly id?: string;
  readonly statements: readonly Statement[];
}

/** One statement. Lists are never strings; exactly one of each pair (`actions`/`notActions` …) is set where both exist. */
export interface Statement {
  /** The Sid, or `Statement[0]`, `Statement[1]` … */
  readonly id: string;
  readonly effect: "Allow" | "Deny";
  readonly principals?: readonly PrincipalPattern[];
  readonly actions?: readonly string[];
  readonly notActions?: readonly string[];
  readonly resources?: readonly string[];
  readonly notResources?: readonly string[];
  readonly conditions: readonly Condition[];
  /** Constructs that this evaluator does not know: never matches for Allow, always for Deny. */
  readonly unknown: readonly string[];
}

/** `{type: "AWS", value: "*"}` stands for `"*"` and `{"AWS": "*"}`. */
export interface PrincipalPattern {
  readonly type: "AWS" | "Federated" | "Service" | "CanonicalUser";
  readonly value: string;
  /** The unique id that a role's or user's ARN stood for when the policy was stored: a recreated role is another one. */
  readonly boundTo?: string;
}

export interface Condition {
  /** As written, prefix and suffix included: `ForAnyValue:StringLikeIfExists`. */
  readonly operator: string;
  readonly key: string;
  readonly values: readonly string[];
}

/** Request context: keys are compared without case; an absent key is absent here. */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

/** Why a decision came out as it did; a closed set. */
export type DecisionReason =
  | "allowed-by-identity-policy"
  | "allowed-by-resource-policy"
  | "allowed-by-trust-policy"
  | "allowed-as-root"
  | "explicit-deny-in-identity-policy"
  | "explicit-deny-in-boundary"
  | "explicit-deny-in-session-policy"
  | "explicit-deny-in-resource-policy"
  | "explicit-deny-in-trust-policy"
  | "no-identity-policy-allows"
  | "no-boundary-allows"
  | "no-session-policy-allows"
  | "no-resource-policy-allows"
  | "no-trust-policy-allows"
  | "no-such-role"
  | "no-such-principal";

/** Why one statement did or did not match; `because` names expected and found. */
export interface StatementOutcome {
  readonly policy: string;
  readonly policyKind: PolicyKind;
  readonly statement: string;
  readonly effect: "Allow" | "Deny";
  readonly matched: boolean;
  /** The first element that did not match: principal, action, resource, condition, unknown. */
  readonly failedOn?: "principal" | "action" | "resource" | "condition" | "unknown";
  readonly because: string;
}

/** The one value that CLI, events and tests read. */
export interface Decision {
  readonly effect: "allow" | "deny";
  readonly reason: DecisionReason;
  /** The deciding statement as `<policy>#<statement>`; for an implicit deny what was closest, or `no statement`. */
  readonly decidedBy: string;
  /** What that statement, or the lack of one, says about this request in a sentence: expected and found. */
  readonly because: string;
  /** Every statement looked at, in order. */
  readonly outcomes: readonly StatementOutcome[];
}

/** A signed or registry request (spec aws 3.4). */
export interface AccessRequest {
  readonly principal: AwsPrincipal;
  /** `ecr:BatchGetImage` */
  readonly action: string;
  /** An ARN, or `*`. */
  readonly resource: string;
  /** The account that owns the resource. */
  readonly resourceAccount: string;
  /** The resource's own policy, as stored. */
  readonly resourcePolicy?: Policy;
  /** Tags of the resource. */
  readonly resourceTags?: Readonly<Record<string, string>>;
  /** Further keys: aws:SourceIp, aws:SecureTransport, aws:UserAgent, aws:RequestedRegion … */
  readonly context?: RequestContext;
}

/** A web identity asking for a role (spec aws 3.2). */
export interface WebIdentityRequest {
  readonly roleArn: string;
  readonly providerArn: string;
  /** Condition keys of the token and the call, `<provider>:sub` and so on. */
  readonly context: RequestContext;
  /** `sts:AssumeRoleWithWebIdentity`, and `sts:TagSession`, `sts:SetSourceIdentity` where the token asks for them. */
  readonly actions: readonly string[];
}

export interface Role {
  readonly accountId: string;
  readonly name: string;
  /** `/` or `/a/b/` */
  readonly path: string;
  readonly arn: string;
  /** `AROA…` */
  readonly id: string;
  readonly trustPolicy: Policy;
  readonly maxSessionDurationSeconds: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly policies: readonly Policy[];
  readonly managedPolicies: readonly Policy[];
  readonly permissionsBoundary?: Policy;
}

export interface User {
  readonly accountId: string;
  readonly name: string;
  readonly path: string;
  readonly arn: string;
  /** `AIDA…` */
  readonly id: string;
  readonly accessKeys: readonly { readonly id: string; readonly secret: string }[];
  readonly policies: readonly Policy[];
  readonly managedPolicies: readonly Policy[];
  readonly permissionsBoundary?: Policy;
  readonly tags: Readonly<Record<string, string>>;
}

export interface OidcProvider {
  readonly accountId: string;
  readonly arn: string;
  /** The issuer without `https://`, exactly as registered. */
  readonly provider: string;
  /** The issuer's URL as registered. */
  readonly url: string;
  readonly clientIds: readonly string[];
  readonly thumbprints: readonly string[];
}

/** One account as the world file declares it; policies are IAM JSON. */
export interface AccountSeed {
  readonly id: string;
  readonly oidcProviders?: readonly {
    readonly url: string;
    readonly clientIds: readonly string[];
    readonly thumbprints?: readonly string[];
  }[];
  readonly roles?: Readonly<Record<string, RoleSeed>>;
  readonly users?: Readonly<Record<string, UserSeed>>;
  /** Customer managed policies by name: `arn:aws:iam::<account>:policy/<name>`. */
  readonly managedPolicies?: Readonly<Record<string, unknown>>;
}

export interface RoleSeed {
  readonly path?: string;
  readonly trustPolicy: unknown;
  readonly policies?: Readonly<Record<string, unknown>>;
  /** ARNs of managed policies of the same account. */
  readonly managedPolicies?: readonly string[];
  readonly permissionsBoundary?: string;
  readonly maxSessionDuration?: number;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface UserSeed {
  readonly path?: string;
  readonly accessKeys?: readonly { readonly id: string; readonly secret: string }[];
  readonly policies?: Readonly<Record<string, unknown>>;
  readonly managedPolicies?: readonly string[];
  readonly permissionsBoundary?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Identities, and the one place where a policy question is answered. */
export interface Iam {
  /** True for an account of this world. */
  hasAccount(id: string): boolean;
  accountIds(): readonly string[];
  findRole(arn: string): Role | undefined;
  findRoleByName(account: string, name: string): Role | undefined;
  findUser(arn: string): User | undefined;
  findUserByAccessKey(accessKeyId: string): { readonly user: User; readonly secret: string } | undefined;
  /** The provider registered for exactly this issuer URL in this account. */
  findOidcProvider(account: string, issuerUrl: string): OidcProvider | undefined;
  listRoles(): readonly Role[];
  /** Trust policy of the role asked, identity of the caller is the token. Same answer shape whether or not the role exists. */
  decideWebIdentity(request: WebIdentityRequest): Decision;
  /** Identity, boundary, session and resource policies together; identity policies are read live. */
  decideAccess(request: AccessRequest): Decision;
  /**
   * The policy with the role and user ARNs of its principals tied to their present unique ids, as AWS does when it stores
   * a resource policy: afterwards a role that is deleted and created again is no longer meant. Unknown ARNs stay as they are.
   */
  bindPrincipals(policy: Policy): Policy;
  /** Creates, or replaces and keeps the id; a role created again after its deletion has a new id. @throws IamError */
  putRole(account: string, name: string, seed: RoleSeed): Role;
  deleteRole(account: string, name: string): boolean;
  putUser(account: string, name: string, seed: UserSeed): User;
  putOidcProvider(
    account: string,
    seed: { url: string; clientIds: readonly string[]; thumbprints?: readonly string[] },
  ): OidcProvider;
  /** Back to the accounts as seeded. Ids stay as they were. */
  reset(): void;
}
