// What the tests of ecr stand on: two accounts with roles and repositories, and the room's router on port 0.
import http from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { type AccountSeed, createIam } from "../../iam/index.ts";
import type { RegistryOperation } from "../../registry/index.ts";
import type { CredentialResolver } from "../../shared/aws/credential-resolver.ts";
import type { AwsPrincipal } from "../../shared/aws/principal.ts";
import { signRequest } from "../../shared/aws/sigv4-sign.ts";
import { MovableClock } from "../../shared/clock.ts";
import { createMemorySink } from "../../shared/event.ts";
import { createSeededRandom } from "../../shared/random.ts";
import { createSealer } from "../../shared/seal.ts";
import { createEcr, createEcrRouter, type EcrAccountSeed, type RepositoryContents } from "../index.ts";

export const A = "111111111111";
export const B = "222222222222";
export const REGION = "us-west-2";
/** 2026-01-31T12:00:00Z */
export const NOW = 1_769_860_800;

export const roleArn = (name: string, account = A) => `arn:aws:iam::${account}:role/${name}`;
export const repositoryArn = (name: string, account = A) => `arn:aws:ecr:${REGION}:${account}:repository/${name}`;
export const sessionArn = (name: string, account = A) => `arn:aws:sts::${account}:assumed-role/${name}/s`;

