// Access rules of a plain registry's repository, as the control API takes them. Pure.
import { ControlError } from "../control/index.ts";
import type { RepositoryGrants } from "../registry/index.ts";

const ACTIONS = ["pull", "push", "delete", "*"] as const;
type Action = (typeof ACTIONS)[number];

/** `{anonymous?: ["pull"], grants?: {user: [actions]}}` @throws ControlError */
export function parseRepositoryAccess(access: Readonly<Record<string, unknown>>): RepositoryGrants {
  const unknown = Object.keys(access).filter((key) => key !== "anonymous" && key !== "grants");
  if (unknown.length > 0) throw refusal("only anonymous and grants", unknown);
  const { anonymous = [], grants = {} } = access;
  if (typeof grants !== "object" || grants === null || Array.isArray(grants))
    throw refusal("grants as an object of users", grants);
  const users = Object.entries(grants).map(
    ([user, actions]) => [user, parseActions(`grants.${user}`, actions)] as const,
  );
  const open = parseActions("anonymous", anonymous).filter((action) => action === "pull" || action === "push");
  return { anonymous: open, grants: Object.fromEntries(users) };
}

function parseActions(member: string, value: unknown): readonly Action[] {
  const isAction = (item: unknown): item is Action => ACTIONS.some((action) => action === item);
  if (Array.isArray(value) && value.every(isAction)) return value;
  throw refusal(`${member} as a list of ${ACTIONS.join(", ")}`, value);
}

function refusal(expected: string, found: unknown): ControlError {
  return new ControlError("BadRequest", `expected ${expected}, found ${JSON.stringify(found)}`);
}
