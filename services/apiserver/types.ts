// The nouns of the API server: objects as on the wire, who asks, what is asked, and what is answered.

/** A JSON object of unknown shape. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The payload of a token; names as on the wire. */
export type Claims = JsonObject;

/** The part of an object's metadata that this server reads or writes. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string;
  /** Set while finalizers hold a deleted object back. */
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Any stored object. Never changed in place. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** A manifest after its shape was checked: metadata may still lack what the server adds. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Partial<ObjectMeta> & { readonly generateName?: string };
  readonly [field: string]: unknown;
}

/** An authenticated caller (or the anonymous one). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What is asked for, as authorizers see it. */
export interface ResourceAttributes {
  readonly kind: "resource";
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster scope. */
  readonly namespace: string;
  /** Empty if the request names no single object. */
  readonly name: string;
  /** Equality selectors of a list request. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A request for a path that is no resource: discovery, version, health. */
export interface PathAttributes {
  readonly kind: "path";
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

/** Why something was refused: the closed set that events carry. */
export type RefusalReason =
  | "bad-request"
  | "not-authenticated"
  | "not-found"
  | "method-not-allowed"
  | "already-exists"
  | "conflict"
  | "uid-mismatch"
  | "too-large"
  | "unsupported-media-type"
  | "invalid"
  | "internal-error"
  | "no-rbac-rule"
  | "node-not-allowed"
  | "no-relationship-to-node"
  | "not-bound-to-pod"
  | "pod-uid-missing"
  | "pod-not-found"
  | "pod-on-other-node"
  | "more-than-one-audience"
  | "audience-not-allowed"
  | "audience-check-failed"
  | "not-own-node"
  | "not-a-mirror-pod"
  | "service-account-not-found"
  | "pod-of-other-service-account";

/** The answer of an authorizer: what allowed it, or why not (`text` goes to the caller, `because` into the event). */
export type Authorization =
  | { readonly allowed: true; readonly by: string }
  | { readonly allowed: false; readonly text: string; readonly because: RefusalReason };

/** Facts that decisions need: live objects by resource, namespace (empty: cluster) and name. */
export interface ObjectLookup {
  find(resource: string, namespace: string, name: string): KubeObject | undefined;
  list(resource: string, namespace?: string): readonly KubeObject[];
  podsOnNode(node: string): readonly KubeObject[];
}

/** What a token is to be bound to, as sent. */
export interface BoundObjectRef {
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly uid: string;
}

/** `spec` of a TokenRequest, nothing defaulted yet. */
export interface TokenRequestSpec {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly boundObjectRef: BoundObjectRef | undefined;
  /** 1.37: names with their values. */
  readonly attestations: Readonly<Record<string, readonly string[]>>;
}

/** A TokenRequest as sent. */
export interface TokenRequest {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: TokenRequestSpec;
}

/** The object a token lives and dies with. */
export interface BoundObject {
  readonly kind: "Pod" | "Node" | "Secret";
  readonly object: KubeObject;
  /** The Pod's node; without uid if the Node object is gone. */
  readonly node?: { readonly name: string; readonly uid?: string };
}

/** One answer, before it becomes bytes. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Become `Warning` headers. */
  readonly warnings?: readonly string[];
  /** Facts for the event of this request. */
  readonly lineage?: string;
  readonly decidedBy?: string;
}

/** One request that was authenticated, authorized and read. */
export interface ApiRequest {
  readonly user: User;
  readonly attributes: Attributes;
  /** Empty where a request has no body. */
  readonly body: JsonObject;
  /** Adds facts to the event of this request, also if it is refused afterwards. */
  note(facts: JsonObject): void;
}