export const policy = (...statements: object[]) => ({ Version: "2012-10-17", Statement: statements });
export const allow = (Action: string | string[], Resource: string | string[] = "*") => ({ Effect: "Allow", Action, Resource });
export const PULL = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"];
const trustPolicy = policy({ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" });
const token = allow("ecr:GetAuthorizationToken");

const ACCOUNTS: readonly AccountSeed[] = [
  {
    id: A,
    roles: {
      "tenant-a": {
        trustPolicy,
        policies: { pull: policy(token, allow(PULL, [repositoryArn("a/*"), repositoryArn("shared/*", B)])) },
      },
      "pull-anything": { trustPolicy, policies: { pull: policy(token, allow(PULL)) } },
      tokenless: { trustPolicy, policies: { pull: policy(allow(PULL)) } },
      admin: { trustPolicy, policies: { all: policy(allow("ecr:*")) } },
      tagger: {
        trustPolicy,
        policies: {
          create: policy({ ...allow(["ecr:CreateRepository", "ecr:TagResource"]), Condition: { StringEquals: { "aws:RequestTag/team": "blue" } } }),
        },
      },
    },
    users: { ci: { policies: { all: policy(allow("ecr:*")) } } },
  },
  { id: B, roles: { "tenant-b": { trustPolicy, policies: { pull: policy(token, allow(PULL)) } }, admin: { trustPolicy, policies: { all: policy(allow("ecr:*")) } } } },
];

const REPOSITORIES: readonly EcrAccountSeed[] = [
  { id: A, repositories: { "a/app": {}, "a/fixed": { imageTagMutability: "IMMUTABLE" }, "a/east": { region: "us-east-1" } } },
  {
    id: B,
    repositories: {
      "b/app": { tags: { secret: "yes" } },
      "shared/base": { policy: policy({ Sid: "TenantA", Effect: "Allow", Principal: { AWS: roleArn("tenant-a") }, Action: PULL }) },
      "shared/closed": { policy: policy({ Sid: "Nobody", Effect: "Deny", Principal: "*", Action: "ecr:*" }) },
    },
  },
];

export const SOURCE = { sourceIp: "127.0.0.1", secure: false, userAgent: "test" };

/** ECR on port 0. The clock stands at NOW. */
export async function startEcr(options: { endPasswordsWithSessions?: boolean; autoCreateRepositories?: boolean } = {}) {
  const clock = new MovableClock({ now: () => new Date(NOW * 1000) });
  const random = createSeededRandom("ecr");
  const iam = createIam({ accounts: ACCOUNTS, random, clock });
  const events = createMemorySink();
  const held = new Set<string>();
  const contents: RepositoryContents = {
    hasImages: ({ name }) => held.has(name),
    clear: ({ name }) => void held.delete(name),
  };
  const sealer = createSealer("key", random);
  const ecr = createEcr({ iam, sealer, clock, random, accounts: REPOSITORIES, defaultRegion: REGION, contents, ...options });

  function principalOf(name: string, account = A, changes: object = {}): AwsPrincipal {
    const role = iam.findRoleByName(account, name);
    if (!role) throw new Error(`no role ${name}`);
    return {
      kind: "assumed-role",
      accountId: account,
      arn: sessionArn(name, account),
      userId: `${role.id}:s`,
      roleArn: role.arn,
      roleId: role.id,
      sessionName: "s",
      sessionPolicies: [],
      sessionPolicyArns: [],
      tags: {},
      issuedAt: NOW,
      expiresAt: NOW + 3600,
      ...changes,
    };
  }

  // the access key id is the role's account and name: these tests are not about keys
  const resolver: CredentialResolver = {
    resolve(accessKeyId) {
      const [account, name] = [accessKeyId.slice(3, 15), Buffer.from(accessKeyId.slice(15), "hex").toString()];
      const role = iam.findRoleByName(account, name);
      return role ? { secretAccessKey: "secret", principal: principalOf(name, account), lineage: "jti-1" } : "unknown";
    },
  };
  const app = express().disable("x-powered-by").set("etag", false);
  app.use(createEcrRouter({ ecr, resolver, clock, random, events }));
  const server = http.createServer(app);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  async function send(body: string, headers: Record<string, string>, path = "/"): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body, headers });
    const text = await response.text();
    const json = JSON.parse(text) as Record<string, unknown>;
    const code = json["__type"];
    return { status: response.status, headers: response.headers, json, verdict: code ? `${response.status} ${code}: ${json["message"]}` : "200" };
  }

  return {
    ...{ ecr, iam, clock, events, held, principalOf, send },
    /** One signed call. */
    call(operation: string, input: unknown, as: As = {}): Promise<Answer> {
      const body = typeof input === "string" ? input : JSON.stringify(input);
      const headers = signRequest(
        {
          method: "POST",
          rawPath: "/",
          headers: {
            host: `127.0.0.1:${port}`,
            "content-type": "application/x-amz-json-1.1",
            "x-amz-target": `AmazonEC2ContainerRegistry_V20150921.${operation}`,
          },
          body,
        },
        {
          key: { accessKeyId: `KEY${as.account ?? A}${Buffer.from(as.role ?? "admin").toString("hex")}`, secretAccessKey: "secret" },
          service: "ecr",
          region: as.region ?? REGION,
          now: clock.now(),
        },
      );
      const { host: _, ...rest } = headers;
      return send(as.tampered ?? body, rest);
    },
    /** The registry password of a role, as `Authorization` header. */
    login(role: string, account = A, changes: object = {}): string {
      return basic("AWS", ecr.mintPassword(principalOf(role, account, changes), REGION, "jti-1").password);
    },
    /** What a registry host answers: a refusal's name, or a decision and whether the repository is there. */
    async ask(authorization: string | undefined, name: string, more: { account?: string; region?: string; operation?: RegistryOperation } = {}): Promise<Judgement> {
      const { authenticator, authorizer, directory } = ecr.registryAuth({ account: more.account ?? A, region: more.region ?? REGION });
      const authentication = await authenticator.authenticate(authorization);
      if (authentication.kind === "refused") return { verdict: authentication.refusal };
      const { principal } = authentication;
      const decision = authorizer.authorize({ principal, repository: name, operation: more.operation ?? "GetManifest", context: SOURCE });
      if (decision.effect === "deny") return { verdict: "denied", message: decision.message ?? "", reason: decision.reason };
      return { verdict: directory.find(name) ? "allowed" : "unknown", reason: decision.reason };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface As {
  readonly role?: string;
  readonly account?: string;
  readonly region?: string;
  /** Sent instead of what was signed. */
  readonly tampered?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly json: Record<string, any>;
  readonly verdict: string;
}

export interface Judgement {
  readonly verdict: string;
  readonly message?: string;
  readonly reason?: string;
}

export const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
