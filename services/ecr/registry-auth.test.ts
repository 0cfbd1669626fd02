// Who may do what on a registry host: cases 34 to 48 of aws.md 7, as far as they are decided here.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  A,
  allow,
  B,
  basic,
  NOW,
  PULL,
  policy,
  REGION,
  repositoryArn,
  roleArn,
  sessionArn,
  startEcr,
} from "./testdata/fixture.ts";

let ecr: Awaited<ReturnType<typeof startEcr>>;
beforeEach(async () => {
  ecr = await startEcr();
});
afterEach(() => ecr.close());

const denied = (role: string, repository: string, tail: string, action = "ecr:BatchGetImage") =>
  `User: ${sessionArn(role)} is not authorized to perform: ${action} on resource: ${repository}${tail}`;
const noIdentity = " because no identity-based policy allows the ecr:BatchGetImage action";
const noResource = " because no resource-based policy allows the ecr:BatchGetImage action";
const passwordOf = (authorization: string) => Buffer.from(authorization.slice(6), "base64").toString().slice(4);

describe("a pull", () => {
  it("37: of one's own repository is allowed", async () => {
    expect((await ecr.ask(ecr.login("tenant-a"), "a/app")).verdict).toBe("allowed");
  });

  it("38, 39: from another account needs both sides, and says which is missing", async () => {
    const login = ecr.login("tenant-a");
    expect(await ecr.ask(login, "shared/base", { account: B })).toMatchObject({
      verdict: "allowed",
      reason: "allowed-by-resource-policy",
    });
    const foreign = await ecr.ask(login, "b/app", { account: B });
    expect(foreign).toMatchObject({
      verdict: "denied",
      message: denied("tenant-a", repositoryArn("b/app", B), noIdentity),
    });
    const other = await ecr.ask(ecr.login("pull-anything"), "b/app", { account: B });
    expect(other.message).toBe(denied("pull-anything", repositoryArn("b/app", B), noResource));
  });

  it("40: ends with the repository policy, on the next request with the same token", async () => {
    const login = ecr.login("tenant-a");
    expect((await ecr.ask(login, "shared/base", { account: B })).verdict).toBe("allowed");
    const removed = await ecr.call("DeleteRepositoryPolicy", { repositoryName: "shared/base" }, { account: B });
    expect(removed.status).toBe(200);
    expect((await ecr.ask(login, "shared/base", { account: B })).message).toBe(
      denied("tenant-a", repositoryArn("shared/base", B), noResource),
    );
    ecr.ecr.reset();
    expect((await ecr.ask(login, "shared/base", { account: B })).verdict).toBe("allowed");
  });

  it("41: existence shows only to who may look", async () => {
    const missing = repositoryArn("b/nothing", B);
    const foreign = await ecr.ask(ecr.login("pull-anything"), "b/nothing", { account: B });
    expect(foreign.message).toBe(denied("pull-anything", missing, noResource));
    expect((await ecr.ask(ecr.login("pull-anything"), "a/nothing")).verdict).toBe("unknown");
    expect((await ecr.ask(ecr.login("tenant-a"), "z/nothing")).message).toBe(
      denied("tenant-a", repositoryArn("z/nothing"), noIdentity),
    );
  });

  it("41: a foreign repository looks the same whether absent, closed, tagged, or without policy", async () => {
    ecr.iam.putRole(A, "prober", {
      trustPolicy: policy({ Effect: "Allow", Principal: { Service: "x.amazonaws.com" }, Action: "sts:AssumeRole" }),
      policies: {
        probe: policy({ ...allow(PULL), Condition: { StringEquals: { "aws:ResourceTag/secret": "yes" } } }),
      },
    });
    for (const role of ["pull-anything", "prober"]) {
      const messages = [];
      for (const name of ["b/nothing", "b/app", "shared/base", "shared/closed"]) {
        const { verdict, message } = await ecr.ask(ecr.login(role), name, { account: B });
        messages.push(`${verdict} ${message?.replace(name, "<name>")}`);
      }
      expect(new Set(messages).size).toBe(1);
    }
    const own = await ecr.ask(ecr.login("tenant-b", B), "shared/closed", { account: B });
    expect(own.message).toContain("with an explicit deny in a resource-based policy");
  });

  it("dies with the role, also when one of the same name is made anew", async () => {
    const login = ecr.login("tenant-a");
    const seed = {
      trustPolicy: policy({ Effect: "Allow", Principal: { Service: "x.amazonaws.com" }, Action: "sts:AssumeRole" }),
      policies: { pull: policy(allow(PULL)) },
    };
    ecr.iam.deleteRole(A, "tenant-a");
    expect((await ecr.ask(login, "a/app")).reason).toBe("no-such-principal");
    ecr.iam.putRole(A, "tenant-a", seed);
    expect((await ecr.ask(login, "a/app")).reason).toBe("no-such-principal");
    expect((await ecr.ask(ecr.login("tenant-a"), "a/app")).verdict).toBe("allowed");
    // the repository policy means the role that was, not its namesake
    expect((await ecr.ask(ecr.login("tenant-a"), "shared/base", { account: B })).reason).toBe(
      "no-resource-policy-allows",
    );
  });

  it("34: is narrowed by session policies, and never widened", async () => {
    const deny = JSON.stringify(policy(allow("*"), { Effect: "Deny", Action: "ecr:BatchGetImage", Resource: "*" }));
    const narrowed = await ecr.ask(ecr.login("tenant-a", A, { sessionPolicies: [deny] }), "a/app");
    expect(narrowed.message).toBe(
      denied("tenant-a", repositoryArn("a/app"), " with an explicit deny in a session policy"),
    );
    const everything = ecr.login("tenant-a", A, { sessionPolicies: [JSON.stringify(policy(allow("*")))] });
    expect((await ecr.ask(everything, "a/app")).verdict).toBe("allowed");
    expect((await ecr.ask(everything, "z/app")).message).toBe(denied("tenant-a", repositoryArn("z/app"), noIdentity));
    const nothing = await ecr.ask(
      ecr.login("tenant-a", A, { sessionPolicies: [JSON.stringify(policy(allow("s3:*")))] }),
      "a/app",
    );
    expect(nothing.message).toContain("because no session policy allows");
  });
});

