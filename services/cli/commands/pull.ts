// `pullproof pull`: one Pod on a simulated node, its verdict and the trace that led to it.
import { ConfigurationError } from "../../shared/errors.ts";
import { createUuid, systemRandom } from "../../shared/random.ts";
import { parseEventsAnswer, parseNamesAnswer, parsePodAnswer } from "../answers.ts";
import { type ClientOptions, type ControlClient, createControlClient } from "../client.ts";
import { EVENT_HEAD, paintDecision, renderEventRow } from "../event-lines.ts";
import { EXIT } from "../exit.ts";
import { clean } from "../output.ts";
import type { Cli, EventAnswer, PodAnswer } from "../types.ts";

export interface PullOptions extends ClientOptions {
  /** `NAMESPACE/SERVICEACCOUNT` */
  readonly as: string;
  /** The first node of the stack unless told. */
  readonly node?: string;
  /** `Always`, `IfNotPresent` or `Never`; as Kubernetes defaults it unless told. */
  readonly policy?: string;
  /** Names of imagePullSecrets. */
  readonly secret?: readonly string[];
  readonly json?: boolean;
}

const POLICIES = ["Always", "IfNotPresent", "Never"];

/** Runs a Pod with this image, prints the verdict and takes the Pod away again. @returns 1 if it was denied or leaked */
export async function runPull(image: string, options: PullOptions, cli: Cli): Promise<number> {
  const { namespace, serviceAccount } = parseIdentity(options.as);
  if (options.policy !== undefined && !POLICIES.includes(options.policy)) {
    throw new ConfigurationError(`--policy: expected one of ${POLICIES.join(", ")}, found "${options.policy}"`);
  }
  const client = createControlClient(options, cli.environment);
  const node = options.node ?? (await findFirstNode(client));
  const name = `pull-${createUuid(systemRandom).slice(0, 8)}`;
  const pod = renderPod({ name, namespace, serviceAccount, image, options });
  const answer = await cli.output.progress(`pulling ${clean(image)} on ${node}`, runPod(client, node, pod));
  const { events, why } = await readTrace(client, answer.trace);
  if (options.json) printJson(answer, events, cli);
  else await printVerdict({ answer, events, why }, { who: `${namespace}/${serviceAccount}`, node }, cli);
  return answer.verdict === "pulled" || answer.verdict === "present" ? EXIT.ok : EXIT.failed;
}

function parseIdentity(text: string): { namespace: string; serviceAccount: string } {
  const [namespace, serviceAccount, ...rest] = text.split("/");
  if (!namespace || !serviceAccount || rest.length > 0) {
    throw new ConfigurationError(`--as: expected NAMESPACE/SERVICEACCOUNT, found "${text}"`, {
      hint: "such as --as team-a/puller",
    });
  }
  return { namespace, serviceAccount };
}

async function findFirstNode(client: ControlClient): Promise<string> {
  const [first] = parseNamesAnswer(await client.request("GET", "nodes"), "nodes");
  if (first !== undefined) return first;
  throw new ConfigurationError("the stack has no node to pull on", {
    hint: "declare one under cluster.nodes of the world",
  });
}

interface PodRequest {
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly image: string;
  readonly options: PullOptions;
}

interface Pod {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

function renderPod({ name, namespace, serviceAccount, image, options }: PodRequest): Pod {
  const { policy, secret = [] } = options;
  const container = { name: "app", image, ...(policy === undefined ? {} : { imagePullPolicy: policy }) };
  const pullSecrets = secret.length > 0 ? { imagePullSecrets: secret.map((each) => ({ name: each })) } : {};
  const spec = { serviceAccountName: serviceAccount, restartPolicy: "Never", containers: [container], ...pullSecrets };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
}

/** The Pod goes away again whatever the verdict: its name is ours alone. */
async function runPod(client: ControlClient, node: string, pod: Pod): Promise<PodAnswer> {
  const path = `nodes/${encodeURIComponent(node)}/pods`;
  const answer = parsePodAnswer(await client.request("POST", `${path}?wait=true`, pod));
  await client.request("DELETE", `${path}/${encodeURIComponent(pod.metadata.namespace)}/${pod.metadata.name}`);
  return answer;
}

async function readTrace(client: ControlClient, trace: string) {
  return parseEventsAnswer(await client.request("GET", `traces/${encodeURIComponent(trace)}`));
}

function printJson(answer: PodAnswer, events: readonly EventAnswer[], { output }: Cli): void {
  const { image, verdict, reason, decidedBy, podReason, message, imageRef, credentials, providers, trace } = answer;
  output.json({
    image,
    verdict,
    reason,
    decidedBy,
    podReason,
    message,
    imageRef,
    credentials,
    providers,
    trace,
    events,
  });
}

interface Result {
  readonly answer: PodAnswer;
  readonly events: readonly EventAnswer[];
  readonly why: EventAnswer | undefined;
}

/** What a plugin wrote before it failed ends with the cause. */
const PLUGIN_CHARACTERS = 2000;

async function printVerdict(
  { answer, events, why }: Result,
  at: { who: string; node: string },
  cli: Cli,
): Promise<void> {
  const { output } = cli;
  const { paint } = output;
  output.print(`${paintDecision(answer.verdict, paint)}  ${clean(answer.image)}  as ${at.who} on ${at.node}`);
  output.print(
    `reason  ${[answer.reason, answer.decidedBy]
      .filter(Boolean)
      .map((text) => clean(text ?? ""))
      .join(" · ")}`,
  );
  if (answer.podReason) output.print(`Pod     ${clean([answer.podReason, answer.message].filter(Boolean).join(": "))}`);
  if (answer.imageRef) output.print(`image   ${clean(answer.imageRef)}`);
  for (const { name, outcome, because } of answer.providers)
    output.print(`plugin  ${clean(`${name} ${outcome}: ${because}`, PLUGIN_CHARACTERS)}`);
  for (const { source, name = "", username = "", outcome, because = "" } of answer.credentials) {
    output.print(
      `tried   ${[source, name, username, outcome, because]
        .filter(Boolean)
        .map((text) => clean(text))
        .join(" ")}`,
    );
  }
  output.print();
  if (events.length > 0)
    await output.table(
      EVENT_HEAD,
      events.map((event) => renderEventRow(event, paint)),
    );
  if (why) output.print(`\nwhy     ${clean([why.operation, why.reason, why.decidedBy].filter(Boolean).join(" · "))}`);
  const because = why?.notes?.because;
  if (typeof because === "string") output.print(`        ${clean(because, PLUGIN_CHARACTERS)}`);
  output.print(`trace   ${answer.trace}`);
}
