// What the stack saw of one client: its event log, reduced to the facts that tests compare.
import type { Stage } from "./stage.ts";

/** Everything one principal did in one repository (or, without a repository, anywhere), as `operation decision reason`. */
export interface Observed {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

/** @param since sequence number; see {@link latest} */
export function observe(stage: Stage, filter: { principal: string; resource?: string; since?: number }): Observed {
  const { principal, resource, since = 0 } = filter;
  const { events } = stage.stack.events.page({ principal, since, limit: 50_000 });
  const own = events.filter((event) => resource === undefined || event.resource === resource);
  return {
    allowed: own.filter(({ decision }) => decision === "allow").map(({ operation }) => operation),
    denied: own.filter(({ decision }) => decision === "deny").map(({ operation, reason }) => `${operation} ${reason}`),
  };
}

/** The log's present end, for `since`. */
export function latest({ stack }: Stage): number {
  return stack.events.page({ limit: 50_000 }).next;
}

/** The ARN of a repository in the stage's region. */
export function repositoryArn(account: string, name: string): string {
  return `arn:aws:ecr:us-west-2:${account}:repository/${name}`;
}

/** The principal of a client that logged in by web identity. */
export function sessionArn(client: string): string {
  return `arn:aws:sts::111122223333:assumed-role/team-a-pull/${client}`;
}

export const CI_ARN = "arn:aws:iam::111122223333:user/ci";
