// awscli, and programs on boto3 and on the AWS SDK for Go: from a token in a file to a pull, on the stack's real host names over TLS.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../services/shared/clock.ts";
import { systemRandom } from "../../services/shared/random.ts";
import { createCertificateAuthority } from "../../services/shared/tls.ts";
import { SDK_PROGRAMS } from "./aws-clients.ts";
import { CI_ARN, latest, observe, repositoryArn, sessionArn } from "./observed.ts";
import { findDebianProgram, findGoTool, findPythonProgram } from "./programs.ts";
import { HOST_A, HOST_B, openStage, type Stage } from "./stage.ts";

const OWN_IMAGE = `${HOST_A}/team-a/app:1`;
const FOREIGN_IMAGE = `${HOST_B}/team-b/app:1`;
const FOREIGN_ROLE = "arn:aws:iam::444455556666:role/team-b-pull";
const FOREIGN_REPOSITORY = repositoryArn("444455556666", "team-b/app");
const LOGIN = ["sts:AssumeRoleWithWebIdentity", "ecr:GetAuthorizationToken"];

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

function denial(principal: string, action: string, resource: string): string {
  return `User: ${principal} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
}

describe.each(SDK_PROGRAMS)("$name", ({ name, run, says }) => {
  const principal = sessionArn(name);
  const pushed = `clients/${name}`;

  it("is who its web identity says, and pulls its own image", async () => {
    const environment = await stage.webIdentity(name);
    expect(await stage.run(run("whoami"), { environment })).toMatchObject({ exitCode: 0, text: `${principal}\n` });
    const pull = await stage.run(run("pull", OWN_IMAGE), { environment });
    const { manifestDigest } = await describeImage("team-a/app");
    expect(pull).toMatchObject({ exitCode: 0, text: `${manifestDigest}\n` });
    const { allowed, denied } = observe(stage, { principal });
    expect(allowed).toEqual(expect.arrayContaining([...LOGIN.slice(1), "registry:GetManifest", "registry:GetBlob"]));
    expect(denied).toEqual([]);
  });

  it("is denied the foreign image and the foreign role, and says so", async () => {
    const environment = await stage.webIdentity(name);
    const image = await stage.run(run("pull", FOREIGN_IMAGE), { environment });
    expect(image.exitCode).toBe(1);
    expect(image.text).toContain("403");
    expect(image.text).toContain(denial(principal, "ecr:BatchGetImage", FOREIGN_REPOSITORY));
    expect(observe(stage, { principal, resource: FOREIGN_REPOSITORY })).toEqual({
      allowed: [],
      denied: ["registry:GetManifest no-identity-policy-allows"],
    });

    const since = latest(stage);
    const role = await stage.run(run("pull", FOREIGN_IMAGE), {
      environment: await stage.webIdentity(name, { role: FOREIGN_ROLE }),
    });
    expect(role.exitCode).toBe(1);
    expect(role.text).toContain(says.foreignRole);
    const { events } = stage.stack.events.page({ since, operation: "sts:AssumeRoleWithWebIdentity" });
    expect(events.map(({ decision, reason }) => [decision, reason])).toEqual([["deny", "no-trust-policy-allows"]]);
  });

  it("may not create and push with the tenant's role; the user who may does both", async () => {
    const environment = await stage.webIdentity(name);
    const create = await stage.run(run("create", pushed), { environment });
    expect(create.exitCode).toBe(1);
    expect(create.text).toContain(says.noCreate);
    expect(create.text).toContain("is not authorized to perform: ecr:CreateRepository on resource: ");
    expect(await stage.run(run("create", pushed), { environment: stage.ci })).toMatchObject({ exitCode: 0 });

    const resource = repositoryArn("111122223333", pushed);
    const refused = await stage.run(run("push", `${HOST_A}/${pushed}:1`), { environment });
    expect(refused.exitCode).toBe(1);
    expect(refused.text).toContain(denial(principal, "ecr:InitiateLayerUpload", resource));
    const allowed = await stage.run(run("push", `${HOST_A}/${pushed}:1`), { environment: stage.ci });
    const { manifestDigest } = await describeImage(pushed);
    expect(allowed).toMatchObject({ exitCode: 0, text: `${manifestDigest}\n` });
    expect(observe(stage, { principal: CI_ARN, resource }).allowed).toContain("registry:PutManifest");
  });
});

/** The digest under which the stack keeps an image of account 111122223333. */
async function describeImage(repository: string): Promise<{ manifestDigest: string }> {
  const { repoDigests } = await stage.stack.registry(HOST_A).describeImage(repository, "1");
  return { manifestDigest: repoDigests[0]!.slice(repoDigests[0]!.indexOf("@") + 1) };
}

describe("awscli", () => {
  const principal = sessionArn("awscli");
  const aws = (...words: string[]) => [findPythonProgram("aws"), ...words] as const;

  it("gives skopeo its password by `get-login-password`, good for the own image and not for the foreign one", async () => {
    const environment = await stage.webIdentity("awscli");
    const skopeo = findDebianProgram("skopeo");
    const options = { environment, home: "awscli" };
    const since = latest(stage);
    const who = await stage.run(aws("sts", "get-caller-identity", "--query=Arn", "--output=text"), options);
    expect(who).toMatchObject({ exitCode: 0, text: `${principal}\n` });
    // As the AWS documentation has it: aws ecr get-login-password | … login --username AWS --password-stdin HOST
    const { exitCode, stdout } = await stage.run(aws("ecr", "get-login-password"), options);
    expect(exitCode).toBe(0);
    // It keeps the session in a file between the two commands.
    expect(stage.stack.events.page({ since, operation: "sts:AssumeRoleWithWebIdentity" }).events).toHaveLength(1);
    for (const host of [HOST_A, HOST_B]) {
      const login = [skopeo, "login", "--username", "AWS", "--password-stdin", host] as const;
      expect(await stage.run(login, { ...options, input: stdout })).toMatchObject({ exitCode: 0 });
    }
    const copy = (image: string) =>
      stage.run([skopeo, "copy", `docker://${image}`, `dir:${stage.home("awscli")}/image`], options);
    expect(await copy(OWN_IMAGE)).toMatchObject({ exitCode: 0 });
    const foreign = await copy(FOREIGN_IMAGE);
    expect(foreign.exitCode).toBe(1);
    expect(foreign.text).toContain(denial(principal, "ecr:BatchGetImage", FOREIGN_REPOSITORY));
    expect(observe(stage, { principal, resource: FOREIGN_REPOSITORY }).allowed).toEqual([]);
  });

  it("is refused a foreign role and a repository that it may not create; the user who may creates it and pushes", async () => {
    const home = "awscli-ci";
    const { AWS_WEB_IDENTITY_TOKEN_FILE: file } = await stage.webIdentity(home);
    const role = await stage.run(
      aws(
        ...["sts", "assume-role-with-web-identity", "--role-session-name", "awscli", "--role-arn", FOREIGN_ROLE],
        ...["--web-identity-token", `file://${file}`],
      ),
      { home },
    );
    expect(role.exitCode).not.toBe(0);
    expect(role.text).toContain(
      "An error occurred (AccessDenied) when calling the AssumeRoleWithWebIdentity operation: Not authorized to perform sts:AssumeRoleWithWebIdentity",
    );

    const create = aws("ecr", "create-repository", "--repository-name", "clients/awscli");
    const refused = await stage.run(create, { environment: await stage.webIdentity("awscli"), home: "awscli" });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.text).toContain(
      `An error occurred (AccessDeniedException) when calling the CreateRepository operation: User: ${principal} is not authorized to perform: ecr:CreateRepository`,
    );
    expect(await stage.run(create, { environment: stage.ci, home })).toMatchObject({ exitCode: 0 });

    const { stdout } = await stage.run(aws("ecr", "get-login-password"), { environment: stage.ci, home });
    const skopeo = findDebianProgram("skopeo");
    const login = [skopeo, "login", "--username", "AWS", "--password-stdin", HOST_A] as const;
    expect(await stage.run(login, { home, input: stdout })).toMatchObject({ exitCode: 0 });
    const push = [skopeo, "copy", `docker://${OWN_IMAGE}`, `docker://${HOST_A}/clients/awscli:1`] as const;
    expect(await stage.run(push, { home })).toMatchObject({ exitCode: 0 });
    const resource = repositoryArn("111122223333", "clients/awscli");
    expect(observe(stage, { principal: CI_ARN, resource }).allowed).toContain("registry:PutManifest");
  });
});

