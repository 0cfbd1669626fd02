// A stage is one node under test with its own API server: the simulated one or the real one. Stories cannot tell which.
import type { RunningStack } from "../../services/stack/index.ts";
import { collectionOf, type Fields, type KubeClient } from "./kube-client.ts";
import type { PodStep, StoryStep, Verdict } from "./stories.ts";
import type { NodeName } from "./world.ts";

type EventLog = RunningStack["events"];

/** A Pod's event, as `kubectl describe pod` shows it. */
export interface PodEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** What can be seen of one Pod and of the node's memory after it. */
export interface Observation {
  readonly verdict: Verdict;
  /** As in `kubectl get pods`. */
  readonly podReason?: string;
  readonly message?: string;
  readonly events: readonly PodEvent[];
  /** Files of KEP-2535 with their text. */
  readonly files: Readonly<Record<string, string>>;
  /** `<operation> <principal> <decision> <reason>`, each once. */
  readonly calls: readonly string[];
  /** From creation to the verdict; for a Pod that runs, to its running. */
  readonly milliseconds: number;
}

export interface Stage {
  readonly client: KubeClient;
  /** Uids of ServiceAccounts and Secrets, in words that mean the same on both stages. */
  readonly uids: UidNames;
  pod(node: NodeName, step: PodStep, name: string): Promise<Observation>;
  restart(node: NodeName): Promise<void>;
}

/** What the Pod's plugin asked and got since `since`: the same chain behind both nodes. */
export function callsSince(log: EventLog, since: number): readonly string[] {
  const { events } = log.page({ since });
  const calls = events.filter(({ operation }) => CALLS.includes(operation));
  const lines = calls.map(({ operation, principal, decision, reason }) =>
    [operation, principal, decision, reason].filter(Boolean).join(" "),
  );
  return [...new Set(lines)].sort();
}

const CALLS = ["sts:AssumeRoleWithWebIdentity", "ecr:GetAuthorizationToken"];

/** Names for uids: kind, namespace, name, and which of several that had this name. */
export class UidNames {
  readonly #names = new Map<string, string>();

  /** Learns the uids of all ServiceAccounts and Secrets there are now. */
  async learn(client: KubeClient): Promise<void> {
    for (const kind of ["serviceaccounts", "secrets"]) {
      const { items } = (await client.request("GET", `/api/v1/${kind}`)) as { items?: readonly Listed[] };
      for (const { metadata } of items ?? []) this.#add(`${kind} ${metadata.namespace}/${metadata.name}`, metadata.uid);
    }
  }

  /** The text with every known uid replaced. */
  replaceIn(text: string): string {
    let replaced = text;
    for (const [uid, name] of this.#names) replaced = replaced.replaceAll(uid, `<${name}>`);
    return replaced;
  }

  #add(name: string, uid: string): void {
    if (this.#names.has(uid)) return;
    const before = [...this.#names.values()].filter((known) => known.startsWith(`${name} `)).length;
    this.#names.set(uid, `${name} #${before + 1}`);
  }
}

interface Listed {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
}

/** Does what happens between Pods. */
export async function act(stage: Stage, node: NodeName, step: Exclude<StoryStep, PodStep>): Promise<void> {
  if (step.do === "restart-kubelet") await stage.restart(node);
  else if (step.do === "recreate-service-account") await recreateServiceAccount(stage, step);
  else if (step.do === "rotate-secret") await rotateSecret(stage, step);
  else await permitAudience(stage, step.audience);
}

async function recreateServiceAccount(stage: Stage, at: { namespace: string; name: string }): Promise<void> {
  const collection = collectionOf("ServiceAccount", at.namespace);
  const old = (await stage.client.request("GET", `${collection}/${at.name}`)) as { metadata: Fields };
  await stage.client.request("DELETE", `${collection}/${at.name}`);
  const { name, namespace, annotations } = old.metadata;
  const metadata = { name, namespace, annotations };
  await stage.client.request("POST", collection, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  await stage.uids.learn(stage.client);
}

async function rotateSecret(stage: Stage, at: { namespace: string; name: string; config: string }): Promise<void> {
  const path = `${collectionOf("Secret", at.namespace)}/${at.name}`;
  await stage.client.request("PUT", path, {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/dockerconfigjson",
    metadata: { name: at.name, namespace: at.namespace },
    stringData: { ".dockerconfigjson": at.config },
  });
}

async function permitAudience(stage: Stage, audience: string): Promise<void> {
  const group = "rbac.authorization.k8s.io";
  const common = { apiVersion: `${group}/v1`, metadata: { name: audience } };
  const rules = [{ apiGroups: [""], verbs: ["request-serviceaccounts-token-audience"], resources: [audience] }];
  await stage.client.request("POST", collectionOf("ClusterRole", undefined), { ...common, kind: "ClusterRole", rules });
  await stage.client.request("POST", collectionOf("ClusterRoleBinding", undefined), {
    ...common,
    kind: "ClusterRoleBinding",
    roleRef: { apiGroup: group, kind: "ClusterRole", name: audience },
    subjects: [{ apiGroup: group, kind: "Group", name: "system:nodes" }],
  });
}
