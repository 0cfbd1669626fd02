// What the tests of sts stand on: two accounts, an issuer on port 0 whose keys can be swapped, and the room's router.
import { generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { type AccountSeed, createIam } from "../../iam/index.ts";
import { presignRequest, signRequest } from "../../shared/aws/sigv4-sign.ts";
import { MovableClock } from "../../shared/clock.ts";
import { createDialer } from "../../shared/dial.ts";
import { createMemorySink } from "../../shared/event.ts";
import { createSeededRandom } from "../../shared/random.ts";
import { createSealer } from "../../shared/seal.ts";
import { createSts, createStsRouter, type StsOptions } from "../index.ts";

export const A = "111111111111";
export const B = "222222222222";
export const ISSUER = "https://oidc.test/c1";
export const PROVIDER = "oidc.test/c1";
export const AUDIENCE = "sts.amazonaws.com";
/** 2026-01-31T12:00:00Z; everything in these tests happens at this second unless the clock is moved. */
export const NOW = 1_769_860_800;

export const roleArn = (name: string, account = A) => `arn:aws:iam::${account}:role/${name}`;
export const providerArn = (account = A) => `arn:aws:iam::${account}:oidc-provider/${PROVIDER}`;

const trust = (account: string, condition: object, extra: object = {}) => ({
  Version: "2012-10-17",
  Statement: [
    {
      Effect: "Allow",
      Principal: { Federated: providerArn(account) },
      Action: "sts:AssumeRoleWithWebIdentity",
      Condition: condition,
      ...extra,
    },
  ],
});
const subject = (sub: string) => ({ StringEquals: { [`${PROVIDER}:sub`]: sub, [`${PROVIDER}:aud`]: AUDIENCE } });
const statement = (Action: string | string[], Resource: string | string[] = "*") => ({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action, Resource }],
});

export const CI_KEY = { accessKeyId: "AKIABTX3GSDS2UISEM2E", secretAccessKey: "secretOfTheUserCi" };
export const OPS_KEY = { accessKeyId: "AKIABTX3GSDS2UISEM2F", secretAccessKey: "secretOfTheUserOps" };

const ACCOUNTS: readonly AccountSeed[] = [
  {
    id: A,
    oidcProviders: [{ url: ISSUER, clientIds: [AUDIENCE], thumbprints: ["a".repeat(40)] }],
    roles: {
      "tenant-a": { trustPolicy: trust(A, subject("system:serviceaccount:tenant-a:app")), tags: { tenant: "a" } },
      "tenant-a-like": {
        path: "/teams/",
        maxSessionDuration: 7200,
        trustPolicy: trust(A, { StringLike: { [`${PROVIDER}:sub`]: "system:serviceaccount:tenant-a:*" } }),
      },
      loose: { trustPolicy: trust(A, { StringEquals: { [`${PROVIDER}:aud`]: AUDIENCE } }) },
      vacuous: {
        trustPolicy: trust(A, { "ForAllValues:StringEquals": { [`${PROVIDER}:amr`]: "tenant-a" } }),
      },
      tagged: {
        trustPolicy: trust(A, subject("system:serviceaccount:tenant-a:app"), {
          Action: ["sts:AssumeRoleWithWebIdentity", "sts:TagSession", "sts:SetSourceIdentity"],
        }),
      },
      "denies-tenant-b": {
        trustPolicy: {
          Version: "2012-10-17",
          Statement: [
            ...trust(A, {}).Statement,
            {
              Effect: "Deny",
              Principal: { Federated: providerArn() },
              Action: "sts:AssumeRoleWithWebIdentity",
              Condition: { StringLike: { [`${PROVIDER}:sub`]: "system:serviceaccount:tenant-b:*" } },
            },
          ],
        },
      },
      "for-ci": {
        maxSessionDuration: 43_200,
        trustPolicy: {
          Version: "2012-10-17",
          Statement: [{ Effect: "Allow", Principal: { AWS: [`arn:aws:iam::${A}:user/ci`, roleArn("tenant-a")] }, Action: "sts:AssumeRole" }],
        },
      },
      "for-account": {
        trustPolicy: {
          Version: "2012-10-17",
          Statement: [{ Effect: "Allow", Principal: { AWS: `arn:aws:iam::${A}:root` }, Action: "sts:AssumeRole" }],
        },
      },
    },
    users: {
      ci: { accessKeys: [{ id: CI_KEY.accessKeyId, secret: CI_KEY.secretAccessKey }], policies: {} },
      ops: {
        path: "/staff/",
        accessKeys: [{ id: OPS_KEY.accessKeyId, secret: OPS_KEY.secretAccessKey }],
        policies: { assume: statement("sts:AssumeRole") },
      },
    },
  },
  {
    id: B,
    oidcProviders: [
      { url: ISSUER, clientIds: [AUDIENCE] },
      { url: "https://only-b.test", clientIds: [AUDIENCE] },
    ],
    roles: { "tenant-b": { trustPolicy: trust(B, subject("system:serviceaccount:tenant-b:app")) } },
  },
];

