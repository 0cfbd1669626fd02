// The control plane of the real node: etcd and kube-apiserver, whose tokens carry our issuer's name and signature.
import { createPublicKey } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import https from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Enclosure } from "./enclosure.ts";
import { createKubeClient, type KubeClient, type Send } from "./kube-client.ts";
import type { Programs } from "./programs.ts";

export interface ClusterOptions {
  readonly enclosure: Enclosure;
  readonly programs: Programs;
  /** Who the tokens are from, and the key that signs them (PEM). */
  readonly issuer: { readonly url: string; readonly pem: string };
  /** Every node that will ever register. */
  readonly nodes: readonly string[];
  /** For tests of a taken port; free ones unless told. */
  readonly port?: number | undefined;
}

export interface Cluster {
  readonly client: KubeClient;
  /** Path of a kubeconfig for the node. */
  kubeconfig(node: string): string;
}

/** A name in the certificate that the API server makes for itself. */
const API_SERVER_NAME = "kubernetes.default.svc";
const ADMIN_TOKEN = "admin-of-one-test-run";

/** A port that is free now. */
export function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** Starts both, and waits until the API server is ready. @throws RealNodeError */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { enclosure, programs, issuer } = options;
  const [etcd, peer, free] = [await findPort(), await findPort(), await findPort()];
  const { folder } = enclosure;
  const etcdUrl = `http://127.0.0.1:${etcd}`;
  // biome-ignore format: one flag and its value a line
  enclosure.start("etcd", [programs.etcd,
    "--data-dir", join(folder, "etcd"), "--unsafe-no-fsync", "--log-level", "warn",
    "--listen-client-urls", etcdUrl, "--advertise-client-urls", etcdUrl,
    "--listen-peer-urls", `http://127.0.0.1:${peer}`,
  ]);
  const port = options.port ?? free;
  const apiServer = enclosure.start("kube-apiserver", [
    programs.kubeApiserver,
    ...["--etcd-servers", etcdUrl, "--bind-address", "127.0.0.1", "--secure-port", String(port)],
    ...["--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.96.0.0/24", "--allow-privileged"],
    ...["--cert-dir", join(folder, "apiserver"), "--token-auth-file", writeTokens(folder, options.nodes)],
    ...["--authorization-mode", "Node,RBAC", "--enable-admission-plugins", "NodeRestriction"],
    ...signingFlags(folder, issuer),
  ]);
  const ca = join(folder, "apiserver", "apiserver.crt");
  const client = createKubeClient(createSend(port, ca), ADMIN_TOKEN);
  const isReady = async () => {
    if (!existsSync(ca)) return false;
    await client.request("GET", "/api/v1/namespaces/default");
    await client.request("GET", "/api/v1/namespaces/kube-node-lease");
    await client.request("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node");
    return true;
  };
  await apiServer.until("the API is ready", isReady, 90);
  return { client, kubeconfig: (node) => writeKubeconfig({ folder, port, ca, node }) };
}

/** The API server signs with the issuer's own key: its tokens are the issuer's tokens. */
function signingFlags(folder: string, issuer: { readonly url: string; readonly pem: string }): readonly string[] {
  const privateKey = join(folder, "issuer.key");
  const publicKey = join(folder, "issuer.pub");
  writeFileSync(privateKey, issuer.pem, { mode: 0o600 });
  writeFileSync(publicKey, createPublicKey(issuer.pem).export({ type: "spki", format: "pem" }));
  return [
    ...["--service-account-issuer", issuer.url, "--service-account-jwks-uri", `${issuer.url}/keys`],
    ...["--service-account-signing-key-file", privateKey, "--service-account-key-file", publicKey],
  ];
}

function nodeToken(node: string): string {
  return `token-of-${node}`;
}

/** Static bearer tokens: good enough on loopback for one run, and no certificates to make. */
function writeTokens(folder: string, nodes: readonly string[]): string {
  const file = join(folder, "tokens.csv");
  const lines = [
    `${ADMIN_TOKEN},admin,admin,system:masters`,
    ...nodes.map((node) => `${nodeToken(node)},system:node:${node},${node},system:nodes`),
  ];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  return file;
}

function writeKubeconfig(at: { folder: string; port: number; ca: string; node: string }): string {
  const file = join(at.folder, `${at.node}.kubeconfig`);
  const cluster = {
    server: `https://127.0.0.1:${at.port}`,
    "certificate-authority": at.ca,
    "tls-server-name": API_SERVER_NAME,
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "node",
    contexts: [{ name: "node", context: { cluster: "node", user: "node" } }],
    clusters: [{ name: "node", cluster }],
    users: [{ name: "node", user: { token: nodeToken(at.node) } }],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

function createSend(port: number, caFile: string): Send {
  const agent = new https.Agent({ keepAlive: true });
  return ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const ca = readFileSync(caFile); // made by the API server itself
      const options = { host: "127.0.0.1", port, servername: API_SERVER_NAME, ca, agent, method, path, headers };
      const request = https.request(options, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      request.once("error", reject);
      request.end(body);
    });
}
