// Who asks, in AWS's terms: what sts, ecr and iam mean by a principal.

/** Facts about the web identity a session came from; they stay visible to its later requests. */
export interface FederatedIdentity {
  /** `arn:aws:iam::<account>:oidc-provider/<issuer without scheme>` */
  readonly providerArn: string;
  /** The issuer without its scheme: the prefix of the condition keys. */
  readonly provider: string;
  readonly subject: string;
  readonly audience: string;
  readonly amr?: readonly string[];
}

/** An IAM user or root, or a session of an assumed role. */
export type AwsPrincipal =
  | { readonly kind: "root"; readonly accountId: string; readonly arn: string; readonly userId: string }
  | {
      readonly kind: "user";
      readonly accountId: string;
      /** `arn:aws:iam::<account>:user/<path><name>` */
      readonly arn: string;
      readonly userId: string;
      readonly userName: string;
    }
  | {
      readonly kind: "assumed-role";
      readonly accountId: string;
      /** `arn:aws:sts::<account>:assumed-role/<role name>/<session name>` */
      readonly arn: string;
      /** `AROA…:<session name>` */
      readonly userId: string;
      readonly roleArn: string;
      /** The role's unique id: policies remember it, so a recreated role is another one. */
      readonly roleId: string;
      readonly sessionName: string;
      /** Inline session policies as JSON text, and managed ones by ARN. */
      readonly sessionPolicies: readonly string[];
      readonly sessionPolicyArns: readonly string[];
      readonly tags: Readonly<Record<string, string>>;
      readonly federated?: FederatedIdentity;
      /** Seconds since the epoch. */
      readonly issuedAt: number;
      readonly expiresAt: number;
    };
