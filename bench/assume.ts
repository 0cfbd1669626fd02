// P3: AssumeRoleWithWebIdentity, each request with a token of its own, against moto's server and an Express handler
// that does nothing.
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_WORLD } from "../services/stack/default-world.ts";
import { withBench } from "./bench.ts";
import type { Job } from "./load.ts";
import type { Result } from "./measure.ts";
import { startMoto, startOurs, startScript } from "./peers.ts";
import { alternateLoads, countRequests, type Figure, judgeRates } from "./rates.ts";
import { send } from "./registry-client.ts";

const TOKENS = 4_000;
const SLOW_REQUESTS = 200;
const CONNECTIONS = 16;
const STS = "sts.us-west-2.amazonaws.com";
const ROLE = "arn:aws:iam::111122223333:role/team-a-pull";

/** @returns the lines of P3 */
export function measureAssume(rounds: number): Promise<Result[]> {
  return withBench(async ({ folder, keep }) => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const ours = await keep(startOurs(folder, writeWorld(folder, privateKey)));
    const moto = await keep(startMoto());
    const empty = await keep(startScript("empty-express.mjs"));
    const verifying = await keep(
      startScript("verify-express.mjs", JSON.stringify(publicKey.export({ format: "jwk" }))),
    );
    const bodies = join(folder, "bodies");
    writeFileSync(bodies, createBodies(await requestToken(ours.control), privateKey).join("\n"));
    const figures = await alternateLoads(
      {
        ours: () => countRequests(ours, jobFor(ours.url, bodies, TOKENS)),
        moto: () => countRequests(moto, jobFor(moto.url, bodies, SLOW_REQUESTS)),
        empty: () => countRequests(empty, jobFor(empty.url, bodies, TOKENS)),
        verifying: () => countRequests(verifying, jobFor(verifying.url, bodies, TOKENS)),
      },
      { rounds, warmUp: 4 },
    );
    return judgeAssume(figures);
  });
}

type Runs = "ours" | "moto" | "empty" | "verifying";

function judgeAssume({ ours, moto, empty, verifying }: Readonly<Record<Runs, readonly Figure[]>>): Result[] {
  const what = `AssumeRoleWithWebIdentity, RS256, ${TOKENS} distinct tokens, ${CONNECTIONS} connections`;
  const reconnects = moto.reduce((sum, { report }) => sum + report.reconnects, 0);
  const closes = reconnects > 0 ? ", which closes each connection: the client opens a new one per request" : "";
  return [
    ...judgeRates("P3", what, {
      ours,
      peer: moto,
      against: `moto's server${closes}`,
      unit: "requests",
      goal: { text: "≥ 5 × peer", ratioAtLeast: 5 },
    }),
    ...judgeRates("P3", what, {
      ours,
      peer: empty,
      against: "an empty Express handler",
      unit: "requests",
      goal: { text: "≥ 0.5 × peer", ratioAtLeast: 0.5 },
    }),
    ...judgeRates("P3", "the limit of that on one core: an Express handler that only checks the signature", {
      ours: verifying,
      peer: empty,
      against: "an empty Express handler",
      unit: "requests",
      goal: { text: "for information" },
    }),
  ];
}

/** The default world with an issuer whose key we know: signing here is faster than asking for each token. */
function writeWorld(folder: string, key: KeyObject): string {
  const { issuers } = DEFAULT_WORLD;
  const jwk = key.export({ format: "jwk" });
  const world = { ...DEFAULT_WORLD, issuers: { ...issuers, eks: { ...issuers.eks, key: { jwk } } } };
  const path = join(folder, "world.json");
  writeFileSync(path, JSON.stringify(world));
  return path;
}

async function requestToken(control: string): Promise<string> {
  const { pathname, origin } = new URL("issuers/eks/tokens", control);
  const request = { namespace: "team-a", serviceAccount: "puller", audience: "sts.amazonaws.com" };
  const { body } = await send(
    { url: origin, headers: { "content-type": "application/json" } },
    { method: "POST", path: pathname, body: JSON.stringify(request), expect: 201 },
  );
  return JSON.parse(body.toString()).token;
}

/** Form bodies with twins of a token: the same claims but for `jti`. */
function createBodies(token: string, key: KeyObject): string[] {
  const [header, payload] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString("utf8"));
  return Array.from({ length: TOKENS }, () => {
    const twin = Buffer.from(JSON.stringify({ ...claims, jti: randomUUID() })).toString("base64url");
    const signature = sign("sha256", Buffer.from(`${header}.${twin}`), key).toString("base64url");
    return new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: ROLE,
      RoleSessionName: "bench",
      WebIdentityToken: `${header}.${twin}.${signature}`,
    }).toString();
  });
}

function jobFor(url: string, bodies: string, requests: number): Job {
  return {
    url: `${url}/`,
    method: "POST",
    host: STS,
    headers: [["Content-Type", "application/x-www-form-urlencoded; charset=utf-8"]],
    bodies,
    requests,
    connections: CONNECTIONS,
  };
}
