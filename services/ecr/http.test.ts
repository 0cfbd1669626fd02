// The ECR API asked over HTTP: cases 35, 36 and 50 of aws.md 7, and the operations on repositories.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  A,
  allow,
  B,
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

const lastEvent = () => ecr.events.events.at(-1);
const notFound = (name: string, account = A) =>
  `400 RepositoryNotFoundException: The repository with name '${name}' does not exist in the registry with id '${account}'`;
const invalid = (name: string, text: string) =>
  `400 InvalidParameterException: Invalid parameter at '${name}' failed to satisfy constraint: '${text}'`;

describe("GetAuthorizationToken", () => {
  it("35: gives one token for the caller's registry", async () => {
    const answer = await ecr.call("GetAuthorizationToken", {}, { role: "tenant-a" });
    expect(answer.json.authorizationData).toEqual([
      {
        authorizationToken: expect.stringMatching(/^\S+$/),
        expiresAt: NOW + 43_200,
        proxyEndpoint: `https://${A}.dkr.ecr.${REGION}.amazonaws.com`,
      },
    ]);
    expect(answer.headers.get("content-type")).toBe("application/x-amz-json-1.1");
    expect(answer.headers.get("x-amzn-requestid")).toMatch(/^[0-9a-f-]{36}$/);
    const decoded = Buffer.from(answer.json.authorizationData[0].authorizationToken, "base64").toString();
    expect(decoded.split(":")).toHaveLength(2);
    expect((await ecr.ask(`Basic ${Buffer.from(decoded).toString("base64")}`, "a/app")).verdict).toBe("allowed");
    expect(lastEvent()).toMatchObject({
      operation: "ecr:GetAuthorizationToken",
      principal: sessionArn("tenant-a"),
      decision: "allow",
      reason: "allowed-by-identity-policy",
      resource: "*",
      lineage: "jti-1",
    });
    expect(JSON.stringify(ecr.events.events)).not.toContain(decoded.slice(4, 60));
  });

  it("35: names the registries that were asked for", async () => {
    const answer = await ecr.call(
      "GetAuthorizationToken",
      { registryIds: [B, A] },
      { role: "tenant-a", region: "eu-west-1" },
    );
    const endpoints = answer.json.authorizationData.map((entry: { proxyEndpoint: string }) => entry.proxyEndpoint);
    expect(endpoints).toEqual([
      `https://${B}.dkr.ecr.eu-west-1.amazonaws.com`,
      `https://${A}.dkr.ecr.eu-west-1.amazonaws.com`,
    ]);
  });

  it("36: needs the permission on *", async () => {
    const answer = await ecr.call("GetAuthorizationToken", {}, { role: "tokenless" });
    expect(answer.verdict).toBe(
      `400 AccessDeniedException: User: ${sessionArn("tokenless")} is not authorized to perform: ecr:GetAuthorizationToken on resource: * because no identity-based policy allows the ecr:GetAuthorizationToken action`,
    );
    expect(lastEvent()).toMatchObject({ decision: "deny", reason: "no-identity-policy-allows" });
  });

  it.each<[unknown, string]>([
    [{ registryIds: ["1"] }, invalid("registryIds", "must satisfy regular expression '[0-9]{12}'")],
    [{ registryIds: [] }, invalid("registryIds", "Member must have length greater than or equal to 1")],
    [{ registryIds: Array(11).fill(A) }, invalid("registryIds", "Member must have length less than or equal to 10")],
    [{ registryIds: A }, "400 SerializationException: Expected a list at 'registryIds'"],
    [{ registryIds: Array(10).fill(A) }, "200"],
    ["", "200"],
  ])("with %j", async (input, verdict) => {
    expect((await ecr.call("GetAuthorizationToken", input)).verdict).toBe(verdict);
  });
});

describe("the JSON protocol", () => {
  it("refuses what is not signed, wrongly signed, or changed after signing", async () => {
    const target = { "x-amz-target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken" };
    expect((await ecr.send("{}", target)).verdict).toMatch(/^400 MissingAuthenticationTokenException: /);
    expect((await ecr.call("GetAuthorizationToken", {}, { role: "nobody" })).verdict).toBe(
      "400 UnrecognizedClientException: The security token included in the request is invalid.",
    );
    const changed = await ecr.call("GetAuthorizationToken", {}, { tampered: '{"registryIds":[]}' });
    expect(changed.verdict).toMatch(/^400 InvalidSignatureException: The request signature we calculated/);
    expect(lastEvent()).toMatchObject({ decision: "deny", reason: "signature-wrong-signature" });
  });

  it.each<[string, string, unknown, RegExp]>([
    ["an unknown operation", "Nope", {}, /^400 UnknownOperationException: Operation Nope is not offered/],
    ["a property of objects", "constructor", {}, /^400 UnknownOperationException/],
    ["a list", "DescribeRepositories", "[]", /^400 SerializationException: Expected a JSON object, found an array/],
    ["broken JSON", "DescribeRepositories", "{", /^400 SerializationException/],
    [
      "a number for a text",
      "CreateRepository",
      { repositoryName: 5 },
      /^400 SerializationException: Expected a string at 'repositoryName'/,
    ],
    ["a fraction", "DescribeRepositories", { maxResults: 1.5 }, /^400 SerializationException/],
    ["no name", "CreateRepository", {}, /^400 InvalidParameterException: .*'repositoryName'.*must not be null/],
  ])("refuses %s", async (_name, operation, input, verdict) => {
    expect((await ecr.call(operation, input)).verdict).toMatch(verdict);
    expect(lastEvent()?.operation).toMatch(/^ecr:(UnknownOperation|DescribeRepositories|CreateRepository)$/);
  });

  it("refuses a body over the limit", async () => {
    expect((await ecr.send("a".repeat(1_100_000), {})).status).toBe(413);
  });
});

