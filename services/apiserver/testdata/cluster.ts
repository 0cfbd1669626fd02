// A small cluster behind its router on a free port, for the tests of this room.
import http from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { createIssuer } from "../../oidc/index.ts";
import { MovableClock } from "../../shared/clock.ts";
import { createMemorySink } from "../../shared/event.ts";
import { createSeededRandom } from "../../shared/random.ts";
import { type ApiServerOptions, createApiServer } from "../api-server.ts";
import { createApiServerRouter } from "../http.ts";

export const NOW = 1_790_000_000;
export const ISSUER = "https://oidc.example.test";
export const AUDIENCE = "sts.amazonaws.com";
const ADMIN_TOKEN = "admin-token";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint: tests look into answers of many shapes
  readonly body: any;
}

export function pod(name: string, spec: Record<string, unknown> = {}, namespace = "team-a") {
  const containers = [{ name: "app", image: "registry.test/app:1" }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec: { containers, nodeName: "node-1", serviceAccountName: "puller", ...spec } };
}

export function audienceRole(name: string, resourceNames: string[] = [], audience = AUDIENCE) {
  const rule = { apiGroups: [""], verbs: ["request-serviceaccounts-token-audience"], resources: [audience] };
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name },
    rules: [{ ...rule, ...(resourceNames.length > 0 ? { resourceNames } : {}) }],
  };
}

export function bindingTo(role: string, subject: Record<string, unknown>, namespace?: string) {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: namespace ? "RoleBinding" : "ClusterRoleBinding",
    metadata: { name: `${role}-binding`, ...(namespace ? { namespace } : {}) },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [subject],
  };
}

export const NODES_GROUP = { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:nodes" };

const BASIC = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } },
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-b" } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "puller", namespace: "team-a" } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "other", namespace: "team-a" } },
];

export async function startCluster(options: Partial<ApiServerOptions> = {}) {
  const clock = new MovableClock();
  clock.set(new Date(NOW * 1000));
  clock.freeze(true);
  const random = createSeededRandom("cluster");
  const events = createMemorySink();
  const issuer = options.issuer ?? createIssuer({ name: "eks", url: ISSUER, alg: "ES256", clock, random });
  const apiServer = createApiServer({
    nodes: ["node-1", "node-2"],
    issuer,
    clock,
    random,
    adminToken: ADMIN_TOKEN,
    ...options,
    objects: [...BASIC, ...(options.objects ?? [])],
  });
  const server = http.createServer(express().use(createApiServerRouter({ apiServer, clock, random, events })));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = async (token: string | undefined, method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json") && text !== "";
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  };
  const admin = (method: string, path: string, body?: unknown) => send(ADMIN_TOKEN, method, path, body);
  const node = (name: string, method: string, path: string, body?: unknown) =>
    send(apiServer.nodeToken(name), method, path, body);
  const uidOf = async (path: string): Promise<string> => (await admin("GET", path)).body.metadata.uid;
  return { apiServer, issuer, clock, events, url, send, admin, node, uidOf, [Symbol.asyncDispose]: async () => void server.close() };
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export const ACCOUNT = "/api/v1/namespaces/team-a/serviceaccounts/puller";
export const PODS = "/api/v1/namespaces/team-a/pods";

/** A TokenRequest of the shape that a kubelet sends. */
export function tokenRequest(spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) {
  return { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata, spec: { audiences: [AUDIENCE], ...spec } };
}

export function boundTo(name: string, uid?: string, kind = "Pod") {
  return { kind, apiVersion: "v1", name, ...(uid === undefined ? {} : { uid }) };
}

export function claimsOf(answer: Answer) {
  return JSON.parse(Buffer.from(answer.body.status.token.split(".")[1], "base64url").toString());
}
