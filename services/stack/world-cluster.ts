// The `cluster` of a world: manifests as kubectl takes them, and the simulated nodes.
import { API_VERSIONS } from "../apiserver/index.ts";
import type { Manifest, WorldCluster, WorldNode } from "./types.ts";
import { anyMap, distinct, list, record } from "./world-collections.ts";
import type { WorldContext } from "./world-context.ts";
import { optional, readFields, required } from "./world-fields.ts";
import type { Place, Reader } from "./world-place.ts";
import { oneOf, type TextRule, text } from "./world-texts.ts";
import { describe, isMap } from "./world-value.ts";

/** The kinds of object that the API server of this stack knows. */
const KINDS: Readonly<Record<string, { readonly apiVersion: string; readonly namespaced: boolean }>> = {
  Namespace: { apiVersion: "v1", namespaced: false },
  Node: { apiVersion: "v1", namespaced: false },
  Pod: { apiVersion: "v1", namespaced: true },
  Secret: { apiVersion: "v1", namespaced: true },
  ServiceAccount: { apiVersion: "v1", namespaced: true },
  ClusterRole: { apiVersion: "rbac.authorization.k8s.io/v1", namespaced: false },
  ClusterRoleBinding: { apiVersion: "rbac.authorization.k8s.io/v1", namespaced: false },
  Role: { apiVersion: "rbac.authorization.k8s.io/v1", namespaced: true },
  RoleBinding: { apiVersion: "rbac.authorization.k8s.io/v1", namespaced: true },
};

const DNS_LABEL: TextRule = {
  expected: "a DNS label: at most 63 lower-case letters, digits and -",
  test: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
  maximum: 63,
};
const DNS_SUBDOMAIN: TextRule = {
  expected: "a DNS name: at most 253 lower-case letters, digits, - and .",
  test: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/,
  maximum: 253,
};
/** RBAC names are path segments (`system:nodes` is one). */
const PATH_SEGMENT: TextRule = { expected: "a name without / and %", test: /^(?!\.{1,2}$)[^/%\s]+$/, maximum: 253 };

/** Reads the cluster; without one it has the first issuer, no objects and no nodes. */
export function readCluster(place: Place, context: WorldContext): WorldCluster {
  const { signingIssuers: own } = context;
  const issuer: TextRule = {
    expected: `the name of an issuer with a key here (${own.join(", ")})`,
    test: (name) => own.includes(name),
  };
  const objects = distinct(
    list((at) => readManifest(at, context)),
    "object",
    objectKey,
  );
  const fields = readFields(place, {
    issuer: required(text(issuer)),
    objects: optional(objects, []),
    nodes: optional(
      record((at) => readNode(at, context), DNS_SUBDOMAIN),
      {},
    ),
  });
  return { ...fields, nodes: Object.values(fields.nodes) };
}

function objectKey({ kind, metadata }: Manifest): string {
  return metadata.name === "" ? "" : [kind, metadata.namespace, metadata.name].filter(Boolean).join(" ");
}

const STAND_IN: Manifest = { apiVersion: "", kind: "", metadata: { name: "" } };

function readManifest(place: Place, context: WorldContext): Manifest {
  if (!isMap(place.value)) {
    place.refuse("a manifest (a map with apiVersion, kind and metadata)");
    return STAND_IN;
  }
  const kind = requiredText(place.at("kind"), {
    expected: `one of ${Object.keys(KINDS).join(", ")}`,
    test: (name) => Object.hasOwn(KINDS, name),
  });
  const known = KINDS[kind];
  const version = known?.apiVersion ?? "an apiVersion";
  const apiVersion = requiredText(place.at("apiVersion"), {
    expected: version,
    test: (found) => !known || found === version,
  });
  const metadata = place.at("metadata");
  if (!isMap(metadata.value)) {
    metadata.refuse("metadata with a name");
    return STAND_IN;
  }
  const name = requiredText(metadata.at("name"), nameRule(kind));
  const namespace = known ? readNamespace(metadata.at("namespace"), known.namespaced, context) : undefined;
  const named = { ...metadata.value, name, ...(namespace === undefined ? {} : { namespace }) };
  return { ...place.value, apiVersion, kind, metadata: named };
}

function requiredText(place: Place, rule: TextRule): string {
  return text(rule)(place);
}

function nameRule(kind: string): TextRule {
  if (kind === "Namespace") return DNS_LABEL;
  return kind.includes("Role") ? PATH_SEGMENT : DNS_SUBDOMAIN;
}

/** A namespaced object without a namespace belongs to `default`, as with kubectl. */
function readNamespace(place: Place, namespaced: boolean, context: WorldContext): string | undefined {
  if (namespaced) return place.value === undefined ? "default" : text(declaredNamespace(context))(place);
  if (place.value !== undefined) place.refuseKey("no namespace: this kind has none", describe(place.value));
  return undefined;
}

/** A namespace that the cluster declares. */
export function declaredNamespace({ namespaces }: WorldContext): TextRule {
  return { expected: `a namespace that cluster.objects declares`, test: (name) => namespaces.has(name) };
}

const KUBELET_CONFIGURATION = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };

function readNode(place: Place, context: WorldContext): WorldNode {
  const name = String(place.path.at(-1));
  const role: TextRule = { expected: "the ARN of a role of this world", test: (arn) => context.roleArns.has(arn) };
  const { identity, credentialProviderConfig, ...fields } = readFields(place, {
    version: required(oneOf(...API_VERSIONS)),
    pluginDirectory: optional((at) => readDirectory(at, context), "builtin"),
    kubeletConfiguration: optional(
      typed(["kubelet.config.k8s.io/v1beta1"], "KubeletConfiguration"),
      KUBELET_CONFIGURATION,
    ),
    credentialProviderConfig: optional(readProviderConfig, undefined),
    preloadedImages: optional(list(text({ expected: "an image reference", test: /^[^\s]+$/ })), []),
    identity: optional(text(role), undefined),
    environment: optional(record(text({ expected: "text", test: (value) => !value.includes("\0") }), VARIABLE), {}),
  });
  return {
    name,
    ...fields,
    ...(credentialProviderConfig ? { credentialProviderConfig } : {}),
    ...(identity ? { identity } : {}),
  };
}

const VARIABLE: TextRule = { expected: "the name of an environment variable", test: /^[A-Za-z_]\w*$/ };

function readDirectory(place: Place, context: WorldContext): string {
  const path = text({ expected: "builtin, or the path of a directory", test: /./ })(place);
  return path === "builtin" || path === "" ? path : (context.resolvePath?.(path) ?? path);
}

/** A configuration manifest of one kind; what is in it is judged by the kubelet, in the kubelet's words. */
function typed(versions: readonly [string, ...string[]], kind: string): Reader<Readonly<Record<string, unknown>>> {
  return (place) => {
    const value = anyMap(place);
    if (value !== place.value) return value;
    oneOf(...versions)(place.at("apiVersion"));
    oneOf(kind)(place.at("kind"));
    return value;
  };
}

const PROVIDER_CONFIG_VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `kubelet.config.k8s.io/${version}`);

function readProviderConfig(place: Place): Readonly<Record<string, unknown>> {
  const [first = "", ...others] = PROVIDER_CONFIG_VERSIONS;
  const value = typed([first, ...others], "CredentialProviderConfig")(place);
  if (isMap(place.value)) list(anyMap, { expected: "a list of at least one provider", from: 1 })(place.at("providers"));
  return value;
}
