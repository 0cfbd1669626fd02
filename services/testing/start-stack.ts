// `startStack()`: a whole stack in this process, with the handles that tests want.
import type https from "node:https";
import { createStack, type RunningStack, type StackOptions } from "../stack/index.ts";
import { createStackAgent } from "./agent.ts";
import { createStackFetch } from "./stack-fetch.ts";
import type { AccountHandle, IssuerHandle, RegistryHandle, Stack } from "./types.ts";

/**
 * Starts a stack on free loopback ports.
 * @throws ConfigurationError for a wrong world or option; its message names what was expected and found
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const stack = await createStack(options);
  const close = closeOnce(stack);
  return {
    http: stack.http,
    https: stack.https,
    ca: stack.ca,
    caPem: stack.caPem,
    control: stack.control,
    controlKey: stack.controlKey,
    dataDir: stack.dataDir,
    issuers: stack.issuers,
    registries: stack.registries,
    clock: stack.clock,
    events: stack.events,
    issuer: (name) => issuerHandle(stack, name),
    sts: { endpoint: stack.http, host: `sts.${stack.world.region}.amazonaws.com`, region: stack.world.region },
    ecr: (account) => accountHandle(stack, account),
    registry: (host) => registryHandle(stack, host),
    kubelet: (node) => stack.rooms.nodes.kubelet(node),
    runPod: (node, manifest) => stack.rooms.nodes.runPod(node, manifest, true) as ReturnType<Stack["runPod"]>,
    fetch: createStackFetch(stack.dialer),
    agent: () => createAgent(stack),
    env: () => stack.env(),
    reset: async () => {
      stack.clock.reset();
      await stack.reset();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function closeOnce(stack: RunningStack): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= stack.close();
    return closing;
  };
}

function unknownName(kind: string, name: string, known: Iterable<string>): Error {
  return new Error(`expected ${kind} of this world (${[...known].join(", ")}), found "${name}"`);
}

function issuerHandle(stack: RunningStack, name: string): IssuerHandle {
  const issuer = stack.rooms.issuers.get(name);
  if (!issuer) throw unknownName("an issuer", name, stack.rooms.issuers.keys());
  return {
    name,
    url: issuer.url,
    mint: (request) => stack.rooms.tokens.mint(name, { audience: "sts.amazonaws.com", ...request }),
    keys: () => issuer.keys(),
    rotate: (request = { keepOld: true }) => issuer.rotate(request),
    withdraw: (kid) => issuer.withdraw(kid),
  };
}

function accountHandle(stack: RunningStack, account: string): AccountHandle {
  const found = stack.world.accounts.find(({ id }) => id === account);
  if (!found)
    throw unknownName(
      "an account",
      account,
      stack.world.accounts.map(({ id }) => id),
    );
  const region = found.regions[0] ?? stack.world.region;
  return {
    account,
    region,
    endpoint: stack.http,
    host: `api.ecr.${region}.amazonaws.com`,
    registryHost: `${account}.dkr.ecr.${region}.amazonaws.com`,
    repositories: () => stack.rooms.ecr.repositories.list(account, region),
  };
}

function registryHandle(stack: RunningStack, host: string): RegistryHandle {
  const registry = stack.rooms.registries.find(host);
  const hosts = stack.rooms.registries.list().map((candidate) => candidate.host);
  if (!registry) throw unknownName("a registry's host", host, hosts);
  return {
    name: registry.name,
    host: registry.host,
    url: `https://${registry.host}`,
    describeImage: (repository, tag) => stack.rooms.registries.describeImage(`${registry.host}/${repository}:${tag}`),
  };
}

async function createAgent(stack: RunningStack): Promise<https.Agent> {
  const { port } = new URL(stack.https);
  return createStackAgent({
    ca: await stack.caPem(),
    address: "127.0.0.1",
    port: Number(port),
    isServed: stack.hosts.isServed,
  });
}
