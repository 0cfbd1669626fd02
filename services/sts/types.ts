// The nouns of STS: its options, the credentials it gives out, and the door that other rooms use.
import type { CredentialResolver } from "../shared/aws/credential-resolver.ts";
import type { AwsPrincipal, FederatedIdentity } from "../shared/aws/principal.ts";
import type { QueryCall } from "../shared/aws/query.ts";
import type { EventDraft } from "../shared/event.ts";

/** All optional; the defaults are those of the strict profile. */
export interface StsOptions {
  /** Age from `iat` beyond which a token is refused although it has not expired; 86 400. */
  readonly maxTokenAgeSeconds?: number;
  /** How far ahead `nbf` and `iat` may lie; 300. */
  readonly skewSeconds?: number;
  /** How long a key set is used before it is fetched again; 60, on the stack's clock. */
  readonly jwksCacheSeconds?: number;
  /** Switch: accept issuers and key sets on plain http. */
  readonly httpIssuers?: boolean;
  /** Switch: an unreachable identity provider is the retryable `IDPCommunicationError`. */
  readonly idpCommunicationErrors?: boolean;
  /** Switch: compare the key set's server certificate with the provider's thumbprints, if it has any. */
  readonly verifyThumbprints?: boolean;
  /** `aws:RequestedRegion` where the host does not say; `us-east-1`, as on the global endpoint. */
  readonly defaultRegion?: string;
}

/** Temporary credentials as clients receive them. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

/** What a session of a role is made of. */
export interface SessionRequest {
  readonly roleArn: string;
  readonly sessionName: string;
  readonly durationSeconds: number;
  /** Inline policies as JSON text. */
  readonly sessionPolicies?: readonly string[];
  readonly sessionPolicyArns?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly transitiveTagKeys?: readonly string[];
  readonly sourceIdentity?: string;
  readonly federated?: FederatedIdentity;
  /** The chain this credential continues, `jti` of the token; the new access key id where there is none. */
  readonly lineage?: string;
}

export interface AssumedRoleUser {
  /** `arn:aws:sts::<account>:assumed-role/<role name>/<session name>` */
  readonly arn: string;
  /** `AROA…:<session name>` */
  readonly assumedRoleId: string;
}

/** The answer of AssumeRole and, with the last three, of AssumeRoleWithWebIdentity. */
export interface RoleSession {
  readonly credentials: Credentials;
  readonly assumedRoleUser: AssumedRoleUser;
  /** Only where policies or tags were passed. */
  readonly packedPolicySize?: number;
  readonly sourceIdentity?: string;
  readonly subject?: string;
  readonly audience?: string;
  /** The ARN of the IAM provider, as every real answer for OIDC shows. */
  readonly provider?: string;
}

/** Condition keys and their values, as policies are asked with. */
export type PolicyContext = Readonly<Record<string, string | readonly string[]>>;

/** Facts of the HTTP request that policies may look at. */
export interface CallContext {
  readonly sourceIp: string;
  readonly secure: boolean;
  readonly userAgent: string;
  readonly region: string;
}

/** One call: what was sent, from where, and the event that is filled in as facts become known. */
export interface StsCall {
  readonly query: QueryCall;
  readonly context: CallContext;
  readonly event: EventDraft;
}

/** Who signed a call. */
export interface SignedBy {
  readonly principal: AwsPrincipal;
  readonly accessKeyId: string;
  readonly lineage: string;
}

/** The Security Token Service without its wire. */
export interface Sts {
  /** All fifteen checks in the order of the specification. @throws StsError the first that fails */
  assumeRoleWithWebIdentity(call: StsCall): Promise<RoleSession>;
  /** Trust policy and, where that does not name the caller, the caller's own policies. @throws StsError */
  assumeRole(call: StsCall, by: SignedBy): RoleSession;
  /** Credentials of a user for a while. @throws StsError */
  getSessionToken(call: StsCall, by: SignedBy): Credentials;
  /** Credentials of a role without asking anyone; for the identity that a machine has by nature. @throws StsError `not-authorized` if there is no such role */
  mintSession(request: SessionRequest): Credentials;
  /** `aws:RequestedRegion` where neither host nor signature says. */
  readonly defaultRegion: string;
  /** Sessions of this service and access keys of IAM users. */
  readonly resolver: CredentialResolver;
  /** Forgets every key set. Credentials given out stay what they are: nothing else is remembered. */
  reset(): void;
}