it("42: a push needs its own permissions", async () => {
  const upload = (login: string) => ecr.ask(login, "a/app", { operation: "StartUpload" });
  expect((await upload(ecr.login("tenant-a"))).message).toContain("ecr:InitiateLayerUpload");
  expect((await upload(ecr.login("admin"))).verdict).toBe("allowed");
});

describe("credentials", () => {
  it("44: are told apart in the order parse, token, region", async () => {
    const good = ecr.login("tenant-a");
    const password = passwordOf(good);
    const document = JSON.parse(Buffer.from(password, "base64").toString());
    const rewritten = (changes: object) =>
      basic("AWS", Buffer.from(JSON.stringify({ ...document, ...changes })).toString("base64"));
    const table: [string | undefined, string][] = [
      [undefined, "no-credentials"],
      ["Basic Og==", "no-credentials"],
      [basic("user", "pw"), "bad-credentials"],
      [basic("aws", password), "bad-credentials"],
      [`Bearer ${password}`, "bad-credentials"],
      ["Basic ???", "bad-credentials"],
      [basic("AWS", "garbage"), "malformed"],
      [basic("AWS", ""), "malformed"],
      [basic("AWS", Buffer.from("null").toString("base64")), "malformed"],
      [basic("AWS", `${password} `), "malformed"],
      [rewritten({ expiration: document.expiration + 1 }), "malformed"],
      [rewritten({ datakey: `A${document.datakey.slice(1)}` }), "malformed"],
      [rewritten({ extra: 1 }), "malformed"],
      [rewritten({}), "allowed"],
      [good, "allowed"],
      [good.replace("Basic", "basic"), "allowed"],
    ];
    for (const [authorization, verdict] of table) {
      expect([authorization?.slice(0, 40), (await ecr.ask(authorization, "a/app")).verdict]).toEqual([
        authorization?.slice(0, 40),
        verdict,
      ]);
    }
    expect((await ecr.ask(good, "a/app", { region: "us-east-1" })).verdict).toBe("wrong-region");
  });

  it("44: one changed bit anywhere makes a password worthless", async () => {
    const password = Buffer.from(passwordOf(ecr.login("tenant-a")));
    for (let index = 0; index < password.length; index += 37) {
      const changed = Buffer.from(password);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect((await ecr.ask(basic("AWS", changed.toString("latin1")), "a/app")).verdict).toBe("malformed");
    }
  });

  it("44: expire after twelve hours, wherever they are shown", async () => {
    const login = ecr.login("tenant-a");
    ecr.clock.advance(12 * 3600 - 1);
    expect((await ecr.ask(login, "a/app")).verdict).toBe("allowed");
    ecr.clock.advance(1);
    expect((await ecr.ask(login, "a/app")).verdict).toBe("expired");
    expect((await ecr.ask(login, "a/app", { region: "us-east-1" })).verdict).toBe("expired");
  });

  it("are judged alike whether they are remembered or were pushed out by newer ones", async () => {
    const [first, expiring] = [ecr.login("tenant-a"), ecr.login("tenant-a")];
    const ask = async (login: string) => (await ecr.ask(login, "a/app")).verdict;
    for (const login of [first, expiring]) expect(await ask(login)).toBe("allowed");
    for (let more = 0; more < 520; more += 1) expect(await ask(ecr.login("tenant-a"))).toBe("allowed");
    expect(await ask(first)).toBe("allowed");
    ecr.clock.advance(12 * 3600);
    for (const login of [first, expiring]) expect(await ask(login)).toBe("expired");
  });

  it("outlive the session unless the switch says otherwise", async () => {
    const login = ecr.login("tenant-a");
    ecr.clock.advance(3600);
    expect((await ecr.ask(login, "a/app")).verdict).toBe("allowed");
    const strict = await startEcr({ endPasswordsWithSessions: true });
    const bounded = strict.login("tenant-a");
    expect((await strict.ask(bounded, "a/app")).verdict).toBe("allowed");
    strict.clock.advance(3600);
    expect((await strict.ask(bounded, "a/app")).verdict).toBe("expired");
    await strict.close();
  });

  it("45: of account A at a host of B are good; what they may do is another question", async () => {
    expect((await ecr.ask(ecr.login("tenant-a"), "b/app", { account: B })).verdict).toBe("denied");
    expect((await ecr.ask(ecr.login("tenant-b", B), "b/app", { account: B })).verdict).toBe("allowed");
    expect((await ecr.ask(ecr.login("tenant-a"), "", { account: B, operation: "Ping" })).reason).toBe("valid-token");
  });

  it("keep the lineage of the token they came from", async () => {
    const { authenticator } = ecr.ecr.registryAuth({ account: A, region: REGION });
    const authentication = await authenticator.authenticate(ecr.login("tenant-a"));
    expect(authentication).toMatchObject({
      principal: { lineage: "jti-1", name: sessionArn("tenant-a"), anonymous: false },
    });
  });

  it("are at least 1 KB of base64 without colon, and tools can read when they end", () => {
    const { password, expiresAt } = ecr.ecr.mintPassword(ecr.principalOf("tenant-a"), REGION, "jti-1");
    expect(password).toMatch(/^[A-Za-z0-9+/]{1024,}={0,2}$/);
    const document = JSON.parse(Buffer.from(password, "base64").toString());
    expect(Object.keys(document)).toEqual(["payload", "datakey", "version", "type", "expiration"]);
    expect([document.version, document.type, document.expiration]).toEqual(["2", "DATA_KEY", NOW + 43_200]);
    expect(expiresAt.getTime()).toBe((NOW + 43_200) * 1000);
  });
});

