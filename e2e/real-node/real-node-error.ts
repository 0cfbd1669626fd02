// What can go wrong around a real node, each said once: what happened, why, and what to do about it.

/** A node that could not be started or used; the message holds the cure. */
export class RealNodeError extends Error {
  override readonly name = "RealNodeError";

  constructor(what: string, details: { readonly why: string; readonly cure: string }) {
    super(`${what}\n  why: ${details.why}\n  cure: ${details.cure}`);
  }
}

interface Symptom {
  readonly pattern: RegExp;
  readonly cure: string;
}

/** What daemons say in their logs when they cannot start, and what helps. */
const SYMPTOMS: readonly Symptom[] = [
  {
    pattern: /.*(?:address already in use|failed to create listener|failed to listen on).*/,
    cure: "end the program that has the port and run again; without fixed ports free ones are chosen at every start",
  },
  {
    pattern: /.*plugin binary executable .*did not exist.*/,
    cure: "build the plugin with e2e/ecr-credential-provider/build.sh, or name its folder rightly",
  },
  {
    pattern: /.*Failed to register CRI auth plugins.*|.*failed to validate credential provider config.*/,
    cure: "correct the credential provider configuration as the kubelet says",
  },
  {
    pattern:
      /.*(?:failed to validate kubelet configuration|failed to load kubelet config file|invalid configuration).*/i,
    cure: "correct the KubeletConfiguration as the kubelet says",
  },
  {
    pattern: /.*(?:operation not permitted|permission denied).*/,
    cure: "run as root with the rights to make namespaces, mounts and cgroups",
  },
];

/** A daemon that ended or never became ready, explained by its own log. */
export function explainDaemon(name: string, how: string, log: string): RealNodeError {
  for (const { pattern, cure } of SYMPTOMS) {
    const line = pattern.exec(log)?.[0];
    if (line !== undefined) return new RealNodeError(`${name} ${how}`, { why: line.trim().slice(0, 600), cure });
  }
  const tail = log.trim().split("\n").slice(-8).join("\n    ");
  return new RealNodeError(`${name} ${how}`, {
    why: `the end of its log:\n    ${tail || "(empty)"}`,
    cure: "read it; REAL_NODE_KEEP_LOGS=<folder> keeps all logs of the next run",
  });
}
