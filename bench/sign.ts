// P4: minting a token against the signature alone, one after another in this process.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createIssuer } from "../services/oidc/index.ts";
import { systemClock } from "../services/shared/clock.ts";
import { systemRandom } from "../services/shared/random.ts";
import { alternate, judge, type Result } from "./measure.ts";

const ALGORITHMS = {
  RS256: { tokens: 100, goal: 0.95, createKey: () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey },
  ES256: { tokens: 500, goal: 0.7, createKey: () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey },
} as const;
type Algorithm = keyof typeof ALGORITHMS;

const REQUEST = { subject: "system:serviceaccount:team-a:puller", audiences: ["sts.amazonaws.com"] };

/** @returns the lines of P4 */
export async function measureSign(rounds: number): Promise<Result[]> {
  return [await measureAlgorithm("RS256", rounds), await measureAlgorithm("ES256", rounds)];
}

async function measureAlgorithm(alg: Algorithm, rounds: number): Promise<Result> {
  const { tokens, goal, createKey } = ALGORITHMS[alg];
  const privateKey = createKey();
  const key = { pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  const issuer = createIssuer({
    name: "bench",
    url: "https://oidc.bench.test",
    alg,
    key,
    clock: systemClock,
    random: systemRandom,
  });
  const { token } = await issuer.mint(REQUEST);
  const input = Buffer.from(token.slice(0, token.lastIndexOf(".")));
  const { mint, raw } = await alternate(
    {
      mint: () => perCpuSecond(tokens, () => issuer.mint(REQUEST)),
      raw: () => perCpuSecond(tokens, async () => signRaw(input, privateKey)),
    },
    // Short rounds, so many of them.
    { rounds: rounds * 4 },
  );
  return judge("P4", `token mint, ${alg}`, {
    ours: mint,
    peer: raw,
    against: "node:crypto's sign alone",
    unit: "tokens/CPU s",
    goal: { text: `≥ ${goal} × peer`, ratioAtLeast: goal },
  });
}

/** The fastest way for each kind of key that gives the bytes a JWS needs. */
function signRaw(input: Buffer, key: KeyObject): Buffer {
  return sign("sha256", input, key.asymmetricKeyType === "rsa" ? key : { key, dsaEncoding: "ieee-p1363" });
}

/** Both are pure computation: processor time is what they cost, whoever else uses the machine. */
async function perCpuSecond(times: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count++) await work();
  const { user, system } = process.cpuUsage(before);
  return (times / (user + system)) * 1e6;
}
