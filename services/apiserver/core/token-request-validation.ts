// Validation of a TokenRequest's spec: the lifetime, and the attestations that came with 1.37 (spec kubelet 4.2, 13.1).
import type { FieldProblem } from "../errors.ts";
import type { TokenRequestSpec } from "../types.ts";
import type { Profile } from "./profile.ts";

const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const WEBHOOK_KINDS = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/** All problems of the spec; `expirationSeconds` is the value after defaulting. */
export function listTokenRequestProblems(
  spec: TokenRequestSpec,
  expirationSeconds: number,
  profile: Profile,
): FieldProblem[] {
  // Problems of attestations stand in place of all others.
  const attested = profile.attestations ? listAttestationProblems(spec) : [];
  if (attested.length > 0) return attested;
  const path = "spec.expirationSeconds";
  const invalid = (why: string) => [{ path, message: `Invalid value: ${expirationSeconds}: ${why}` }];
  if (expirationSeconds < MIN_SECONDS) return invalid("may not specify a duration less than 10 minutes");
  if (expirationSeconds > MAX_SECONDS) return invalid("may not specify a duration larger than 2^32 seconds");
  return [];
}

/** The object behind a name may be another one by now: text of the refusal. */
export function renderUidMismatch(uid: string): string {
  return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
}

function listAttestationProblems({ attestations, boundObjectRef, audiences }: TokenRequestSpec): FieldProblem[] {
  const path = "spec.attestations";
  const isWebhook =
    boundObjectRef?.apiVersion === "admissionregistration.k8s.io/v1" && WEBHOOK_KINDS.includes(boundObjectRef.kind);
  if (!isWebhook) {
    if (Object.keys(attestations).length === 0) return [];
    const why = "attestations may only be specified with a webhook bound object reference";
    return [{ path, message: `Invalid value: ${JSON.stringify(attestations)}: ${why}` }];
  }
  const problems: FieldProblem[] = [];
  if (audiences.length !== 1) {
    const why = "exactly one audience must be specified with a webhook bound object reference";
    problems.push({ path: "spec.audiences", message: `Invalid value: ${JSON.stringify(audiences)}: ${why}` });
  }
  if (Object.keys(attestations).length !== 1 || attestations.admissionReviewAPIGroups?.length !== 1) {
    const why = "exactly one attestation, admissionReviewAPIGroups with one value, must be specified";
    problems.push({ path, message: `Invalid value: ${JSON.stringify(attestations)}: ${why}` });
  }
  return problems;
}
