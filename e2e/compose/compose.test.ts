import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { DEFAULT_WORLD } from "../../services/stack/default-world.ts";
import { listHostNames, parseWorldObject } from "../../services/stack/index.ts";
import { connectStack, type RemoteStack } from "../../services/testing/index.ts";
import { docker, IMAGE, prepareImage, ROOT, run, succeed, tryDocker, waitUntil } from "../docker/programs.ts";
import { fetchPassword } from "../docker/registry-password.ts";

const PROJECT = "pullproof-e2e-compose";
const CLIENT = `${PROJECT}-client`;
const NETWORK = `${PROJECT}_default`;
const HOST_A = "111122223333.dkr.ecr.us-west-2.amazonaws.com";
const HOST_B = "444455556666.dkr.ecr.us-west-2.amazonaws.com";
const TEAM_A = { namespace: "team-a", serviceAccount: "puller", role: "arn:aws:iam::111122223333:role/team-a-pull" };
const TEAM_B = { namespace: "team-b", serviceAccount: "puller", role: "arn:aws:iam::444455556666:role/team-b-pull" };

const folder = mkdtempSync(join(tmpdir(), "pullproof-compose-"));
const ENV = { PULLPROOF_PORT: "0", PULLPROOF_CONFIG_FOLDER: folder, COMPOSE_PROJECT_NAME: PROJECT };

const compose = (...args: string[]) => succeed("docker-compose", args, { env: ENV });
const inClient = (...args: string[]) => tryDocker(["exec", CLIENT, "docker", ...args]);
const own = ["--filter", `label=com.docker.compose.project=${PROJECT}`];

async function isHealthy(): Promise<boolean> {
  const id = await compose("ps", "-q", "pullproof");
  return (await docker(["inspect", "-f", "{{.State.Health.Status}}", id])) === "healthy";
}

/** The stack as a program on this machine reaches it. */
async function connect(): Promise<RemoteStack> {
  const controlKey = await compose("exec", "-T", "pullproof", "cat", "/var/lib/pullproof/control.key");
  return connectStack({ endpoint: `http://${await compose("port", "pullproof", "4566")}`, controlKey });
}

/** `docker login` of the engine inside the network. */
async function login(host: string, password: string) {
  const args = ["exec", "-i", CLIENT, "docker", "login", "-u", "AWS", "--password-stdin", host];
  return tryDocker(args, { input: password });
}

/** Lets the engine inside the network trust a CA for these registries, as people do: /etc/docker/certs.d/<host>/ca.crt */
async function trust(pem: string): Promise<void> {
  for (const host of [HOST_A, HOST_B]) {
    const script = `mkdir -p /etc/docker/certs.d/${host} && cat > /etc/docker/certs.d/${host}/ca.crt`;
    await docker(["exec", "-i", CLIENT, "sh", "-c", script], { input: pem });
  }
}

async function clean(): Promise<void> {
  await tryDocker(["rm", "-fv", CLIENT]);
  await compose("down", "-v", "--remove-orphans");
}

beforeAll(async () => {
  chmodSync(folder, 0o755); // the container's user must read it
  mkdirSync(join(folder, "init"));
  writeFileSync(
    join(folder, "init", "10-team-c.yaml"),
    "{apiVersion: v1, kind: Namespace, metadata: {name: team-c}}\n---\n" +
      "{apiVersion: v1, kind: ServiceAccount, metadata: {name: puller, namespace: team-c}}\n",
  );
  await prepareImage();
  await clean();
  const started = performance.now();
  await compose("up", "-d");
  await waitUntil("a healthy stack", isHealthy);
  console.log(`docker-compose up to healthy: ${Math.round(performance.now() - started)} ms`);
  const image = await succeed(join(ROOT, "e2e/docker/client-image.sh"), []);
  // An engine needs mounts of its own; no more than that is given.
  const rights = ["--cap-add", "SYS_ADMIN", "--cap-add", "NET_ADMIN", "--security-opt", "seccomp=unconfined"];
  await docker(["run", "-d", "--name", CLIENT, "--network", NETWORK, ...rights, image]);
  await waitUntil("the engine inside the network", async () => (await inClient("version")).code === 0);
});

