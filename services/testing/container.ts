// A stack in a container, in the shape of the official testcontainers modules.
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import {
  AbstractStartedContainer,
  GenericContainer,
  getContainerRuntimeClient,
  type StartedTestContainer,
  Wait,
} from "testcontainers";
import { createUuid, systemRandom } from "../shared/random.ts";
import { listHostNames, loadWorld, type WorldSwitches } from "../stack/index.ts";
import { connectStack } from "./connect-stack.ts";
import { explainStart } from "./container-errors.ts";
import { onInterrupt } from "./interrupt.ts";
import type { RemoteStack } from "./remote-types.ts";

const PORT = 4566;
const TLS_PORT = 443;
const WORLD_FILE = "/etc/pullproof/pullproof.yaml";
const KEY_FILE = "/var/lib/pullproof/control.key";
/** On every image of ours (Dockerfile). */
const IMAGE_LABEL = "dev.pullproof.image";
/** What testcontainers' reuse does not see: copied files are no part of its digest, labels are. */
const WORLD_LABEL = "dev.pullproof.world";
/** One start of one container: what is left of it when it fails is found by this. */
const START_LABEL = "dev.pullproof.start";
const STARTUP_TIMEOUT_MS = 60_000;
const KEPT_LOG_LINES = 20;

/** A container of the stack, not yet started. */
export class PullproofContainer extends GenericContainer {
  #world: string | object | undefined;
  #controlKey: string | undefined;
  #reused = false;
  #log: string[] = [];

  /** @param image as `docker build -t pullproof:dev .` made it */
  constructor(image = "pullproof:dev") {
    super(image);
    this.withExposedPorts(PORT, TLS_PORT)
      .withWaitStrategy(Wait.forHttp("/_pullproof/health", PORT, { abortOnContainerExit: true }).forStatusCode(200))
      .withStartupTimeout(STARTUP_TIMEOUT_MS);
  }

  /** A world file of this machine, or a world as an object; checked when the container starts. */
  withWorld(world: string | object): this {
    this.#world = world;
    return this;
  }

  /** Overrides of the world's switches. */
  withSwitches(switches: Partial<WorldSwitches>): this {
    const texts = Object.entries(switches).map(([name, on]) => `${name}=${on}`);
    return this.withEnvironment({ PULLPROOF_SWITCHES: texts.join(",") });
  }

  /** Manifests (`*.yaml`, `*.json`) and scripts (`*.sh`) that run before the stack is ready, by file name. */
  withInit(files: Readonly<Record<string, string>>): this {
    const contents = Object.entries(files).map(([name, content]) => ({
      content,
      target: `/etc/pullproof/init/${name}`,
      mode: 0o644,
    }));
    return this.withLabels({ "dev.pullproof.init": digest(files) }).withCopyContentToContainer(contents);
  }

  /** Key of the control API; generated unless told. */
  withControlKey(key: string): this {
    this.#controlKey = key;
    return this;
  }

  /** Further names that the stack answers to. */
  withHosts(...names: string[]): this {
    return this.withEnvironment({ PULLPROOF_HOSTS: names.join(",") });
  }

  override withReuse(): this {
    this.#reused = true;
    return super.withReuse();
  }

