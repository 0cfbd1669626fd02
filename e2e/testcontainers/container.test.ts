import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GenericContainer, Network, Wait } from "testcontainers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_WORLD } from "../../services/stack/default-world.ts";
import { listHostNames, parseWorldObject } from "../../services/stack/index.ts";
import {
  PullproofContainer,
  type StartedPullproofContainer,
  stackAgent,
} from "../../services/testing/testcontainers.ts";
import { docker, IMAGE, prepareImage, tryDocker } from "../docker/programs.ts";
import { describeStack } from "./suite.ts";

/** All that testcontainers has started, in whatever state. */
const ours = ["--filter", "label=org.testcontainers=true"];
const folder = mkdtempSync(join(tmpdir(), "pullproof-container-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  await prepareImage();
});

let container: StartedPullproofContainer;
describeStack({
  name: "PullproofContainer",
  async start() {
    await prepareImage();
    const started = performance.now();
    container = await new PullproofContainer(IMAGE).start();
    console.log(`container start through testcontainers: ${Math.round(performance.now() - started)} ms`);
    return container;
  },
  async stop() {
    await container?.stop();
  },
});

describe("PullproofContainer", () => {
  it("takes a world as an object or a file, switches, an init folder and a control key", async () => {
    const world = { ...DEFAULT_WORLD, region: "us-west-2", issuers: { ...DEFAULT_WORLD.issuers, third: THIRD } };
    await using byObject = await new PullproofContainer(IMAGE)
      .withWorld(world)
      .withSwitches({ shortTokens: true, ecrQuirks: false })
      .withControlKey("key-of-ours")
      .withInit({ "10.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: team-c}}" })
      .start();
    expect(byObject.issuers).toHaveProperty("third", THIRD.url);
    expect(byObject.controlKey).toBe("key-of-ours");
    const health = (await (await fetch(`${byObject.control}health`)).json()) as { switches: object };
    expect(health.switches).toMatchObject({ shortTokens: true, ecrQuirks: false });
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: "team-c", name: "hello" },
      spec: { containers: [{ name: "app", image: "registry.pullproof.test/public/hello:1" }] },
    };
    expect(await byObject.runPod("node-1", pod)).toMatchObject({ namespace: "team-c" });

    const file = join(folder, "world.yaml");
    writeFileSync(file, JSON.stringify(world), { mode: 0o600 });
    await using byFile = await new PullproofContainer(IMAGE).withWorld(file).start();
    expect(byFile.issuers).toEqual(byObject.issuers);
  });

  it("has every host name of its world as an alias in a network, with TLS on 443", async () => {
    const network = await new Network().start();
    try {
      await using stack = await new PullproofContainer(IMAGE).withNetwork(network).start();
      const names = [...listHostNames(parseWorldObject(DEFAULT_WORLD)), "pullproof"];
      const script = `Promise.all(${JSON.stringify(names)}.map(async (name) =>
        (await fetch("https://" + name + "/_pullproof/health")).status)).then((all) => console.log(all.join()))`;
      await using client = await new GenericContainer(IMAGE)
        .withNetwork(network)
        .withEntrypoint(["sh", "-c", "sleep 300"])
        .withWaitStrategy(Wait.forSuccessfulCommand("true"))
        .withEnvironment({ NODE_EXTRA_CA_CERTS: "/tmp/ca.pem" })
        .withCopyContentToContainer([{ content: await stack.caPem(), target: "/tmp/ca.pem", mode: 0o644 }])
        .start();
      const { output } = await client.exec(["node", "-e", script]);
      expect(output.trim()).toBe(names.map(() => 200).join());
    } finally {
      await network.stop();
    }
  });

  it("is reused for the same world and not for another one", async () => {
    const label = { "pullproof-e2e": "reuse" };
    const start = (region?: string) => {
      const reused = new PullproofContainer(IMAGE).withLabels(label).withReuse();
      return (region ? reused.withWorld({ ...DEFAULT_WORLD, region }) : reused).start();
    };
    const started: StartedPullproofContainer[] = [];
    try {
      for (const region of [undefined, undefined, "us-east-1"]) started.push(await start(region));
      const [first, second, other] = started.map((each) => each.getId());
      expect(second).toBe(first);
      expect(other).not.toBe(first);
      expect(started[1]?.controlKey).toBe(started[0]?.controlKey);
    } finally {
      await tryDocker(["rm", "-fv", ...new Set(started.map((each) => each.getId()))]);
    }
  });

  it("keeps its CA and keys when it is restarted", async () => {
    await using stack = await new PullproofContainer(IMAGE).start();
    const pem = await stack.caPem();
    await stack.restart();
    const there = await (
      await fetch(`http://${stack.getHost()}:${stack.getMappedPort(4566)}/_pullproof/ca.pem`)
    ).text();
    expect(there).toBe(pem);
  });

  it("hands out an agent for name-based TLS", async () => {
    await using stack = await new PullproofContainer(IMAGE).start();
    const agent = await stackAgent(stack);
    const { get } = await import("node:https");
    const status = await new Promise((resolve, reject) => {
      get("https://sts.us-west-2.amazonaws.com/_pullproof/health", { agent }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).once("error", reject);
    });
    agent.destroy();
    expect(status).toBe(200);
  });
});

