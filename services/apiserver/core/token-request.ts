// The TokenRequest handler as a decision: checks in the order of spec kubelet 4.2, then what is granted.
import { StatusError } from "../errors.ts";
import type { BoundObject, BoundObjectRef, JsonObject, KubeObject, ObjectLookup, TokenRequest } from "../types.ts";
import { isObject, objectAt, textAt } from "./fields.ts";
import { nodeOf, serviceAccountOf } from "./pod.ts";
import type { Profile } from "./profile.ts";
import { listTokenRequestProblems, renderUidMismatch } from "./token-request-validation.ts";

export interface TokenGrant {
  readonly serviceAccount: KubeObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly lifetimeSeconds: number;
  readonly bound: BoundObject | undefined;
  readonly warnings: readonly string[];
}

export interface TokenRequestFacts {
  readonly namespace: string;
  readonly name: string;
  readonly objects: ObjectLookup;
  readonly profile: Profile;
  readonly apiAudiences: readonly string[];
  /** 0: no limit. */
  readonly maxExpirationSeconds: number;
  readonly extendExpiration: boolean;
}

const DEFAULT_SECONDS = 3600;
/** The one value that marks an automatically mounted token (spec kubelet 4.3). */
const EXTENDABLE_SECONDS = 3607;
const EXTENDED_SECONDS = 31_536_000;
const TOKEN_REQUESTS = { group: "authentication.k8s.io", resource: "TokenRequest", kind: "TokenRequest" };

/**
 * What is granted.
 * @throws StatusError with the first check that fails.
 */
export function decideTokenRequest(request: TokenRequest, facts: TokenRequestFacts): TokenGrant {
  checkName(request, facts);
  const serviceAccount = facts.objects.find("serviceaccounts", facts.namespace, facts.name);
  if (!serviceAccount) throw StatusError.notFound({ group: "", resource: "serviceaccounts" }, facts.name);
  const warnings = checkUid(request, serviceAccount, facts);
  const { spec } = request;
  const audiences = spec.audiences.length > 0 ? spec.audiences : facts.apiAudiences;
  const requested = spec.expirationSeconds ?? DEFAULT_SECONDS;
  const problems = listTokenRequestProblems(spec, requested, facts.profile);
  if (problems.length > 0) throw StatusError.invalid(TOKEN_REQUESTS, "", problems);
  const bound = spec.boundObjectRef && findBound(spec.boundObjectRef, facts);
  const { maxExpirationSeconds: limit } = facts;
  const shortened = limit > 0 && requested > limit;
  const expirationSeconds = shortened ? limit : requested;
  if (shortened) warnings.push(`requested expiration of ${requested} seconds shortened to ${limit} seconds`);
  const extended =
    facts.extendExpiration &&
    bound?.kind === "Pod" &&
    expirationSeconds === EXTENDABLE_SECONDS &&
    audiences.every((audience) => facts.apiAudiences.includes(audience));
  const lifetimeSeconds = extended ? EXTENDED_SECONDS : expirationSeconds;
  return { serviceAccount, audiences, expirationSeconds, lifetimeSeconds, bound, warnings };
}

/**
 * A TokenRequest out of a JSON object whose kind was checked.
 * @throws StatusError BadRequest naming the member that has the wrong type.
 */
export function parseTokenRequest(body: JsonObject): TokenRequest {
  const metadata = objectAt(body, "metadata");
  const spec = objectAt(body, "spec");
  const { audiences, expirationSeconds, boundObjectRef } = spec;
  if (audiences != null && !(Array.isArray(audiences) && audiences.every((each) => typeof each === "string"))) {
    throw wrongType("spec.audiences", "[]string");
  }
  if (expirationSeconds != null && !Number.isSafeInteger(expirationSeconds)) {
    throw wrongType("spec.expirationSeconds", "int64");
  }
  if (boundObjectRef != null && !isObject(boundObjectRef)) {
    throw wrongType("spec.boundObjectRef", "v1.BoundObjectReference");
  }
  return {
    metadata: {
      name: textAt(metadata, "name"),
      namespace: textAt(metadata, "namespace"),
      uid: textAt(metadata, "uid"),
    },
    spec: {
      audiences: Array.isArray(audiences) ? audiences : [],
      expirationSeconds: typeof expirationSeconds === "number" ? expirationSeconds : undefined,
      boundObjectRef: isObject(boundObjectRef) ? parseReference(boundObjectRef) : undefined,
      attestations: parseAttestations(spec.attestations),
    },
  };
}

