// docker-credential-ecr-login, Debian's and the newest, behind the programs that call it: nobody logs in, the helper does.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startContainerd, startDockerd } from "./engines.ts";
import { CI_ARN, latest, observe, repositoryArn, sessionArn } from "./observed.ts";
import { findDebianProgram, findGoTool } from "./programs.ts";
import { createRepository } from "./sdk.ts";
import { HOST_A, HOST_B, openStage, type Stage, type Words } from "./stage.ts";

const OWN_IMAGE = `${HOST_A}/team-a/app:1`;
const FOREIGN_IMAGE = `${HOST_B}/team-b/app:1`;
const FOREIGN_ROLE = "arn:aws:iam::444455556666:role/team-b-pull";
const FOREIGN_REPOSITORY = repositoryArn("444455556666", "team-b/app");

let stage: Stage;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  stage = opened.use(await openStage());
  opened.use(await startContainerd(stage));
  opened.use(await startDockerd(stage));
});
afterAll(() => opened.disposeAsync());

/** A helper, and a program that finds it on its PATH. */
interface Pair {
  readonly name: string;
  helper(): string;
  pull(image: string, home: string): Words;
  push(image: string, home: string): readonly Words[];
}

const docker = (...words: string[]): Words => [findDebianProgram("docker"), ...words];
const crane = (...words: string[]): Words => [findGoTool("crane"), ...words];

const PAIRS: readonly Pair[] = [
  {
    name: "debian-helper-docker",
    helper: () => findDebianProgram("docker-credential-ecr-login"),
    pull: (image) => docker("pull", image),
    push: (image) => [docker("tag", OWN_IMAGE, image), docker("push", image)],
  },
  {
    name: "newest-helper-crane",
    helper: () => findGoTool("docker-credential-ecr-login"),
    pull: (image, home) => crane("pull", image, join(home, "image.tar")),
    push: (image, home) => [crane("push", join(home, "image.tar"), image)],
  },
];

describe.each(PAIRS)("$name", ({ name, helper, pull, push }: Pair) => {
  const principal = sessionArn(name);
  const resource = repositoryArn("111122223333", `clients/${name}`);
  const target = `${HOST_A}/clients/${name}:1`;

  /** A home whose docker configuration names the helper for both registries, and the PATH on which it is found. */
  function prepare(home: string): Record<string, string> {
    const folder = join(stage.home(home), ".docker");
    mkdirSync(folder, { recursive: true });
    const credHelpers = { [HOST_A]: "ecr-login", [HOST_B]: "ecr-login" };
    writeFileSync(join(folder, "config.json"), JSON.stringify({ credHelpers }));
    const { PATH } = stage.environment(stage.home(home));
    return { PATH: `${dirname(helper())}:${PATH}` };
  }

  it("gets the password of its web identity, and the program pulls the own image with it", async () => {
    const environment = { ...(await stage.webIdentity(name)), ...prepare(name) };
    const got = await stage.run([helper(), "get"], { environment, home: name, input: HOST_A });
    expect(got.exitCode).toBe(0);
    expect(JSON.parse(got.text)).toEqual({
      ServerURL: HOST_A,
      Username: "AWS",
      Secret: expect.stringMatching(/^[^:]+$/),
    });
    expect(await stage.run(pull(OWN_IMAGE, stage.home(name)), { environment, home: name })).toMatchObject({
      exitCode: 0,
    });
    const { allowed, denied } = observe(stage, { principal });
    const expected = ["ecr:GetAuthorizationToken", "registry:GetManifest", "registry:GetBlob"];
    expect(allowed).toEqual(expect.arrayContaining(expected));
    expect(denied).toEqual([]);
  });

  it("keeps the password by access key: a second `get` asks ECR for a new session, and not for a lasting key", async () => {
    const home = `${name}-cache`;
    const passwordsAsked = async (identity: Record<string, string>) => {
      const environment = { ...identity, ...prepare(home) };
      const since = latest(stage);
      for (const round of [1, 2]) {
        const { exitCode } = await stage.run([helper(), "get"], { environment, home, input: HOST_A });
        expect({ round, exitCode }).toEqual({ round, exitCode: 0 });
      }
      return stage.stack.events.page({ since, operation: "ecr:GetAuthorizationToken" }).events.length;
    };
    expect(await passwordsAsked(await stage.webIdentity(home))).toBe(2);
    expect(await passwordsAsked({ ...stage.ci })).toBe(1);
  });

  it("is denied the foreign image; the program says so", async () => {
    const environment = { ...(await stage.webIdentity(name)), ...prepare(name) };
    const { exitCode, text } = await stage.run(pull(FOREIGN_IMAGE, stage.home(name)), { environment, home: name });
    expect(exitCode).not.toBe(0);
    expect(text).toContain(
      `User: ${principal} is not authorized to perform: ecr:BatchGetImage on resource: ${FOREIGN_REPOSITORY} because no identity-based policy allows the ecr:BatchGetImage action`,
    );
    const { allowed, denied } = observe(stage, { principal, resource: FOREIGN_REPOSITORY });
    expect(allowed).toEqual([]);
    expect(denied).toContain("registry:GetManifest no-identity-policy-allows");
  });

  it("finds no credentials by a role that does not trust it, and writes down why", async () => {
    const home = `${name}-foreign-role`;
    const environment = { ...(await stage.webIdentity(home, { role: FOREIGN_ROLE })), ...prepare(home) };
    const since = latest(stage);
    const { exitCode, text } = await stage.run([helper(), "get"], { environment, home, input: HOST_B });
    expect(exitCode).toBe(1);
    expect(text).toContain("credentials not found in native keychain");
    const log = readFileSync(join(stage.home(home), ".ecr/log/ecr-login.log"), "utf8");
    expect(log).toContain("api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity");
    const { events } = stage.stack.events.page({ since, decision: "deny" });
    // Twice: for the name of its cache entry, and for the call.
    expect(events.map(({ operation, reason }) => `${operation} ${reason}`)).toEqual(
      Array(2).fill("sts:AssumeRoleWithWebIdentity no-trust-policy-allows"),
    );
  });

  it("lets only the user who may push", async () => {
    await createRepository(stage, `clients/${name}`);
    const tenant = { ...(await stage.webIdentity(name)), ...prepare(name) };
    for (const words of push(target, stage.home(name)).slice(0, -1)) {
      expect(await stage.run(words, { environment: tenant, home: name })).toMatchObject({ exitCode: 0 });
    }
    const words = push(target, stage.home(name)).at(-1)!;
    const refused = await stage.run(words, { environment: tenant, home: name });
    expect(refused.exitCode).not.toBe(0);
    expect(observe(stage, { principal, resource }).allowed).toEqual([]);
    expect(observe(stage, { principal, resource }).denied).not.toEqual([]);

    const ci = { ...stage.ci, ...prepare(`${name}-ci`) };
    expect(await stage.run(words, { environment: ci, home: `${name}-ci` })).toMatchObject({ exitCode: 0 });
    expect(observe(stage, { principal: CI_ARN, resource }).allowed).toContain("registry:PutManifest");
  });
});
