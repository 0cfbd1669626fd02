// Whether every service answers, asked as a client would: `GET /healthz` on each one's own host name.
import type { Dialer } from "../shared/dial.ts";
import { API_SERVER_URL, isPublishedHere } from "./hosts.ts";
import type { World } from "./types.ts";

/** How long a service may take; the stack is in this process. */
const TIMEOUT_MS = 2_000;

/** Per service `ok`, or what is wrong with it. */
export async function checkServices(world: World, dialer: Dialer): Promise<Readonly<Record<string, string>>> {
  const checks = Object.entries(serviceUrls(world)).map(
    async ([service, url]) => [service, await check(url, dialer)] as const,
  );
  return Object.fromEntries(await Promise.all(checks));
}

/** Where each service of this world answers by its own name. */
function serviceUrls(world: World): Readonly<Record<string, string>> {
  const issuer = world.issuers.find(isPublishedHere);
  const [registry] = world.registries;
  const [account] = world.accounts;
  const ecrHost = account && `${account.id}.dkr.ecr.${account.regions[0]}.amazonaws.com`;
  const registryHost = registry?.host ?? ecrHost;
  return {
    ...(issuer ? { oidc: `${new URL(issuer.url).origin}/healthz` } : {}),
    apiserver: `${API_SERVER_URL}/healthz`,
    sts: `https://sts.${world.region}.amazonaws.com/healthz`,
    ecr: `https://api.ecr.${world.region}.amazonaws.com/healthz`,
    ...(registryHost === undefined ? {} : { registry: `https://${registryHost}/healthz` }),
  };
}

async function check(url: string, dialer: Dialer): Promise<string> {
  try {
    const response = await dialer.request(url, { timeoutMs: TIMEOUT_MS });
    response.body.resume();
    return response.status === 200 ? "ok" : `expected 200, found ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error); // what is wrong is the answer here
  }
}