describe("repositories", () => {
  it("are created once, described, and deleted", async () => {
    const name = "a/new-one";
    const created = await ecr.call("CreateRepository", { repositoryName: name, imageTagMutability: "IMMUTABLE" });
    const repository = {
      repositoryArn: repositoryArn(name),
      registryId: A,
      repositoryName: name,
      repositoryUri: `${A}.dkr.ecr.${REGION}.amazonaws.com/${name}`,
      createdAt: NOW,
      imageTagMutability: "IMMUTABLE",
      imageScanningConfiguration: { scanOnPush: false },
      encryptionConfiguration: { encryptionType: "AES256" },
    };
    expect(created.json).toEqual({ repository });
    const again = await ecr.call("CreateRepository", { repositoryName: name });
    expect(again.verdict).toBe(
      `400 RepositoryAlreadyExistsException: The repository with name '${name}' already exists in the registry with id '${A}'`,
    );
    const described = await ecr.call("DescribeRepositories", { repositoryNames: [name] });
    expect(described.json).toEqual({ repositories: [repository] });
    ecr.held.add(name);
    const full = await ecr.call("DeleteRepository", { repositoryName: name });
    expect(full.verdict).toMatch(
      /^400 RepositoryNotEmptyException: .* cannot be deleted because it still contains images$/,
    );
    expect((await ecr.call("DeleteRepository", { repositoryName: name, force: true })).json).toEqual({ repository });
    expect(ecr.held.has(name)).toBe(false);
    expect((await ecr.call("DescribeRepositories", { repositoryNames: [name] })).verdict).toBe(notFound(name));
  });

  it.each(["a", "A/app", "a//app", "a/", "/a", "a b", "-a/b", "a".repeat(257)])("refuse the name %j", async (name) => {
    expect((await ecr.call("CreateRepository", { repositoryName: name })).verdict).toMatch(
      /^400 InvalidParameterException: /,
    );
  });

  it.each(["ab", "a/b", "a.b/c__d/e--f", "a".repeat(256)])("take the name %j", async (name) => {
    expect((await ecr.call("CreateRepository", { repositoryName: name })).verdict).toBe("200");
  });

  it("are listed page by page, in their region", async () => {
    const names = async (input: object, region = REGION) => {
      const { json } = await ecr.call("DescribeRepositories", input, { region });
      return [json.repositories.map((r: { repositoryName: string }) => r.repositoryName), json.nextToken];
    };
    const [first, next] = await names({ maxResults: 1 });
    expect(first).toEqual(["a/app"]);
    expect(await names({ maxResults: 1, nextToken: next })).toEqual([["a/fixed"], undefined]);
    expect(await names({}, "us-east-1")).toEqual([["a/east"], undefined]);
    const broken = await ecr.call("DescribeRepositories", { nextToken: "%%%" });
    expect(broken.verdict).toBe(invalid("nextToken", "Invalid pagination token"));
  });

  it("of another account are out of reach, there or not", async () => {
    for (const repositoryName of ["b/app", "b/nothing"]) {
      const answer = await ecr.call("GetRepositoryPolicy", { repositoryName, registryId: B });
      expect(answer.verdict).toBe(
        `400 AccessDeniedException: User: ${sessionArn("admin")} is not authorized to perform: ecr:GetRepositoryPolicy on resource: ${repositoryArn(repositoryName, B)} because no resource-based policy allows the ecr:GetRepositoryPolicy action`,
      );
    }
    const own = await ecr.call("GetRepositoryPolicy", { repositoryName: "b/nothing" }, { account: B });
    expect(own.verdict).toBe(notFound("b/nothing", B));
  });

  it("go back to the seeds on reset", async () => {
    await ecr.call("DeleteRepository", { repositoryName: "a/app" });
    await ecr.call("CreateRepository", { repositoryName: "a/new" });
    ecr.ecr.reset();
    const { json } = await ecr.call("DescribeRepositories", {});
    expect(json.repositories).toHaveLength(2);
  });
});