/** A key pair as an issuer holds it. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly jwk: Record<string, unknown>;
}

const HASHES: Record<string, string> = { "256": "sha256", "384": "sha384", "512": "sha512" };
const CURVES: Record<string, string> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

export function createKey(kid: string, alg: string): IssuerKey {
  const { privateKey, publicKey } = alg.startsWith("RS")
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : generateKeyPairSync("ec", { namedCurve: CURVES[alg] ?? "" });
  return { kid, alg, privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg } };
}

export const encode = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** A token signed by this key; `header` changes what the header says. */
export function signToken(claims: object, key: IssuerKey, header: object = {}): string {
  const input = `${encode({ alg: key.alg, kid: key.kid, ...header })}.${encode(claims)}`;
  const hash = HASHES[key.alg.slice(2)] ?? "";
  const signature = signBytes(hash, Buffer.from(input), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
  return `${input}.${signature.toString("base64url")}`;
}

/** The claims of a Kubernetes ServiceAccount token; `undefined` leaves one out. */
export function claims(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    iss: ISSUER,
    sub: "system:serviceaccount:tenant-a:app",
    aud: [AUDIENCE],
    iat: NOW - 10,
    nbf: NOW - 10,
    exp: NOW + 3600,
    jti: "0e2b6b0c-0000-4000-8000-000000000001",
    "kubernetes.io": { namespace: "tenant-a" },
    ...changes,
  };
}

/** What the issuer's host answers, and how often it was asked. */
export interface TestIssuer {
  keys: Record<string, unknown>[];
  discovery: Record<string, unknown>;
  status: number;
  /** Closes connections without an answer. */
  down: boolean;
  readonly asked: string[];
  readonly port: number;
  close(): void;
}

async function startIssuer(keys: Record<string, unknown>[]): Promise<TestIssuer> {
  const issuer = {
    keys,
    status: 200,
    down: false,
    asked: [] as string[],
    discovery: {
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/keys`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    } as Record<string, unknown>,
  };
  const server = http.createServer((request, response) => {
    issuer.asked.push(request.url ?? "");
    if (issuer.down) return void request.socket.destroy();
    const isDiscovery = request.url?.endsWith("/.well-known/openid-configuration");
    response.statusCode = issuer.status;
    response.end(JSON.stringify(isDiscovery ? issuer.discovery : { keys: issuer.keys }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(issuer, { port, close: () => void server.close() });
}

export const K1 = createKey("k1", "RS256");

/** STS on port 0. The clock stands at NOW. */
export async function startSts(options: StsOptions = {}) {
  const issuer = await startIssuer([K1.jwk]);
  const clock = new MovableClock({ now: () => new Date(NOW * 1000) });
  const random = createSeededRandom("sts");
  const iam = createIam({ accounts: ACCOUNTS, random, clock });
  const events = createMemorySink();
  const elapsed = { ms: 0 };
  const dialer = createDialer({
    resolve: (host) => (host === "oidc.test" ? { address: "127.0.0.1", port: issuer.port, tls: false } : undefined),
    ca: () => "",
    mayLeave: () => false,
  });
  const sealer = createSealer("key", random);
  const sts = createSts({ iam, clock, random, sealer, dialer, options, elapsedMs: () => elapsed.ms });
  const app = express().disable("x-powered-by").set("etag", false);
  app.use(createStsRouter({ sts, clock, random, events, systemClock: { now: () => new Date(NOW * 1000) } }));
  const server = http.createServer(app);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  async function post(body: string | Buffer, headers: Record<string, string> = {}, path = "/"): Promise<Answer> {
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const response = await fetch(url + path, { method: "POST", body, headers: { ...type, ...headers } });
    return readAnswer(response);
  }

  return {
    ...{ sts, iam, clock, issuer, events, elapsed, url, host: `127.0.0.1:${port}`, sealer },
    post,
    /** AssumeRoleWithWebIdentity with a good token unless told otherwise. */
    assume: (changes: Record<string, string | undefined> = {}) => post(form(webIdentityParameters(changes))),
    get: async (query: string) => readAnswer(await fetch(`${url}/?${query}`)),
    /** Any action, signed. */
    signed(parameters: Record<string, string>, key: Key, now = new Date(clock.now())): Promise<Answer> {
      const body = form({ Version: "2011-06-15", ...parameters });
      const headers = signRequest(
        {
          method: "POST",
          rawPath: "/",
          headers: { host: `127.0.0.1:${port}`, "content-type": "application/x-www-form-urlencoded" },
          body,
        },
        { key, service: "sts", region: "us-west-2", now },
      );
      const { host: _, ...rest } = headers;
      return post(body, rest);
    },
    presigned(key: Key, expiresSeconds: number): string {
      return presignRequest(
        { method: "GET", rawPath: "/?Action=GetCallerIdentity&Version=2011-06-15", headers: { host: `127.0.0.1:${port}` } },
        { key, service: "sts", region: "us-west-2", now: clock.now(), expiresSeconds },
      );
    },
    async close() {
      dialer.close();
      issuer.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text of the first element with this name. */
  read(name: string): string | undefined;
  /** `<status> <Code>: <Message>`, or the status alone. */
  readonly verdict: string;
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const read = (name: string) =>
    new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.replaceAll("&apos;", "'").replaceAll("&amp;", "&");
  const code = read("Code");
  const verdict = code ? `${response.status} ${code}: ${read("Message")}` : `${response.status}`;
  return { status: response.status, headers: response.headers, text, read, verdict };
}

export const webIdentityParameters = (changes: Record<string, string | undefined> = {}) => ({
  Action: "AssumeRoleWithWebIdentity",
  Version: "2011-06-15",
  RoleArn: roleArn("tenant-a"),
  RoleSessionName: "ecr-credential-provider",
  WebIdentityToken: signToken(claims(), K1),
  ...changes,
});

export function form(parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given).toString();
}

export function keyOf(answer: Answer): Key {
  return {
    accessKeyId: answer.read("AccessKeyId") ?? "",
    secretAccessKey: answer.read("SecretAccessKey") ?? "",
    sessionToken: answer.read("SessionToken") ?? "",
  };
}
