// Nouns of the credential provider: the kubelet's wire types and what we make of them.

/** `CredentialProviderRequest` v1, reduced to the fields that count (spec kubelet 2.1). */
export interface CredentialProviderRequest {
  /** Name without tag and digest; never empty. */
  readonly image: string;
  /** Empty when the kubelet sent none. */
  readonly serviceAccountToken: string;
  readonly serviceAccountAnnotations: Readonly<Record<string, string>>;
}

/** `CredentialProviderResponse` v1 before it is written (spec kubelet 2.3). */
export interface CredentialProviderResponse {
  /** Undefined leaves the field out, so that the kubelet's `defaultCacheDuration` counts. */
  readonly cacheDurationSeconds: number | undefined;
  readonly host: string;
  readonly username: string;
  readonly password: string;
}

/** The first element of `authorizationData`, as the API gave it. */
export interface AuthorizationData {
  readonly authorizationToken?: string | undefined;
  readonly expiresAt?: Date | undefined;
}

/** Whose identity asks ECR: a role taken with the Pod's token, or whatever the SDK's default chain finds. */
export type Identity =
  | { readonly kind: "role"; readonly roleArn: string }
  | { readonly kind: "node"; readonly because: "no-token" | "no-role" };

/** Where an image lives, as far as it decides which API is asked. */
export interface ImageHost {
  /** Without port; the key of the answer. */
  readonly host: string;
  readonly kind: "public" | "private" | "other";
  /** Only private hosts name one. */
  readonly region: string | undefined;
}

/** One line for standard error: severity as klog writes it (I, W, E) and the message. */
export type LogLine = (severity: "I" | "W" | "E", message: string) => void;
