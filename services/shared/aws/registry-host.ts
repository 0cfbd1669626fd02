// The host names of ECR registries (spec aws 1.3).

export interface EcrHost {
  readonly account: string;
  readonly region: string;
}

const PRIVATE_HOST =
  /^(\d{12})\.dkr[.-]ecr(?:-fips)?\.([a-zA-Z0-9][a-zA-Z0-9-_]*)\.(?:amazonaws\.com(?:\.cn)?|amazonaws\.eu|on\.aws|on\.amazonwebservices\.com\.cn|sc2s\.sgov\.gov|c2s\.ic\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov)$/;

/** Account and region of a private ECR host (no port), or undefined. */
export function parseEcrHost(host: string): EcrHost | undefined {
  const match = PRIVATE_HOST.exec(host);
  return match ? { account: match[1] ?? "", region: match[2] ?? "" } : undefined;
}

/** `<account>.dkr.ecr.<region>.amazonaws.com` */
export function renderEcrHost(host: EcrHost): string {
  return `${host.account}.dkr.ecr.${host.region}.amazonaws.com`;
}
