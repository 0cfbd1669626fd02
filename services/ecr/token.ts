// GetAuthorizationToken: a registry password for whoever signed (spec aws 4.2).
import { renderEcrHost } from "../shared/aws/registry-host.ts";
import type { Clock } from "../shared/clock.ts";
import { createUuid, type Random } from "../shared/random.ts";
import type { Sealer } from "../shared/seal.ts";
import { type AccessDeps, checkAccountAccess } from "./access.ts";
import { sealPassword } from "./core/authorization-token.ts";
import { readTexts } from "./core/input.ts";
import type { Ecr, EcrCall } from "./types.ts";

export interface PasswordDeps {
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly random: Random;
  readonly passwordHours: number;
  /** Switch: a password ends with the session that asked for it. Off: nobody has seen that on the real service. */
  readonly endPasswordsWithSessions: boolean;
}

/** Mints passwords; the caller has been judged. */
export function createPasswordMint(deps: PasswordDeps): Ecr["mintPassword"] {
  return (principal, region, lineage) => {
    const issuedAt = Math.floor(deps.clock.now().getTime() / 1000);
    const full = issuedAt + Math.round(deps.passwordHours * 3600);
    const bounded = deps.endPasswordsWithSessions && principal.kind === "assumed-role";
    const expiresAt = bounded ? Math.min(full, principal.expiresAt) : full;
    const claims = { principal, region, lineage, id: createUuid(deps.random), issuedAt, expiresAt };
    const password = sealPassword(deps.sealer, claims, (length) => deps.random.bytes(length));
    return { password, expiresAt: new Date(expiresAt * 1000) };
  };
}

/** One entry per registry asked for; the password in each stands for the caller, whatever the registry. @throws EcrError */
export function getAuthorizationToken(
  call: EcrCall,
  deps: AccessDeps & { readonly mintPassword: Ecr["mintPassword"] },
): unknown {
  const registryIds = readTexts(call.input, "registryIds", { limit: 10, constraint: { pattern: "[0-9]{12}" } });
  checkAccountAccess(call, "ecr:GetAuthorizationToken", deps.iam);
  const { principal, region, lineage } = call;
  const authorizationData = (registryIds ?? [principal.accountId]).map((account) => {
    const { password, expiresAt } = deps.mintPassword(principal, region, lineage);
    return {
      authorizationToken: Buffer.from(`AWS:${password}`).toString("base64"),
      expiresAt,
      proxyEndpoint: `https://${renderEcrHost({ account, region })}`,
    };
  });
  return { authorizationData };
}