afterAll(async () => {
  await clean();
  rmSync(folder, { recursive: true, force: true });
});

describe("docker-compose up", () => {
  it("publishes one port, on the loopback address", async () => {
    const id = await compose("ps", "-q", "pullproof");
    const bindings = JSON.parse(await docker(["inspect", "-f", "{{json .HostConfig.PortBindings}}", id]));
    expect(Object.keys(bindings)).toEqual(["4566/tcp"]);
    expect(bindings["4566/tcp"]).toMatchObject([{ HostIp: "127.0.0.1" }]);
    await using stack = await connect();
    const health = await (await fetch(`${stack.http}/_pullproof/health`)).json();
    expect(health).toMatchObject({ status: "ok", services: { init: "ok", sts: "ok" } });
  });

  it("runs as a user without rights, who can nevertheless listen on 443 and 80", async () => {
    expect(await compose("exec", "-T", "pullproof", "id", "-u")).toBe("1000");
  });

  it("wants the control key from everybody outside", async () => {
    await using stack = await connect();
    const ask = (key: string) =>
      fetch(`${stack.http}/_pullproof/events`, { headers: { authorization: `Bearer ${key}` } });
    expect([(await ask(stack.controlKey)).status, (await ask("guessed")).status]).toEqual([200, 401]);
  });

  it("ran the init folder before it was healthy", async () => {
    await using stack = await connect();
    const mint = (namespace: string) => stack.issuer("eks").mint({ namespace, serviceAccount: "puller" });
    expect(await mint("team-c")).toMatchObject({ claims: { sub: "system:serviceaccount:team-c:puller" } });
    await expect(mint("team-d")).rejects.toThrow(/not found/);
  });

  it("has every host name of the default world as an alias, and answers to each over TLS", async () => {
    const file = parse(await succeed("cat", ["docker-compose.yml"]));
    const names = [...listHostNames(parseWorldObject(DEFAULT_WORLD))].sort();
    expect([...file.services.pullproof.networks.default.aliases].sort()).toEqual(names);
    const script = `Promise.all(${JSON.stringify(names)}.map(async (name) => {
      const { status } = await fetch("https://" + name + "/_pullproof/health");
      return name + " " + status;
    })).then((lines) => console.log(lines.join("\\n")), (error) => { console.error(error.cause ?? error); process.exit(1); })`;
    const from = ["run", "--rm", "--network", NETWORK, "-v", `${PROJECT}_state:/stack:ro`];
    const trusting = ["-e", "NODE_EXTRA_CA_CERTS=/stack/ca.pem", "--entrypoint", "node", IMAGE, "-e", script];
    const answers = await docker([...from, ...trusting]);
    expect(answers.split("\n").sort()).toEqual(names.map((name) => `${name} 200`));
  });
});

