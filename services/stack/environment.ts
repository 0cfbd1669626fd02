// What clients need to find the stack: for people's shells, and for the plugins of simulated nodes.

/** Where the stack is. */
export interface Endpoints {
  readonly http: string;
  readonly https: string;
  readonly region: string;
  /** Path of the CA, which exists once it was asked for. */
  readonly caFile: string;
}

/** `GET env`: for AWS SDKs and command lines outside. */
export function renderClientEnvironment(at: Endpoints): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: at.https,
    AWS_CA_BUNDLE: at.caFile,
    NODE_EXTRA_CA_CERTS: at.caFile,
    AWS_REGION: at.region,
    AWS_DEFAULT_REGION: at.region,
    AWS_EC2_METADATA_DISABLED: "true",
    PULLPROOF_ENDPOINT: at.http,
  };
}

/**
 * The allow-listed environment of simulated nodes (design 13.3): nothing of the user's, no metadata service, no files
 * of the SDK. With `tls`, endpoints are https and the CA is the stack's.
 */
export function renderPluginEnvironment(at: Endpoints, tls: boolean): Readonly<Record<string, string>> {
  const endpoint = tls ? at.https : at.http;
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    AWS_ENDPOINT_URL: endpoint,
    // The Go SDK's own web identity provider looks at this one only.
    AWS_ENDPOINT_URL_STS: endpoint,
    AWS_REGION: at.region,
    AWS_DEFAULT_REGION: at.region,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    ...(tls ? { AWS_CA_BUNDLE: at.caFile, NODE_EXTRA_CA_CERTS: at.caFile } : {}),
  };
}
