// Admission for nodes: tokens only for Pods of the node and only for audiences it may have; Pods and Nodes only its own
// (spec kubelet 5.2, texts of 1.37 from 13.1).
import { StatusError } from "../errors.ts";
import type { Manifest, RefusalReason, TokenRequestSpec, User } from "../types.ts";
import { type AuthorizationFacts, decideAuthorization } from "./authorize.ts";
import { objectAt, textAt } from "./fields.ts";
import { isMirrorPod, nodeOf } from "./pod.ts";
import { type AudienceFinding, findAudience } from "./pod-audience.ts";
import { renderUidMismatch } from "./token-request-validation.ts";

const ACCOUNTS = { group: "", resource: "serviceaccounts" };

export interface NodeTokenRequest {
  readonly node: string;
  readonly user: User;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly spec: TokenRequestSpec;
}

/**
 * Rules 1 to 7 for a token requested by a node, on the request as sent. Returns what settled the audience.
 * @throws StatusError Forbidden, or NotFound for an unknown Pod.
 */
export function admitNodeTokenRequest(request: NodeTokenRequest, facts: AuthorizationFacts): string {
  const { node, namespace, serviceAccount, spec } = request;
  const refuse = (because: RefusalReason, text: string) =>
    StatusError.forbidden(ACCOUNTS, serviceAccount, { text, because });
  const ref = spec.boundObjectRef;
  if (ref?.apiVersion !== "v1" || ref.kind !== "Pod" || ref.name === "") {
    throw refuse("not-bound-to-pod", "node requested token not bound to a pod");
  }
  if (ref.uid === "") throw refuse("pod-uid-missing", "node requested token with a pod binding without a uid");
  const pod = facts.objects.find("pods", namespace, ref.name);
  if (!pod) throw StatusError.notFound({ group: "", resource: "pod" }, ref.name, "pod-not-found");
  if (pod.metadata.uid !== ref.uid) throw refuse("uid-mismatch", renderUidMismatch(ref.uid));
  if (nodeOf(pod) !== node) {
    throw refuse("pod-on-other-node", "node requested token bound to a pod scheduled on a different node");
  }
  if (!facts.profile.gates.ServiceAccountNodeAudienceRestriction) return "audience not restricted";
  if (spec.audiences.length > 1) throw refuse("more-than-one-audience", "node may only request 0 or 1 audiences");
  return admitAudience(request, findAudience(pod, spec.audiences[0] ?? "", facts.objects), facts);
}

function admitAudience(request: NodeTokenRequest, finding: AudienceFinding, facts: AuthorizationFacts): string {
  const { user, namespace, serviceAccount, spec } = request;
  const audience = spec.audiences[0] ?? "";
  if (finding.found) return finding.by;
  const refuse = (because: RefusalReason, text: string) =>
    StatusError.forbidden(ACCOUNTS, serviceAccount, { text, because });
  if (finding.errors.length > 0) {
    const errors = finding.errors.length === 1 ? finding.errors[0] : `[${finding.errors.join(", ")}]`;
    throw refuse("audience-check-failed", `error validating audience "${audience}": ${errors}`);
  }
  const decision = decideAuthorization(
    user,
    {
      kind: "resource",
      verb: "request-serviceaccounts-token-audience",
      group: "",
      version: "",
      resource: audience,
      subresource: "",
      namespace,
      name: serviceAccount,
      fields: {},
    },
    facts,
  );
  if (decision.allowed) return decision.by;
  const long = `audience "${audience}" not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`;
  const short = `${user.name} is not authorized to request tokens for audience "${audience}"`;
  throw refuse("audience-not-allowed", facts.profile.shortAudienceRefusal ? short : long);
}

/** A node may create mirror Pods on itself, nothing else. */
export function admitNodePod(node: string, pod: Manifest): void {
  const refuse = (because: RefusalReason, text: string) =>
    StatusError.forbidden({ group: "", resource: "pods" }, pod.metadata.name ?? "", { text, because });
  if (!isMirrorPod(pod)) {
    const text = `pod does not have "kubernetes.io/config.mirror" annotation, node "${node}" can only create mirror pods`;
    throw refuse("not-a-mirror-pod", text);
  }
  if (textAt(objectAt(pod, "spec"), "nodeName") !== node) {
    throw refuse("not-own-node", `node "${node}" can only create pods with spec.nodeName set to itself`);
  }
}

/** Deleting a Pod or creating a Node: only its own. */
export function admitNodeOwned(node: string, what: { resource: "pods" | "nodes"; name: string; owner: string }): void {
  if (what.owner === node) return;
  const text =
    what.resource === "pods"
      ? `node "${node}" can only delete pods with spec.nodeName set to itself`
      : `node "${node}" is not allowed to modify node "${what.owner}"`;
  throw StatusError.forbidden({ group: "", resource: what.resource }, what.name, { text, because: "not-own-node" });
}