describe("the file", () => {
  it("means the same to Compose 2's own parser as to docker-compose 1.29", async () => {
    const folder2 = join(ROOT, "e2e/compose/compose-2");
    const program = join(folder, "compose-2");
    const environment = { GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly", CGO_ENABLED: "0" };
    await succeed("go", ["build", "-C", folder2, "-o", program, "."], { env: environment });
    const second = JSON.parse(await succeed(program, ["docker-compose.yml"], { env: ENV })).services;
    const first = parse(await compose("--profile", "demo", "config")).services;
    expect(Object.keys(second).sort()).toEqual(Object.keys(first).sort());
    const { pullproof, demo } = second;
    expect(pullproof.networks.default.aliases).toEqual(first.pullproof.networks.default.aliases);
    expect(pullproof.ports).toMatchObject([{ host_ip: "127.0.0.1", target: 4566 }]);
    expect([demo.profiles, demo.command]).toEqual([first.demo.profiles, first.demo.command]);
    expect(demo.depends_on.pullproof.condition).toBe(first.demo.depends_on.pullproof.condition);
  });
});

describe("a Docker engine inside the network", () => {
  it("trusts nobody until it is given the CA of this stack", async () => {
    const refused = await inClient("pull", `${HOST_A}/team-a/app:1`);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining("x509: certificate signed by unknown authority"),
    ]);
    await using stack = await connect();
    await trust(await stack.caPem());
    const known = await inClient("pull", `${HOST_A}/team-a/app:1`);
    expect(known.err).toMatch(/no basic auth credentials/);
  });

  it("pulls as team-a by name, is denied as team-b, and team-b pulls its own", async () => {
    await using stack = await connect();
    await trust(await stack.caPem());
    expect((await login(HOST_A, await fetchPassword(stack, TEAM_A))).out).toContain("Login Succeeded");
    const pulled = await inClient("pull", `${HOST_A}/team-a/app:1`);
    expect([pulled.code, pulled.out]).toEqual([0, expect.stringContaining("Status: Downloaded newer image")]);
    await inClient("rmi", `${HOST_A}/team-a/app:1`);

    const passwordB = await fetchPassword(stack, TEAM_B);
    expect((await login(HOST_A, passwordB)).out).toContain("Login Succeeded");
    const denied = await inClient("pull", `${HOST_A}/team-a/app:1`);
    expect(denied.code).toBe(1);
    expect(denied.err).toContain(
      "User: arn:aws:sts::444455556666:assumed-role/team-b-pull/e2e is not authorized to perform: ecr:BatchGetImage",
    );
    const { events } = await stack.events.page({ decision: "deny", operation: "registry:GetManifest" });
    expect(events.map(({ principal }) => principal)).toContain(
      "arn:aws:sts::444455556666:assumed-role/team-b-pull/e2e",
    );

    await login(HOST_B, passwordB);
    expect((await inClient("pull", `${HOST_B}/team-b/app:1`)).code).toBe(0);
  });

  it("refuses the CA of a stack that is gone", async () => {
    const other = await docker(["run", "--rm", "--entrypoint", "sh", IMAGE, "-c", OTHER_CA]);
    await trust(`${other}\n`);
    const refused = await inClient("pull", `${HOST_A}/team-a/app:1`);
    expect(refused.err).toContain("x509: certificate signed by unknown authority");
    await using stack = await connect();
    await trust(await stack.caPem());
    expect((await inClient("pull", `${HOST_B}/team-b/app:1`)).code).toBe(0);
  });
});

/** Starts a stack in a container of its own, for its CA. */
const OTHER_CA =
  "pullproof up > /dev/null & until pullproof health > /dev/null 2>&1; do sleep 0.1; done; cat ca.pem; kill $!";

describe("docker-compose restart", () => {
  it("keeps the CA, the keys, and with them tokens and logins", async () => {
    await using before = await connect();
    const { token } = await before.issuer("eks").mint({ namespace: "team-a", serviceAccount: "puller" });
    await login(HOST_A, await fetchPassword(before, TEAM_A));
    await compose("restart", "pullproof");
    await waitUntil("a healthy stack", isHealthy);

    await using after = await connect();
    expect([await after.caPem(), after.controlKey]).toEqual([await before.caPem(), before.controlKey]);
    const request = new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: TEAM_A.role,
      RoleSessionName: "e2e",
      WebIdentityToken: token,
    });
    expect((await fetch(after.http, { method: "POST", body: request })).status).toBe(200);
    expect(await inClient("pull", `${HOST_A}/team-a/app:1`)).toMatchObject({ code: 0 });
  });
});