const THIRD = { url: "https://oidc.third.pullproof.test", alg: "ES256" };

describe("what goes wrong", () => {
  const failing = async (made: PullproofContainer) => {
    const error = await made.start().then(
      async (started) => {
        await started.stop();
        throw new Error("it started");
      },
      (cause: Error) => cause,
    );
    return error.message;
  };
  let before: string;
  beforeAll(async () => {
    before = await docker(["ps", "-aq", ...ours]);
  });
  afterAll(async () => {
    // Nothing is left, of none of these.
    expect(await docker(["ps", "-aq", ...ours])).toBe(before);
  });

  it("a wrong world is refused before a container is made", async () => {
    expect(await failing(new PullproofContainer(IMAGE).withWorld({ version: 2 }))).toMatch(/version/);
    expect(await failing(new PullproofContainer(IMAGE).withWorld(join(folder, "none.yaml")))).toMatch(
      /cannot read the world file .*none\.yaml: there is no such file/,
    );
  });

  it("an image that is not ours is named", async () => {
    const message = await failing(new PullproofContainer("node:24-bookworm-slim"));
    expect(message).toMatch(/^the image node:24-bookworm-slim is not Pullproof's: .*\nhint: build it with/);
  });

  it("an image that is not there is named", async () => {
    const message = await failing(new PullproofContainer("pullproof:no-such-tag"));
    expect(message).toMatch(/^the image pullproof:no-such-tag is not there, and cannot be pulled: .*\nhint: build it/);
  });

  it("a port that is taken is named", async () => {
    await using first = await new PullproofContainer(IMAGE).start();
    const host = first.getMappedPort(4566);
    const message = await failing(new PullproofContainer(IMAGE).withExposedPorts({ container: 80, host }));
    expect(message).toMatch(/^a port that the container should have .* is taken: .*\nhint: leave the port/);
  });

  it("a container name that is in use is named", async () => {
    await using _first = await new PullproofContainer(IMAGE).withName("pullproof-e2e-name").start();
    const message = await failing(new PullproofContainer(IMAGE).withName("pullproof-e2e-name"));
    expect(message).toMatch(/^another container has the name .*: .*\nhint: remove that container/s);
  });

  it("a network that is not there is named, and a network's name that is in use is the engine's to tell", async () => {
    const message = await failing(new PullproofContainer(IMAGE).withNetworkMode("pullproof-e2e-none"));
    expect(message).toMatch(/^the network is not there: .*\nhint: start the network/s);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("%s takes the container along", async (signal) => {
    const script = join(import.meta.dirname, "interrupted.ts");
    const child = spawn(process.execPath, [script, IMAGE], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("close", (code, by) => resolve([code, by])));
    const id = await new Promise<string>((resolve) => child.stdout.once("data", (text) => resolve(`${text}`.trim())));
    expect(await docker(["ps", "-q", "--no-trunc", "--filter", `id=${id}`])).toBe(id);
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
    expect(await docker(["ps", "-aq", "--filter", `id=${id}`])).toBe("");
  });

  it("an init file that fails is told with what the container said", async () => {
    const message = await failing(new PullproofContainer(IMAGE).withInit({ "10.sh": "echo no luck; exit 3" }));
    expect(message).toMatch(/did not become healthy: .*10\.sh: ended with 3; its last line: no luck/s);
  });
});
