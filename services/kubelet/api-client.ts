// What the kubelet asks the API server: ServiceAccounts, Secrets and tokens, over HTTP with the node's bearer token.
import { type Dialer, type DialResponse, readResponse } from "../shared/dial.ts";
import type { SecretData } from "./core/docker-config.ts";
import { ApiServerError } from "./errors.ts";

/** A ServiceAccount's facts that matter for pulls. */
export interface ServiceAccount {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Secret extends SecretData {
  readonly uid: string;
}

export interface TokenQuery {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Precondition; left out before 1.34. */
  readonly uid: string | undefined;
  readonly audience: string;
  readonly pod: { readonly name: string; readonly uid: string };
}

/** Requests carry the trace so that every hop of one pull can be found. */
export interface ApiClient {
  /** @throws ApiServerError */
  getServiceAccount(namespace: string, name: string, traceparent: string): Promise<ServiceAccount>;
  /** @throws ApiServerError */
  getSecret(namespace: string, name: string, traceparent: string): Promise<Secret>;
  /** @throws ApiServerError */
  requestToken(query: TokenQuery, traceparent: string): Promise<{ token: string; expiresAt: Date }>;
}

/** A client for one node's identity. */
export function createApiClient(options: { url: string; token: string; dialer: Dialer }): ApiClient {
  const base = options.url.replace(/\/+$/, "");
  const send = async (path: string, traceparent: string, body?: unknown): Promise<Fields> => {
    const response = await options.dialer.request(`${base}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${options.token}`,
        accept: "application/json",
        traceparent,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return parseAnswer(response);
  };
  const pathOf = (kind: string, namespace: string, name: string) =>
    `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind}/${encodeURIComponent(name)}`;
  return {
    async getServiceAccount(namespace, name, traceparent) {
      const metadata = fieldsOf((await send(pathOf("serviceaccounts", namespace, name), traceparent)).metadata);
      return { uid: textOf(metadata, "uid"), annotations: textsOf(metadata.annotations) };
    },
    async getSecret(namespace, name, traceparent) {
      const secret = await send(pathOf("secrets", namespace, name), traceparent);
      return {
        uid: textOf(fieldsOf(secret.metadata), "uid"),
        type: textOf(secret, "type"),
        data: textsOf(secret.data),
      };
    },
    async requestToken(query, traceparent) {
      const path = `${pathOf("serviceaccounts", query.namespace, query.serviceAccount)}/token`;
      const status = fieldsOf((await send(path, traceparent, renderTokenRequest(query))).status);
      return { token: textOf(status, "token"), expiresAt: new Date(textOf(status, "expirationTimestamp")) };
    },
  };
}

function renderTokenRequest(query: TokenQuery) {
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: query.uid === undefined ? {} : { uid: query.uid },
    spec: {
      audiences: [query.audience],
      boundObjectRef: { kind: "Pod", apiVersion: "v1", name: query.pod.name, uid: query.pod.uid },
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

async function parseAnswer(response: DialResponse): Promise<Fields> {
  const text = (await readResponse(response)).toString("utf8");
  const body = parseObject(text);
  if (response.status >= 200 && response.status < 300 && body) return body;
  const message = body && typeof body.message === "string" ? body.message : `unexpected answer ${response.status}`;
  throw new ApiServerError(response.status, message);
}

function parseObject(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined; // the caller reports the status instead
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(fieldsOf(value)).map(([key, item]) => [key, String(item)]));
}

function textOf(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === "string" ? value : "";
}