  /**
   * Starts it and waits until it is healthy. In a network, every host name of its world is an alias of the container.
   * @throws Error that says what happened and what to do; nothing is left running then
   */
  override async start(): Promise<StartedPullproofContainer> {
    const world = await loadWorld(this.#world);
    this.withLabels({ [WORLD_LABEL]: digest(world) });
    if (this.networkMode) this.withNetworkAliases("pullproof", ...listHostNames(world));
    this.#copyWorld();
    const start = createUuid(systemRandom);
    const controlKey = this.#controlKey ?? (this.#reused ? undefined : createUuid(systemRandom));
    if (controlKey) this.withEnvironment({ PULLPROOF_CONTROL_KEY: controlKey });
    if (!this.#reused) this.withLabels({ [START_LABEL]: start });
    const forget = this.#reused || !this.autoCleanup ? () => undefined : onInterrupt(() => removeStart(start));
    try {
      await this.#answerToRuntimeHost();
      this.#keepLog();
      const started = await super.start();
      const key = controlKey ?? (await readKey(started));
      const endpoint = `http://${started.getHost()}:${started.getMappedPort(PORT)}`;
      const stack = await connectStack({ endpoint, controlKey: key });
      return new StartedPullproofContainer(started, stack, forget);
    } catch (cause) {
      if (!this.#reused) await removeStart(start);
      forget();
      throw explainStart(cause, { image: this.imageName.string, log: this.#log });
    }
  }

  /** Another image would be waited for until the time is up. */
  protected override async containerCreated(id: string): Promise<void> {
    const { container } = await getContainerRuntimeClient();
    const { Config } = await container.inspect(container.getById(id));
    if (Config.Labels?.[IMAGE_LABEL] === undefined) throw new Error(`the image lacks the label ${IMAGE_LABEL}`);
  }

  #copyWorld(): void {
    if (this.#world === undefined) return;
    const target = { target: WORLD_FILE, mode: 0o644 };
    if (typeof this.#world === "string") this.withCopyFilesToContainer([{ source: this.#world, ...target }]);
    else this.withCopyContentToContainer([{ content: JSON.stringify(this.#world), ...target }]);
  }

  /** Where the engine is on another machine, requests name that machine. */
  async #answerToRuntimeHost(): Promise<void> {
    const { host } = (await getContainerRuntimeClient()).info.containerRuntime;
    if (host === "localhost") return;
    const given = this.environment.PULLPROOF_HOSTS;
    this.withHosts(...(given ? [given] : []), host);
  }

  #keepLog(): void {
    const consumer = this.logConsumer;
    this.withLogConsumer((stream: Readable) => {
      stream.on("data", (line: unknown) => {
        this.#log = [...this.#log, String(line).trimEnd()].slice(-KEPT_LOG_LINES);
      });
      return consumer?.(stream);
    });
  }
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

async function readKey(started: StartedTestContainer): Promise<string> {
  const { exitCode, stdout, output } = await started.exec(["cat", KEY_FILE]);
  if (exitCode !== 0) throw new Error(`cannot read ${KEY_FILE} in the container: ${output.trim()}`);
  return stdout.trim();
}

/** Takes away what a start has left, in whatever state it is. */
async function removeStart(start: string): Promise<void> {
  const runtime = await getContainerRuntimeClient().catch(() => undefined);
  const container = await runtime?.container.fetchByLabel(START_LABEL, start);
  await container?.remove({ force: true, v: true }).catch(() => undefined); // somebody else was faster
}

type Handles = Omit<RemoteStack, "close" | typeof Symbol.asyncDispose>;

/** A running container, with the handles of `startStack()`. Stop it, or use it with `await using`. */
export class StartedPullproofContainer extends AbstractStartedContainer implements Handles {
  readonly #stack: RemoteStack;
  readonly #forget: () => void;

  constructor(started: StartedTestContainer, stack: RemoteStack, forget: () => void = () => undefined) {
    super(started);
    this.#stack = stack;
    this.#forget = forget;
  }

  /** `http://host:port`, as the test process reaches it. */
  get http() {
    return this.#stack.http;
  }
  get https() {
    return this.#stack.https;
  }
  get control() {
    return this.#stack.control;
  }
  get controlKey() {
    return this.#stack.controlKey;
  }
  /** Path of a copy of the CA's certificate, there until the container stops. */
  get ca() {
    return this.#stack.ca;
  }
  get issuers() {
    return this.#stack.issuers;
  }
  get registries() {
    return this.#stack.registries;
  }
  get clock() {
    return this.#stack.clock;
  }
  get events() {
    return this.#stack.events;
  }
  get sts() {
    return this.#stack.sts;
  }
  get fetch() {
    return this.#stack.fetch;
  }
  caPem(): Promise<string> {
    return this.#stack.caPem();
  }
  issuer(name: string): ReturnType<RemoteStack["issuer"]> {
    return this.#stack.issuer(name);
  }
  ecr(account: string): ReturnType<RemoteStack["ecr"]> {
    return this.#stack.ecr(account);
  }
  registry(host: string): ReturnType<RemoteStack["registry"]> {
    return this.#stack.registry(host);
  }
  kubelet(node: string): ReturnType<RemoteStack["kubelet"]> {
    return this.#stack.kubelet(node);
  }
  addNode(spec: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#stack.addNode(spec);
  }
  runPod(node: string, manifest: Readonly<Record<string, unknown>>): ReturnType<RemoteStack["runPod"]> {
    return this.#stack.runPod(node, manifest);
  }
  agent(): ReturnType<RemoteStack["agent"]> {
    return this.#stack.agent();
  }
  env(): ReturnType<RemoteStack["env"]> {
    return this.#stack.env();
  }
  reset(): Promise<void> {
    return this.#stack.reset();
  }

  /** After the container has gone, so that a handle works until then. */
  protected override async containerStopped(): Promise<void> {
    this.#forget();
    await this.#stack.close();
  }
}

/** An agent for `node:https` and SDKs: the stack's real host names over TLS, without DNS. */
export function stackAgent(stack: Pick<RemoteStack, "agent">): ReturnType<RemoteStack["agent"]> {
  return stack.agent();
}