describe("without the stack's CA", () => {
  /** Another stack's CA: a bundle that is readable, and does not help. */
  async function foreignBundle(): Promise<string> {
    const directory = stage.home("foreign-ca");
    const settings = { directory, systemClock, random: systemRandom, isServed: () => true };
    const file = join(directory, "bundle.pem");
    writeFileSync(file, await createCertificateAuthority(settings).caPem());
    return file;
  }

  it.each(SDK_PROGRAMS)("$name sends nothing", async ({ name, run, says }) => {
    const bundle = await foreignBundle();
    const since = latest(stage);
    const environment = { ...stage.ci, AWS_CA_BUNDLE: bundle, AWS_MAX_ATTEMPTS: "1" };
    const { exitCode, text } = await stage.run(run("whoami"), { environment, home: name });
    expect(exitCode).toBe(1);
    expect(text).toContain(says.unknownCa);
    expect(stage.stack.events.page({ since }).events).toEqual([]);
  });

  it.each([
    ["skopeo", () => [findDebianProgram("skopeo"), "inspect", `docker://${OWN_IMAGE}`] as const],
    ["crane", () => [findGoTool("crane"), "manifest", OWN_IMAGE] as const],
  ])("%s sends nothing", async (home, words) => {
    const bundle = await foreignBundle();
    const since = latest(stage);
    const environment = { SSL_CERT_FILE: bundle, SSL_CERT_DIR: stage.home("no-certificates") };
    const { exitCode, text } = await stage.run(words(), { environment, home });
    expect(exitCode).not.toBe(0);
    expect(text).toContain("x509: certificate signed by unknown authority");
    expect(stage.stack.events.page({ since }).events).toEqual([]);
  });
});
