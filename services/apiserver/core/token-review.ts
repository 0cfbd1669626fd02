// Validation of a ServiceAccount token beyond its signature, and what a TokenReview says (spec kubelet 4.5, 4.6).
import type { Claims, JsonObject, KubeObject, ObjectLookup, User } from "../types.ts";
import { objectAt, textAt } from "./fields.ts";

/** Clocks may differ by this much, and a deleted object may linger this long. */
const LEEWAY_SECONDS = 60;

export interface TokenFacts {
  readonly objects: ObjectLookup;
  readonly now: Date;
  readonly issuer: string;
  /** What the token must be made out to: one of these. */
  readonly audiences: readonly string[];
}

export type TokenVerdict =
  | { readonly authenticated: true; readonly user: User; readonly audiences: readonly string[] }
  | { readonly authenticated: false; readonly error: string };

/** Judges claims whose signature was checked. */
export function decideToken(claims: Claims, facts: TokenFacts): TokenVerdict {
  const problem = findClaimProblem(claims, facts);
  if (problem !== undefined) return { authenticated: false, error: problem };
  const held = audiencesOf(claims);
  const audiences = facts.audiences.filter((audience) => held.includes(audience));
  if (audiences.length === 0) {
    const text = `token audiences ${renderList(held)} is invalid for the target audiences ${renderList(facts.audiences)}`;
    return { authenticated: false, error: text };
  }
  const stale = findObjectProblem(claims, facts);
  if (stale !== undefined) return { authenticated: false, error: stale };
  return { authenticated: true, user: createUser(claims), audiences };
}

/** The groups of a ServiceAccount; the last one is there for every authenticated caller. */
export function createServiceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
}

function findClaimProblem(claims: Claims, facts: TokenFacts): string | undefined {
  const now = facts.now.getTime() / 1000;
  if (claims.iss !== facts.issuer) return "token issuer is not one of this server";
  const [exp, nbf, iat] = [claims.exp, claims.nbf, claims.iat].map(Number);
  // A missing or malformed time reads as NaN, and every comparison below then refuses.
  if (!(now - LEEWAY_SECONDS <= (exp ?? Number.NaN))) return "service account token has expired";
  if (claims.nbf !== undefined && !(now + LEEWAY_SECONDS >= (nbf ?? Number.NaN))) {
    return "service account token is not valid yet";
  }
  if (claims.iat !== undefined && !(now + LEEWAY_SECONDS >= (iat ?? Number.NaN))) {
    return "service account token is issued in the future";
  }
  return undefined;
}

function findObjectProblem(claims: Claims, facts: TokenFacts): string | undefined {
  const own = objectAt(claims, "kubernetes.io");
  const namespace = textAt(own, "namespace");
  const account = objectAt(own, "serviceaccount");
  if (claims.sub !== `system:serviceaccount:${namespace}:${textAt(account, "name")}`) {
    return "token subject does not match its service account";
  }
  const references: readonly (readonly [label: string, resource: string, namespace: string, claim: unknown])[] = [
    ["service account", "serviceaccounts", namespace, account],
    ["pod", "pods", namespace, own.pod],
    ["secret", "secrets", namespace, own.secret],
    // The node beside a Pod is information only; a token is bound to it if there is nothing else.
    ["node", "nodes", "", "pod" in own || "secret" in own ? undefined : own.node],
  ];
  for (const [label, resource, where, claim] of references) {
    if (claim === undefined) continue;
    const reference = objectAt({ claim }, "claim");
    const problem = findStale(
      label,
      reference,
      facts.objects.find(resource, where, textAt(reference, "name")),
      facts.now,
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findStale(label: string, claim: JsonObject, object: KubeObject | undefined, now: Date): string | undefined {
  const name = textAt(claim, "name");
  if (!object) return `${label} ${name} has been deleted`;
  const { uid, deletionTimestamp } = object.metadata;
  if (uid !== claim.uid) return `${label} UID (${uid}) does not match claim (${textAt(claim, "uid")})`;
  const gone = deletionTimestamp && now.getTime() > new Date(deletionTimestamp).getTime() + LEEWAY_SECONDS * 1000;
  return gone ? `${label} ${name} has been deleted` : undefined;
}

function createUser(claims: Claims): User {
  const own = objectAt(claims, "kubernetes.io");
  const extra: Record<string, readonly string[]> = {};
  const add = (key: string, value: string) => {
    if (value !== "") extra[`authentication.kubernetes.io/${key}`] = [value];
  };
  const [pod, node] = [objectAt(own, "pod"), objectAt(own, "node")];
  if (typeof claims.jti === "string") add("credential-id", `JTI=${claims.jti}`);
  add("pod-name", textAt(pod, "name"));
  add("pod-uid", textAt(pod, "uid"));
  add("node-name", textAt(node, "name"));
  add("node-uid", textAt(node, "uid"));
  const groups = createServiceAccountGroups(textAt(own, "namespace"));
  return { name: textAt(claims, "sub"), uid: textAt(objectAt(own, "serviceaccount"), "uid"), groups, extra };
}

function audiencesOf(claims: Claims): readonly unknown[] {
  const { aud } = claims;
  return Array.isArray(aud) ? aud : [aud];
}

function renderList(audiences: readonly unknown[]): string {
  return `[${audiences.map((audience) => JSON.stringify(audience)).join(" ")}]`;
}
