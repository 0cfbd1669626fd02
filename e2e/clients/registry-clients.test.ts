// skopeo, podman, buildah, docker, containerd, crane, oras and regctl, unmodified, against the stack's real host names over TLS.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startContainerd, startDockerd } from "./engines.ts";
import { CI_ARN, latest, observe, repositoryArn, sessionArn } from "./observed.ts";
import { REGISTRY_CLIENTS, type RegistryClient, type Scene } from "./registry-clients.ts";
import { createRepository, obtainPushPassword, obtainTenantPassword } from "./sdk.ts";
import { HOST_A, HOST_B, openStage, type Stage, type Words } from "./stage.ts";

const OWN_IMAGE = `${HOST_A}/team-a/app:1`;
const FOREIGN_IMAGE = `${HOST_B}/team-b/app:1`;
const OWN_REPOSITORY = repositoryArn("111122223333", "team-a/app");
const FOREIGN_REPOSITORY = repositoryArn("444455556666", "team-b/app");

let stage: Stage;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  stage = opened.use(await openStage());
  opened.use(await startContainerd(stage));
  opened.use(await startDockerd(stage));
});
afterAll(() => opened.disposeAsync());

/** ECR's words for a denial (services/iam renders them), as far as they do not depend on the client. */
function denial(client: string, action: string, resource: string): string {
  return `User: ${sessionArn(client)} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
}

describe.each(REGISTRY_CLIENTS)("$name", (client: RegistryClient) => {
  const pushed = `clients/${client.name}`;
  const target = `${HOST_A}/${pushed}:1`;
  const principal = sessionArn(client.name);
  let tenant: Scene;

  const runAs = ({ home }: Scene, words: Words, input?: string) =>
    stage.run(words, { home: home.slice(home.lastIndexOf("/") + 1), ...(input === undefined ? {} : { input }) });
  const logIn = async (scene: Scene, hosts: readonly string[]) => {
    for (const host of client.login ? hosts : []) {
      const { exitCode, text } = await runAs(scene, client.login!(host), scene.password);
      expect({ exitCode, text }).toMatchObject({ exitCode: 0 });
    }
  };

  beforeAll(async () => {
    tenant = { home: stage.home(client.name), password: await obtainTenantPassword(stage, client.name) };
    await logIn(tenant, [HOST_A, HOST_B]);
  });

  it("pulls its own image with the password of its web identity", async () => {
    const since = latest(stage);
    expect(await runAs(tenant, client.pull(OWN_IMAGE, tenant))).toMatchObject({ exitCode: 0 });
    const { allowed, denied } = observe(stage, { principal, resource: OWN_REPOSITORY, since });
    expect(allowed).toEqual(expect.arrayContaining(["registry:GetManifest", "registry:GetBlob"]));
    expect(denied).toEqual([]);
  });

  it("is denied the foreign image, and says so", async () => {
    const since = latest(stage);
    const { exitCode, text } = await runAs(tenant, client.pull(FOREIGN_IMAGE, tenant));
    expect(exitCode).not.toBe(0);
    expect(text).toContain(client.says.foreign);
    if (client.says.explains) expect(text).toContain(denial(client.name, "ecr:BatchGetImage", FOREIGN_REPOSITORY));
    const { allowed, denied } = observe(stage, { principal, resource: FOREIGN_REPOSITORY, since });
    expect(allowed).toEqual([]);
    expect(new Set(denied.map((line) => line.split(" ")[1]))).toEqual(new Set(["no-identity-policy-allows"]));
  });

  it("is refused with a wrong password", async () => {
    const scene = { home: stage.home(`${client.name}-wrong`), password: "wrong" };
    const login = client.login ? await runAs(scene, client.login(HOST_A), scene.password) : undefined;
    // crane writes the password down without asking the registry.
    const { exitCode, text } =
      login && login.exitCode !== 0 ? login : await runAs(scene, client.pull(OWN_IMAGE, scene));
    expect(exitCode).not.toBe(0);
    expect(text).toContain(client.says.wrongPassword);
  });

  if (!client.push) return;
  it("may not push with the tenant's password, and pushes with that of the user who may", async () => {
    await createRepository(stage, pushed);
    const resource = repositoryArn("111122223333", pushed);
    expect(await runAs(tenant, client.pull(OWN_IMAGE, tenant))).toMatchObject({ exitCode: 0 });
    if (client.tag) expect(await runAs(tenant, client.tag(OWN_IMAGE, target))).toMatchObject({ exitCode: 0 });

    const refused = await runAs(tenant, client.push!(target, tenant));
    expect(refused.exitCode).not.toBe(0);
    expect(refused.text).toContain(client.says.noPush);
    expect(observe(stage, { principal, resource }).allowed).toEqual([]);
    expect(observe(stage, { principal, resource }).denied).not.toEqual([]);

    const ci = { home: tenant.home, password: await obtainPushPassword(stage) };
    await logIn(ci, [HOST_A]);
    expect(await runAs(ci, client.push!(target, ci))).toMatchObject({ exitCode: 0 });
    expect(observe(stage, { principal: CI_ARN, resource }).allowed).toEqual(
      expect.arrayContaining(["registry:CompleteUpload", "registry:PutManifest"]),
    );
    expect(await stage.stack.registry(HOST_A).describeImage(pushed, "1")).toBeDefined();
    expect(await runAs(ci, client.pull(target, ci))).toMatchObject({ exitCode: 0 });
  });
});