describe("the demo profile", () => {
  it("runs the story against the stack, with the control key from its volume", async () => {
    const command = ["demo", "--endpoint", "http://pullproof:4566", "--json"];
    const { ok, rows } = JSON.parse(await compose("run", "--rm", "-T", "demo", ...command));
    const applicable = rows.filter((row: { applicable: boolean }) => row.applicable);
    expect(ok).toBe(true);
    expect(applicable.length).toBeGreaterThan(15);
    // `up` has started the stack alone.
    expect(await docker(["ps", "-aq", ...own, "--filter", "label=com.docker.compose.service=demo"])).toBe("");
  });
});

describe("what goes wrong", () => {
  const start = (...args: string[]) => tryDocker(["run", "--rm", ...args]);

  it("a port that is taken is named, and nothing is left", async () => {
    const port = (await compose("port", "pullproof", "4566")).split(":")[1] ?? "";
    const second = { ...ENV, PULLPROOF_PORT: port, COMPOSE_PROJECT_NAME: `${PROJECT}-second` };
    const refused = await run("docker-compose", ["up", "-d"], { env: second });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(`127.0.0.1:${port} failed: port is already allocated`);
    await succeed("docker-compose", ["down", "-v"], { env: second });
    const label = `label=com.docker.compose.project=${PROJECT}-second`;
    expect(await docker(["ps", "-aq", "--filter", label])).toBe("");
  });

  it("a wrong world ends the container with every mistake", async () => {
    const world = join(folder, "wrong.yaml");
    writeFileSync(world, "version: 2\nextra: 1\n", { mode: 0o644 });
    const { code, err } = await start("-v", `${world}:/etc/pullproof/pullproof.yaml:ro`, IMAGE);
    expect(code).toBe(2);
    expect(err).toMatch(/\/etc\/pullproof\/pullproof\.yaml:1:10: version/);
    expect(err).toMatch(/:2:1: extra/);
  });

  it("a folder that the user may not write to is named", async () => {
    const { code, err } = await start("--user", "4321:4321", IMAGE);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: cannot create .*\/var\/lib\/pullproof\/.*EACCES.*\nhint: .*the user it runs as/);
  });

  it("a configuration folder that the user may not read is named", async () => {
    const closed = mkdtempSync(join(folder, "closed-"));
    const { code, err } = await start("-v", `${closed}:/etc/pullproof:ro`, IMAGE);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: cannot read the world file \/etc\/pullproof\/pullproof\.yaml: it may not be read/);
  });

  it("a port that the user may not use is named", async () => {
    const { code, err } = await start("--sysctl", "net.ipv4.ip_unprivileged_port_start=1024", IMAGE);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: cannot listen on 0\.0\.0\.0:443: .*EACCES.*\nhint: .*above 1023/);
  });

  it("a base image with an old Node is named before anything is installed", async () => {
    const old =
      "Object.defineProperty(process.versions, 'node', {value: '18.19.0'}); require('./e2e/docker/check-base.cjs')";
    const { code, err } = await run(process.execPath, ["-e", old]);
    expect(code).toBe(2);
    expect(err).toMatch(/wrong base image: expected .*22\.22 or newer, found Node\.js 18\.19\.0\nWhat to do: /);
  });

  it("an engine that does not answer is named", async () => {
    const engine = join(ROOT, "e2e/docker/engine.sh");
    const down = await run(engine, [], { env: { DOCKER_HOST: "tcp://127.0.0.1:1" } });
    expect([down.code, down.err]).toEqual([2, expect.stringMatching(/no Docker engine answers at tcp:.*\nhint: /)]);
    const missing = await run("/bin/bash", [engine], { env: { PATH: folder } });
    expect([missing.code, missing.err]).toEqual([2, expect.stringMatching(/there is no docker command\nhint: /)]);
  });
});

describe("docker-compose down -v", () => {
  it("leaves nothing", async () => {
    await clean();
    expect(await docker(["ps", "-aq", ...own])).toBe("");
    expect(await docker(["volume", "ls", "-q", ...own])).toBe("");
    expect(await docker(["network", "ls", "-q", ...own])).toBe("");
  });
});
