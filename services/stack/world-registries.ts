// The `registries` of a world: plain OCI registries that know nothing of AWS.
import { parseEcrHost } from "../shared/aws/registry-host.ts";
import type { WorldPlainRepository, WorldRegistry } from "./types.ts";
import { distinct, list, record } from "./world-collections.ts";
import { optional, readFields, required } from "./world-fields.ts";
import { isRepositoryName, readImages } from "./world-images.ts";
import type { Place } from "./world-place.ts";
import { oneOf, secretText, type TextRule, text } from "./world-texts.ts";
import { isMap } from "./world-value.ts";

const HOST: TextRule = {
  expected: "a host name in lower case, with :port if need be, that is no ECR host",
  test: (host) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/.test(host) && !parseEcrHost(host.replace(/:\d+$/, "")),
  maximum: 253,
};
/** distribution-spec v1.1, "Pulling manifests". */
const REPOSITORY_NAME: TextRule = {
  expected: "a repository name: lower-case letters and digits, separated by . _ __ - or /",
  test: isRepositoryName,
  maximum: 255,
};
/** A colon would end the user name in a Basic header (RFC 7617 §2). */
const USER: TextRule = { expected: "a user name without colon and blanks", test: /^[^\s:]+$/, maximum: 255 };
const PASSWORD: TextRule = {
  expected: "a password of 1 to 1024 characters, in quotes",
  test: /^\P{Cc}+$/u,
  maximum: 1024,
};

/** Reads one registry; `hosts` are those of the registries before it. */
export function readRegistry(place: Place, hosts: Map<string, string>): WorldRegistry {
  const name = String(place.path.at(-1));
  const users = place.at("users").value;
  const userNames = isMap(users) ? Object.keys(users) : [];
  const fields = readFields(place, {
    host: required(text(HOST)),
    auth: optional(oneOf("none", "basic", "bearer"), "basic" as const),
    users: optional(
      record((at) => readFields(at, { password: required(secretText(PASSWORD)) }), USER),
      {},
    ),
    repositories: optional(
      record((at) => readPlainRepository(at, userNames), REPOSITORY_NAME),
      {},
    ),
  });
  const first = hosts.get(fields.host);
  if (first !== undefined)
    place.at("host").refuse("a host of its own for each registry", `the host of the registry ${first}`);
  if (fields.host !== "") hosts.set(fields.host, name);
  return { name, ...fields };
}

function readPlainRepository(place: Place, users: readonly string[]): WorldPlainRepository {
  const user: TextRule = {
    expected:
      users.length > 0 ? `a user of this registry (${users.join(", ")})` : "no grants: this registry has no users",
    test: (name) => users.includes(name),
  };
  return readFields(place, {
    anonymous: optional(distinct(list(oneOf("pull", "push")), "action", asWritten), []),
    grants: optional(record(distinct(list(oneOf("pull", "push", "delete", "*")), "action", asWritten), user), {}),
    images: optional(readImages, []),
  });
}

/** The stand-in for a wrong action is a good one: only what was written can be there twice. */
function asWritten(_action: string, at: Place): string {
  return String(at.value);
}
