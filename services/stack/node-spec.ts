// What `POST nodes` may say, and the node it becomes: a copy of `like` with some facts replaced. Pure.
import { isAbsolute } from "node:path";
import { API_VERSIONS } from "../apiserver/index.ts";
import { ControlError } from "../control/index.ts";
import type { WorldNode } from "./types.ts";

type Fields = Readonly<Record<string, unknown>>;

const MEMBERS = [
  "name",
  "like",
  "version",
  "pluginDirectory",
  "kubeletConfiguration",
  "credentialProviderConfig",
  "preloadedImages",
  "environment",
  "identity",
] as const;

/**
 * The node that a request asks for. `identity: null` takes the identity of `like` away.
 * @throws ControlError naming what was expected and found
 */
export function parseNodeSpec(body: Fields, find: (name: string) => WorldNode | undefined): WorldNode {
  const unknown = Object.keys(body).filter((key) => !MEMBERS.some((member) => member === key));
  if (unknown.length > 0) throw refusal(`only ${MEMBERS.join(", ")}`, unknown.join(", "));
  const { name, version } = body;
  if (typeof name !== "string" || !/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) {
    throw refusal("name as a DNS subdomain", name);
  }
  const base = findBase(body.like, find);
  const known = API_VERSIONS.find((candidate) => candidate === (version ?? base?.version ?? "1.36"));
  if (!known) throw refusal(`version as one of ${API_VERSIONS.join(", ")}`, version);
  const { identity: inherited, ...rest } = base ?? EMPTY_NODE;
  const identity = body.identity === undefined ? inherited : body.identity;
  if (identity !== undefined && identity !== null && typeof identity !== "string")
    throw refusal("identity as a role ARN or null", identity);
  const credentialProviderConfig = objectIn(body, "credentialProviderConfig") ?? rest.credentialProviderConfig;
  return {
    ...rest,
    name,
    version: known,
    pluginDirectory: pluginDirectoryIn(body) ?? rest.pluginDirectory,
    kubeletConfiguration: objectIn(body, "kubeletConfiguration") ?? rest.kubeletConfiguration,
    ...(credentialProviderConfig ? { credentialProviderConfig } : {}),
    preloadedImages: textsIn(body, "preloadedImages") ?? rest.preloadedImages,
    environment: { ...rest.environment, ...environmentIn(body) },
    ...(identity ? { identity } : {}),
  };
}

const EMPTY_NODE: Omit<WorldNode, "name" | "version"> = {
  pluginDirectory: "builtin",
  kubeletConfiguration: { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" },
  preloadedImages: [],
  environment: {},
};

function findBase(like: unknown, find: (name: string) => WorldNode | undefined): WorldNode | undefined {
  if (like === undefined) return undefined;
  const base = typeof like === "string" ? find(like) : undefined;
  if (!base) throw refusal("like as the name of a node", like);
  return base;
}

function refusal(expected: string, found: unknown): ControlError {
  return new ControlError("BadRequest", `expected ${expected}, found ${JSON.stringify(found) ?? "none"}`);
}

function textIn(body: Fields, member: string): string | undefined {
  const value = body[member];
  if (value !== undefined && typeof value !== "string") throw refusal(`${member} as a text`, value);
  return value;
}

/** A relative path would be looked for in one place and run in another. */
function pluginDirectoryIn(body: Fields): string | undefined {
  const path = textIn(body, "pluginDirectory");
  if (path !== undefined && path !== "builtin" && !isAbsolute(path))
    throw refusal("pluginDirectory as `builtin` or an absolute path", path);
  return path;
}

function objectIn(body: Fields, member: string): Fields | undefined {
  const value = body[member];
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refusal(`${member} as an object`, value);
  return value as Fields;
}

function textsIn(body: Fields, member: string): readonly string[] | undefined {
  const value = body[member];
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw refusal(`${member} as a list of texts`, value);
  return value;
}

function environmentIn(body: Fields): Readonly<Record<string, string>> {
  const entries = Object.entries(objectIn(body, "environment") ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value !== "string") throw refusal(`environment.${name} as a text`, value);
      return [name, value];
    }),
  );
}
