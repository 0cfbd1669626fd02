// The chain of authorizers: administrators, the node authorizer, RBAC; the first that allows decides.
import { StatusError } from "../errors.ts";
import type { Attributes, Authorization, ObjectLookup, User } from "../types.ts";
import { decideNode, nodeNameOf } from "./node-authorizer.ts";
import type { Profile } from "./profile.ts";
import { decideRbac } from "./rbac.ts";

export interface AuthorizationFacts {
  readonly objects: ObjectLookup;
  readonly profile: Profile;
}

/** Whether the user may, by what, or why not. */
export function decideAuthorization(user: User, attributes: Attributes, facts: AuthorizationFacts): Authorization {
  if (user.groups.includes("system:masters")) return { allowed: true, by: "group system:masters" };
  const node = nodeNameOf(user);
  const byNode = node === undefined ? undefined : decideNode(node, attributes, facts);
  if (byNode?.allowed) return byNode;
  const byRbac = decideRbac(user, attributes, facts.objects);
  if (byRbac.allowed || !byNode) return byRbac;
  // The node authorizer's reason comes first: it is the one that tells what is wrong.
  return { ...byNode, text: [byNode.text, byRbac.text].filter(Boolean).join("\n") };
}

/** The 403 of a refused request, in the words of the API server. */
export function createForbidden(
  user: User,
  attributes: Attributes,
  refusal: Authorization & { allowed: false },
): StatusError {
  const suffix = refusal.text === "" ? "" : `: ${refusal.text}`;
  if (attributes.kind === "path") {
    const text = `User "${user.name}" cannot ${attributes.verb} path "${attributes.path}"${suffix}`;
    return StatusError.forbidden({ group: "", resource: "" }, "", { text, because: refusal.because });
  }
  const { verb, group, resource, subresource, namespace, name } = attributes;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const scope = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const text = `User "${user.name}" cannot ${verb} resource "${full}" in API group "${group}" ${scope}${suffix}`;
  return StatusError.forbidden({ group, resource }, name, { text, because: refusal.because });
}
