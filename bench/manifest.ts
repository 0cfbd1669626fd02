// P5: GET of a manifest, with credentials and a decision on every request.
import { withBench } from "./bench.ts";
import type { Job } from "./load.ts";
import type { Result } from "./measure.ts";
import { startDockerRegistry, startOurs } from "./peers.ts";
import { alternateLoads, countRequests, type Figure, judgeRates } from "./rates.ts";
import { copyImage, logIn, type Place } from "./registry-client.ts";

const IMAGE = { repository: "team-a/app", tag: "1" };
const USER = { name: "bench", password: "bench-password" };
/** What clients send; docker-registry does not show an OCI manifest to whoever does not ask for one. */
const ACCEPT = "application/vnd.oci.image.manifest.v1+json";
const CONNECTIONS = 16;
const REQUESTS = 8_000;
/** The peers take milliseconds for each, one of them a bcrypt. */
const SLOW_REQUESTS = 250;

/** @returns the lines of P5 */
export function measureManifest(rounds: number): Promise<Result[]> {
  return withBench(async ({ folder, keep }) => {
    const ours = await keep(startOurs(folder));
    const open = await keep(startDockerRegistry(folder));
    const guarded = await keep(startDockerRegistry(folder, { users: { [USER.name]: USER.password } }));
    const places = {
      ours: await logIn(ours.url),
      open: { url: open.url, headers: {} },
      guarded: { url: guarded.url, headers: { authorization: renderBasic() } },
    };
    await copyImage(places.ours, places.open, IMAGE);
    await copyImage(places.ours, places.guarded, IMAGE);
    const figures = await alternateLoads(
      {
        ours: () => countRequests(ours, jobFor(places.ours, REQUESTS)),
        open: () => countRequests(open, jobFor(places.open, SLOW_REQUESTS * 2)),
        guarded: () => countRequests(guarded, jobFor(places.guarded, SLOW_REQUESTS)),
      },
      { rounds, warmUp: 2 },
    );
    return judgeManifest(figures);
  });
}

function renderBasic(): string {
  return `Basic ${Buffer.from(`${USER.name}:${USER.password}`).toString("base64")}`;
}

function jobFor({ url, headers }: Place, requests: number): Job {
  const { host, ...others } = headers;
  return {
    url: `${url}/v2/${IMAGE.repository}/manifests/${IMAGE.tag}`,
    headers: [...Object.entries(others), ["Accept", ACCEPT]],
    ...(host === undefined ? {} : { host }),
    requests,
    connections: CONNECTIONS,
  };
}

function judgeManifest(figures: Readonly<Record<"ours" | "open" | "guarded", readonly Figure[]>>): Result[] {
  const { ours, open, guarded } = figures;
  const what = `manifest GET, registry password and IAM decision, ${CONNECTIONS} connections`;
  return [
    ...judgeRates("P5", what, {
      ours,
      peer: guarded,
      against: "docker-registry with htpasswd",
      unit: "requests",
      goal: { text: "≥ 10 × peer", ratioAtLeast: 10 },
    }),
    ...judgeRates("P5", what, {
      ours,
      peer: open,
      against: "docker-registry, anonymous",
      unit: "requests",
      goal: { text: "≥ 5 × peer", ratioAtLeast: 5 },
    }),
  ];
}
