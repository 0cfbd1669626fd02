// P6 and P7: one large blob out and in, against docker-registry.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../services/shared/clock.ts";
import { systemRandom } from "../services/shared/random.ts";
import { createCertificateAuthority } from "../services/shared/tls.ts";
import { type Bench, withBench } from "./bench.ts";
import { type Job, runLoad } from "./load.ts";
import type { Result } from "./measure.ts";
import { startDockerRegistry, startOurs, startScript } from "./peers.ts";
import { alternateLoads, countMegabytes, type Figure, judgeRates } from "./rates.ts";
import { logIn, type Place, send } from "./registry-client.ts";
import type { Server } from "./servers.ts";

const REPOSITORY = "team-a/app";
const BLOB_BYTES = 512 * 1024 * 1024;
const AGAINST = "docker-registry";

/** The parts of a job that say where to. */
type Target = Pick<Job, "url" | "host" | "headers" | "ca">;

/** @returns the lines of P6 */
export function measurePull(rounds: number): Promise<Result[]> {
  return withBench(async (bench) => {
    const ours = await startOurPeer(bench);
    const tls = await makeCertificate(bench.folder);
    const plain = await bench.keep(startDockerRegistry(bench.folder));
    const secure = await bench.keep(startDockerRegistry(bench.folder, { tls }));
    const trusted = { ca: tls.ca, host: "localhost" };
    const oursSecure = { ...ours.target, url: ours.server.https, ca: ours.server.ca };
    const runs = {
      ours: await preparePull(ours.server, ours.target),
      peer: await preparePull(plain, { url: plain.url }),
      oursSecure: await preparePull(ours.server, oursSecure),
      peerSecure: await preparePull(secure, { url: secure.url, ...trusted }),
    };
    const figures = await alternateLoads(runs, { rounds });
    return [
      ...judgePull("plain http", figures.ours, figures.peer),
      ...judgePull("TLS", figures.oursSecure, figures.peerSecure),
    ];
  });
}

function judgePull(how: string, ours: readonly Figure[], peer: readonly Figure[]): Result[] {
  const goal = { text: "≥ 1.0 × peer", ratioAtLeast: 1 };
  return judgeRates("P6", `blob pull, 512 MiB, ${how}`, { ours, peer, against: AGAINST, unit: "MB", goal });
}

/** @returns the lines of P7 */
export function measurePush(rounds: number): Promise<Result[]> {
  return withBench(async (bench) => {
    const ours = await startOurPeer(bench);
    const peer = await bench.keep(startDockerRegistry(bench.folder));
    const discard = await bench.keep(startScript("discard.ts"));
    const hash = await bench.keep(startScript("discard.ts", "hash"));
    const figures = await alternateLoads(
      {
        ours: () => pushAndDelete(ours.server, ours.target, ours.place),
        peer: () => pushAndDelete(peer, { url: peer.url }, { url: peer.url, headers: {} }),
        discard: () => countMegabytes(discard, pushJob({ url: discard.url })),
        hash: () => countMegabytes(hash, pushJob({ url: hash.url })),
      },
      { rounds },
    );
    const what = "blob push, 512 MiB, digest checked, POST and PUT";
    return [
      ...judgeRates("P7", what, {
        ours: figures.ours,
        peer: figures.peer,
        against: AGAINST,
        unit: "MB",
        goal: { text: "≥ 1.6 × peer", ratioAtLeast: 1.6 },
      }),
      ...judgeRates("P7", what, {
        ours: figures.ours,
        peer: figures.discard,
        against: "the same edge with the body discarded",
        unit: "MB",
        goal: { text: "≥ 0.85 × peer", ratioAtLeast: 0.85 },
      }),
      ...judgeRates("P7", "the limit of that on one core: the edge that takes the digest and keeps nothing", {
        ours: figures.hash,
        peer: figures.discard,
        against: "the same edge with the body discarded",
        unit: "MB",
        goal: { text: "for information" },
      }),
    ];
  });
}

async function startOurPeer({ folder, keep }: Bench) {
  const server = await keep(startOurs(folder));
  const place = await logIn(server.url);
  const { host = "", ...others } = place.headers;
  return { server, place, target: { url: server.url, host, headers: Object.entries(others) } };
}

/** Pushes the blob and returns what pulls it again. */
async function preparePull(server: Server, target: Target): Promise<() => Promise<Figure>> {
  const { digest } = await runLoad(pushJob(target));
  const url = `${target.url}/v2/${REPOSITORY}/blobs/${digest}`;
  return () => countMegabytes(server, { ...target, url, requests: 1, connections: 1 });
}

function pushJob(target: Target): Job {
  const url = `${target.url}/v2/${REPOSITORY}/blobs/uploads/`;
  return { ...target, url, push: true, bodyBytes: BLOB_BYTES, requests: 1, connections: 1 };
}

/** Deleted again, so that no store grows from round to round. */
async function pushAndDelete(server: Server, target: Target, place: Place): Promise<Figure> {
  const figure = await countMegabytes(server, pushJob(target));
  const path = `/v2/${REPOSITORY}/blobs/${figure.report.digest}`;
  await send(place, { method: "DELETE", path, expect: 202 });
  return figure;
}

/** Key and chain of the kind that our own TLS uses, so that both do the same work. */
async function makeCertificate(folder: string): Promise<{ certificate: string; key: string; ca: string }> {
  const authority = createCertificateAuthority({
    directory: folder,
    systemClock,
    random: systemRandom,
    isServed: () => true,
  });
  const { cert, key } = await authority.certificateFor("localhost");
  const paths = {
    certificate: join(folder, "server.pem"),
    key: join(folder, "server.key"),
    ca: join(folder, "ca.pem"),
  };
  writeFileSync(paths.certificate, cert);
  writeFileSync(paths.key, key);
  writeFileSync(paths.ca, await authority.caPem());
  return paths;
}