describe("the directory", () => {
  it("knows regions apart, and immutable tags", () => {
    const { directory } = ecr.ecr.registryAuth({ account: A, region: REGION });
    expect(directory.find("a/app")).toEqual({ immutableTags: false });
    expect(directory.find("a/fixed")).toEqual({ immutableTags: true });
    expect(directory.find("a/east")).toBeUndefined();
    expect(ecr.ecr.registryAuth({ account: A, region: "us-east-1" }).directory.find("a/east")).toBeDefined();
    expect(directory.create).toBeUndefined();
  });

  it("makes repositories only by switch", async () => {
    const open = await startEcr({ autoCreateRepositories: true });
    const { directory } = open.ecr.registryAuth({ account: A, region: REGION });
    directory.create?.("a/new");
    expect(directory.find("a/new")).toBeDefined();
    open.ecr.reset();
    expect(directory.find("a/new")).toBeUndefined();
    await open.close();
  });
});

it("a session and a role are named in repository policies, and an account needs its own policy too", async () => {
  const set = (principal: string) =>
    ecr.call(
      "SetRepositoryPolicy",
      {
        repositoryName: "b/app",
        policyText: JSON.stringify(policy({ Effect: "Allow", Principal: { AWS: principal }, Action: PULL })),
      },
      { account: B },
    );
  for (const principal of [roleArn("pull-anything"), sessionArn("pull-anything"), `arn:aws:iam::${A}:root`, A, "*"]) {
    expect((await set(principal)).verdict).toBe("200");
    expect((await ecr.ask(ecr.login("pull-anything"), "b/app", { account: B })).verdict).toBe("allowed");
    expect((await ecr.ask(ecr.login("tenant-a"), "b/app", { account: B })).verdict).toBe("denied");
  }
});