function checkName({ metadata }: TokenRequest, facts: TokenRequestFacts): void {
  if (metadata.namespace !== "" && metadata.namespace !== facts.namespace) {
    throw StatusError.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  }
  if (metadata.name !== "" && metadata.name !== facts.name) {
    const message = `Invalid value: "${metadata.name}": must match the service account name if specified`;
    throw StatusError.invalid(TOKEN_REQUESTS, facts.name, [{ path: "metadata.name", message }]);
  }
}

// K33 neither keeps nor compares the uid; with the gate off later versions only warn.
function checkUid({ metadata }: TokenRequest, account: KubeObject, { profile, name }: TokenRequestFacts): string[] {
  const { uid } = account.metadata;
  if (!profile.tokenRequestUid || metadata.uid === "" || metadata.uid === uid) return [];
  const text = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
  if (!profile.gates.TokenRequestServiceAccountUIDValidation) return [text];
  throw StatusError.conflict(TOKEN_REQUESTS, name, { text, because: "uid-mismatch" });
}

function findBound(ref: BoundObjectRef, facts: TokenRequestFacts): BoundObject {
  const { objects, namespace } = facts;
  const resource = ref.apiVersion === "v1" ? BINDABLE[ref.kind] : undefined;
  if (!resource) throw StatusError.badRequest(renderUnbindable(ref, facts.profile));
  const object = objects.find(resource.name, resource.kind === "Node" ? "" : namespace, ref.name);
  if (!object) throw StatusError.notFound({ group: "", resource: resource.name }, ref.name);
  if (resource.kind === "Pod" && serviceAccountOf(object) !== facts.name) {
    const text = `cannot bind token for serviceaccount "${facts.name}" to pod running with serviceaccount "${serviceAccountOf(object)}"`;
    throw StatusError.badRequest(text, "pod-of-other-service-account");
  }
  if (ref.uid !== "" && ref.uid !== object.metadata.uid) {
    const cause = { text: renderUidMismatch(ref.uid), because: "uid-mismatch" } as const;
    throw StatusError.conflict({ group: "", resource: resource.kind }, ref.name, cause);
  }
  const node = resource.kind === "Pod" ? nodeOf(object) : "";
  if (node === "") return { kind: resource.kind, object };
  const uid = objects.find("nodes", "", node)?.metadata.uid;
  return { kind: resource.kind, object, node: { name: node, ...(uid === undefined ? {} : { uid }) } };
}

const BINDABLE: Readonly<Record<string, { readonly kind: BoundObject["kind"]; readonly name: string } | undefined>> = {
  Pod: { kind: "Pod", name: "pods" },
  Node: { kind: "Node", name: "nodes" },
  Secret: { kind: "Secret", name: "secrets" },
};

function renderUnbindable(ref: BoundObjectRef, profile: Profile): string {
  const version = ref.apiVersion.includes("/") ? ref.apiVersion : `/${ref.apiVersion}`;
  const webhook = ref.apiVersion === "admissionregistration.k8s.io/v1" && ref.kind.endsWith("WebhookConfiguration");
  const gate = " (feature gate APIServerWebhookAuthenticationToken is disabled)";
  return `cannot bind token to object of type ${version}, Kind=${ref.kind}${webhook && profile.attestations ? gate : ""}`;
}

function parseReference(ref: JsonObject): BoundObjectRef {
  const [kind, apiVersion] = [textAt(ref, "kind"), textAt(ref, "apiVersion")];
  return { kind, apiVersion, name: textAt(ref, "name"), uid: textAt(ref, "uid") };
}

function parseAttestations(value: unknown): Record<string, readonly string[]> {
  if (value == null) return {};
  if (!isObject(value)) throw wrongType("spec.attestations", "map[string]v1.AttestationValue");
  const entries = Object.entries(value).map(([name, list]) => [name, Array.isArray(list) ? list.map(String) : []]);
  return Object.fromEntries(entries);
}

function wrongType(path: string, type: string): StatusError {
  return StatusError.badRequest(
    `TokenRequest in version "v1" cannot be handled as a TokenRequest: json: cannot unmarshal value into Go struct field TokenRequestSpec.${path} of type ${type}`,
  );
}