describe("repository policies", () => {
  const text = JSON.stringify(policy({ Effect: "Allow", Principal: { AWS: roleArn("tenant-b", B) }, Action: PULL }));
  const set = (policyText: string, more: object = {}, role = "admin") =>
    ecr.call("SetRepositoryPolicy", { repositoryName: "a/app", policyText, ...more }, { role });

  it("are set, read back as given, and deleted", async () => {
    const answer = { registryId: A, repositoryName: "a/app", policyText: text };
    const none = `400 RepositoryPolicyNotFoundException: Repository policy does not exist for the repository with name 'a/app' in the registry with id '${A}'`;
    expect((await ecr.call("GetRepositoryPolicy", { repositoryName: "a/app" })).verdict).toBe(none);
    expect((await set(text)).json).toEqual(answer);
    expect((await ecr.ask(ecr.login("tenant-b", B), "a/app")).verdict).toBe("allowed");
    expect((await ecr.call("GetRepositoryPolicy", { repositoryName: "a/app" })).json).toEqual(answer);
    expect((await ecr.call("DeleteRepositoryPolicy", { repositoryName: "a/app" })).json).toEqual(answer);
    expect((await ecr.ask(ecr.login("tenant-b", B), "a/app")).verdict).toBe("denied");
    expect((await ecr.call("DeleteRepositoryPolicy", { repositoryName: "a/app" })).verdict).toBe(none);
  });

  it.each<[string, string, string]>([
    ["no JSON", "{", invalid("PolicyText", "Invalid repository policy provided")],
    ["no principal", JSON.stringify(policy(allow(PULL))), invalid("PolicyText", "Invalid repository policy provided")],
    ["a role that does not exist", text.replace("tenant-b", "nobody"), invalid("PolicyText", "Principal not found")],
    [
      "an account that does not exist",
      text.replace(roleArn("tenant-b", B), "333333333333"),
      invalid("PolicyText", "Principal not found"),
    ],
    [
      "10 241 characters",
      text.padEnd(10_241),
      invalid("policyText", "Member must have length less than or equal to 10240"),
    ],
    ["10 240 characters", text.padEnd(10_240), "200"],
  ])("with %s", async (_name, policyText, verdict) => {
    expect((await set(policyText)).verdict).toBe(verdict);
  });

  it("do not lock their author out without force", async () => {
    const closed = JSON.stringify(policy({ Effect: "Deny", Principal: "*", Action: "ecr:*" }));
    expect((await set(closed)).verdict).toMatch(/^400 InvalidParameterException: .*use force/);
    expect((await set(text)).verdict).toBe("200");
    expect((await set(closed, { force: true })).verdict).toBe("200");
    expect((await set(text)).verdict).toMatch(
      /^400 AccessDeniedException: .* with an explicit deny in a resource-based policy/,
    );
  });

  it("need permission", async () => {
    expect((await set(text, {}, "tenant-a")).verdict).toMatch(/^400 AccessDeniedException: /);
  });
});

describe("tags", () => {
  const resourceArn = repositoryArn("a/app");

  it("are put, listed and taken away", async () => {
    expect(
      (
        await ecr.call("TagResource", {
          resourceArn,
          tags: [
            { Key: "team", Value: "blue" },
            { Key: "env", Value: "" },
          ],
        })
      ).json,
    ).toEqual({});
    await ecr.call("UntagResource", { resourceArn, tagKeys: ["env"] });
    const listed = await ecr.call("ListTagsForResource", { resourceArn });
    expect(listed.json).toEqual({ tags: [{ Key: "team", Value: "blue" }] });
  });

  it.each<[string, unknown, string]>([
    [
      "a reserved key",
      [{ Key: "aws:x", Value: "" }],
      "400 InvalidTagParameterException: Tag keys must not begin with aws:",
    ],
    [
      "51 tags",
      Array.from({ length: 51 }, (_, i) => ({ Key: `k${i}`, Value: "" })),
      "400 TooManyTagsException: The list of tags on the repository is over the limit. The maximum number of tags is 50.",
    ],
    ["50 tags", Array.from({ length: 50 }, (_, i) => ({ Key: `k${i}`, Value: "" })), "200"],
  ])("with %s", async (_name, tags, verdict) => {
    expect((await ecr.call("TagResource", { resourceArn, tags })).verdict).toBe(verdict);
  });

  it("may be required of whoever creates", async () => {
    const create = (tags: object[]) =>
      ecr.call("CreateRepository", { repositoryName: "a/tagged", tags }, { role: "tagger" });
    expect((await create([])).verdict).toMatch(/^400 AccessDeniedException: /);
    expect((await create([{ Key: "team", Value: "red" }])).verdict).toMatch(/^400 AccessDeniedException: /);
    expect((await create([{ Key: "team", Value: "blue" }])).verdict).toBe("200");
  });

  it("of nothing are no resource", async () => {
    const answer = await ecr.call("ListTagsForResource", { resourceArn: "arn:aws:s3:::bucket" });
    expect(answer.verdict).toBe(invalid("resourceArn", "Invalid repository ARN"));
    expect((await ecr.call("ListTagsForResource", { resourceArn: repositoryArn("a/none") })).verdict).toBe(
      notFound("a/none"),
    );
  });
});
