// What a node may do: objects that Pods on it refer to, its own Node, and little else (spec kubelet 5.1).
import type { Attributes, Authorization, ObjectLookup, RefusalReason, ResourceAttributes, User } from "../types.ts";
import { isMirrorPod, secretsOf, serviceAccountOf } from "./pod.ts";
import type { Profile } from "./profile.ts";

const NODE_PREFIX = "system:node:";

/** Rights that all nodes have alike: `verb resource` (ClusterRole `system:node`, the part that exists here). */
const STATIC_RIGHTS = ["create tokenreviews", "get csidrivers", "list csidrivers"];

/** The node that a user is, or undefined. */
export function nodeNameOf(user: User): string | undefined {
  const isNode = user.groups.includes("system:nodes") && user.name.startsWith(NODE_PREFIX);
  return isNode ? user.name.slice(NODE_PREFIX.length) : undefined;
}

/** Decides for a node; a refusal is no opinion, others may still allow. */
export function decideNode(
  node: string,
  attributes: Attributes,
  facts: { readonly objects: ObjectLookup; readonly profile: Profile },
): Authorization {
  if (attributes.kind === "path") return refuse("");
  const decide = DECISIONS[attributes.group === "" ? attributes.resource : ""];
  if (decide) return decide({ node, ...facts, attributes });
  const allowed = STATIC_RIGHTS.includes(`${attributes.verb} ${attributes.resource}`) && attributes.subresource === "";
  return allowed ? allow() : refuse("");
}

interface Question {
  readonly node: string;
  readonly attributes: ResourceAttributes;
  readonly objects: ObjectLookup;
  readonly profile: Profile;
}

const DECISIONS: Readonly<Record<string, (question: Question) => Authorization>> = {
  serviceaccounts: decideServiceAccount,
  secrets: decideSecret,
  pods: decidePod,
  nodes: decideOwnNode,
};

function decideServiceAccount(question: Question): Authorization {
  const { attributes, objects, node, profile } = question;
  const related = () =>
    objects
      .podsOnNode(node)
      .some((pod) => pod.metadata.namespace === attributes.namespace && serviceAccountOf(pod) === attributes.name);
  if (attributes.verb === "get" && attributes.subresource === "") {
    const { KubeletServiceAccountTokenForCredentialProviders, PodCertificateRequest } = profile.gates;
    if (!KubeletServiceAccountTokenForCredentialProviders && !PodCertificateRequest) {
      return refuse("not allowed to get service accounts");
    }
    return related() ? allow() : refuseUnrelated(node);
  }
  if (attributes.verb !== "create" || attributes.name === "") {
    return refuse("can only create tokens for individual service accounts");
  }
  if (attributes.subresource !== "token") return refuse("can only create token subresource of serviceaccount");
  return related() ? allow() : refuseUnrelated(node);
}

function decideSecret({ attributes, objects, node }: Question): Authorization {
  if (!["get", "list", "watch"].includes(attributes.verb)) return refuse("can only read resources of this type");
  if (attributes.subresource !== "") return refuse("cannot read subresource");
  if (attributes.namespace === "") return refuse("can only read namespaced object of this type");
  if (attributes.name === "") return refuse("No Object name found");
  const related = objects
    .podsOnNode(node)
    .some(
      (pod) =>
        !isMirrorPod(pod) && pod.metadata.namespace === attributes.namespace && secretsOf(pod).has(attributes.name),
    );
  return related ? allow() : refuseUnrelated(node);
}

function decidePod({ attributes, objects, node }: Question): Authorization {
  const { verb, subresource, name, namespace, fields } = attributes;
  if (subresource !== "") return refuse("");
  // NodeRestriction keeps these to mirror Pods and to Pods of the node.
  if (verb === "create" || verb === "delete") return allow();
  if (verb !== "get" && verb !== "list" && verb !== "watch") return refuse("");
  if (verb !== "get" && fields["spec.nodeName"] === node) return allow();
  if (name === "") return refuse("can only list/watch pods with spec.nodeName field selector");
  const related = objects
    .podsOnNode(node)
    .some((pod) => pod.metadata.namespace === namespace && pod.metadata.name === name);
  return related ? allow() : refuseUnrelated(node);
}

function decideOwnNode({ attributes, node }: Question): Authorization {
  if (attributes.subresource !== "") return refuse("");
  if (["create", "update", "patch"].includes(attributes.verb)) return allow();
  if (!["get", "list", "watch"].includes(attributes.verb)) return refuse("");
  if (attributes.name === node) return allow();
  const target = attributes.name === "" ? "all nodes" : `'${attributes.name}'`;
  return refuse(`node '${node}' cannot read ${target}, only its own Node object`);
}

function allow(): Authorization {
  return { allowed: true, by: "node authorizer" };
}

function refuse(text: string, because: RefusalReason = "node-not-allowed"): Authorization {
  return { allowed: false, text, because };
}

function refuseUnrelated(node: string): Authorization {
  return refuse(`no relationship found between node '${node}' and this object`, "no-relationship-to-node");
}
