// Rows about tokens and roles that are not what they claim to be.
import { assumeRole, judge, mintToken } from "./aws.ts";
import type { Backstage } from "./backstage.ts";
import { pullAsTeamA, ROLE_A, TOKEN_NEEDS } from "./team-a.ts";
import type { Row } from "./types.ts";

const PULLER = { namespace: "team-a", name: "puller" };

async function badToken(stage: Backstage, kind: string, what: string) {
  return {
    steps: [await pullAsTeamA(stage, { what, annotations: { "pullproof.dev/bad-token": kind } })],
    twin: await pullAsTeamA(stage, { what: "its own token" }),
  };
}

/** How long the JWKS of an issuer may be cached by STS (spec aws 2.3). */
const JWKS_CACHE_SECONDS = 60;

async function rotatedKey(stage: Backstage) {
  const old = await mintToken(stage, PULLER);
  const present = async (what: string) => judge(what, (await assumeRole(stage, old, ROLE_A)).answer, "pulled");
  const first = await present("token of the old key");
  const oldKeys = await keyIds(stage);
  await stage.control("POST", "issuers/eks/keys", { keepOld: true });
  for (const kid of oldKeys) await stage.control("DELETE", `issuers/eks/keys/${encodeURIComponent(kid)}`, {});
  await stage.control("PUT", "clock", { advanceSeconds: JWKS_CACHE_SECONDS + 1 });
  const refused = await present("the same token, its key withdrawn");
  const fresh = await pullAsTeamA(stage, { what: "a new token" });
  return { before: [{ ...first, expected: "pulled" as const }], steps: [refused, fresh] };
}

async function keyIds(stage: Backstage): Promise<readonly string[]> {
  const { issuers } = (await stage.control("GET", "issuers")) as {
    issuers: { name: string; keys: { kid: string }[] }[];
  };
  return issuers.find((issuer) => issuer.name === "eks")?.keys.map(({ kid }) => kid) ?? [];
}

/** In the order of the table. */
export const ATTACK_ROWS: readonly Row[] = [
  {
    id: "foreign-role",
    title: "team-b's ServiceAccount names team-a's role: the trust policy's sub condition refuses",
    needs: [...TOKEN_NEEDS, "serviceaccount team-b/impostor"],
    expected: ["denied"],
    twin: "pulled",
    run: async (stage) => ({
      steps: [await pullAsTeamA(stage, { what: "team-b/impostor", namespace: "team-b", serviceAccount: "impostor" })],
      twin: await pullAsTeamA(stage),
    }),
  },
  {
    id: "loose-trust-policy",
    title: "a trust policy without sub condition lets every ServiceAccount of the cluster in",
    needs: [...TOKEN_NEEDS, "serviceaccount team-b/borrower", "role 111122223333/loose"],
    expected: ["leaked"],
    run: async (stage) => ({
      steps: [
        await pullAsTeamA(stage, {
          what: "team-b/borrower with role loose",
          namespace: "team-b",
          serviceAccount: "borrower",
        }),
      ],
    }),
  },
  {
    id: "expired-token",
    title: "the ServiceAccount token has expired",
    needs: TOKEN_NEEDS,
    expected: ["denied"],
    twin: "pulled",
    run: (stage) => badToken(stage, "expired", "expired token"),
  },
  {
    id: "forged-token",
    title: "the token is signed by a key that is not the issuer's",
    needs: TOKEN_NEEDS,
    expected: ["denied"],
    twin: "pulled",
    run: (stage) => badToken(stage, "wrong-key", "forged token"),
  },
  {
    id: "unregistered-issuer",
    title: "the token comes from an issuer that the account does not know",
    needs: [...TOKEN_NEEDS, "issuer rogue"],
    expected: ["denied"],
    twin: "pulled",
    run: (stage) => badToken(stage, "unregistered-issuer", "token of issuer rogue"),
  },
  {
    id: "rotated-key",
    title: "the issuer's key is withdrawn: old tokens end, new ones work",
    needs: TOKEN_NEEDS,
    expected: ["denied", "pulled"],
    disruptive: true,
    run: rotatedKey,
  },
];
