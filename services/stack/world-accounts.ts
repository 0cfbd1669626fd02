// The `accounts` of a world: identities with their policies, and ECR repositories.
import { parseArn } from "../shared/aws/arn.ts";
import type { WorldAccount, WorldRepository } from "./types.ts";
import { anyMap, distinct, list, record } from "./world-collections.ts";
import type { WorldContext } from "./world-context.ts";
import { optional, readFields, required } from "./world-fields.ts";
import { isRepositoryName, readImages } from "./world-images.ts";
import { type Place, type Reader, refuseProblem } from "./world-place.ts";
import { whole } from "./world-scalars.ts";
import { oneOf, secretText, type TextRule, text } from "./world-texts.ts";
import { isMap } from "./world-value.ts";

export const ACCOUNT_ID: TextRule = { expected: "an account id: 12 digits, in quotes", test: /^\d{12}$/ };
export const REGION: TextRule = { expected: "a region such as us-west-2", test: /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/ };

const IAM_NAME = { expected: "a name of 1 to 64 letters, digits or +=,.@_-", test: /^[\w+=,.@-]+$/, maximum: 64 };
const POLICY_NAME = { expected: "a name of 1 to 128 letters, digits or +=,.@_-", test: /^[\w+=,.@-]+$/, maximum: 128 };
const IAM_PATH = { expected: "a path such as / or /team/", test: /^\/(?:[\x21-\x2e\x30-\x7e]+\/)*$/, maximum: 512 };
const CLIENT_ID = { expected: "a client id of 1 to 255 characters", test: /./, maximum: 255 };
const THUMBPRINT = { expected: "a thumbprint: 40 hex digits", test: /^[0-9a-fA-F]{40}$/ };
const ACCESS_KEY_ID = { expected: "AKIA and 16 upper-case letters or digits", test: /^AKIA[A-Z0-9]{16}$/ };
const SECRET_KEY = {
  expected: "16 to 128 characters without blanks",
  test: /^[\x21-\x7e]{16}[\x21-\x7e]*$/,
  maximum: 128,
};
const TAG_VALUE: TextRule = { expected: "text of at most 256 characters", test: /(?:)/, maximum: 256 };
/** The ECR grammar (spec aws 4.3). */
const REPOSITORY_NAME: TextRule = {
  expected: "a repository name: 2 to 256 lower-case letters and digits, separated by single . _ - / or __ or --",
  test: (name) => name.length >= 2 && isRepositoryName(name),
  maximum: 256,
};

const tags = record(text(TAG_VALUE), { expected: "a tag key of 1 to 128 characters", test: /./, maximum: 128 });

/** Reads one account; its id is the key that leads here. */
export function readAccount(place: Place, context: WorldContext): WorldAccount {
  const id = String(place.path.at(-1));
  const managed = new Set(
    Object.keys(isMap(place.at("managedPolicies").value) ? (place.at("managedPolicies").value ?? {}) : {}),
  );
  const arns: TextRule = {
    expected: `the ARN of a managed policy of account ${id}`,
    test: (arn) => [...managed].some((name) => arn === `arn:aws:iam::${id}:policy/${name}`),
  };
  const regions = list(text(REGION), { expected: "a list of at least one region", from: 1 });
  const declared = place.at("regions").value;
  const known = Array.isArray(declared) && declared.length > 0 ? declared.map(String) : [context.region];
  const fields = readFields(place, {
    regions: optional(
      distinct(regions, "region", (name) => name),
      [context.region],
    ),
    oidcProviders: optional(
      distinct(
        list((at) => readProvider(at, context)),
        "issuer",
        (item) => item.url,
      ),
      [],
    ),
    managedPolicies: optional(record(policy("identity", context), POLICY_NAME), {}),
    roles: optional(distinctNames(record((at) => readRole(at, arns, context), IAM_NAME)), {}),
    users: optional(distinctNames(record((at) => readUser(at, arns, context), IAM_NAME)), {}),
    repositories: optional(
      record((at) => readRepository(at, known, context), REPOSITORY_NAME),
      {},
    ),
  });
  const { regions: regionList, repositories, ...iam } = fields;
  return { id, regions: regionList, iam: { id, ...iam }, repositories };
}

/** IAM names are unique without regard to case. */
function distinctNames<T>(read: Reader<Record<string, T>>): Reader<Record<string, T>> {
  return (place) => {
    const items = read(place);
    const seen = new Map<string, string>();
    for (const name of Object.keys(items)) {
      const first = seen.get(name.toLowerCase());
      if (first)
        place.at(name).refuseKey("names that differ in more than upper and lower case", `${first} and ${name}`);
      seen.set(name.toLowerCase(), name);
    }
    return items;
  };
}

/** A policy document of this kind; each of its problems is a mistake at its own place. */
function policy(kind: "trust" | "identity" | "resource", context: WorldContext): Reader<unknown> {
  return (place) => {
    const document = anyMap(place);
    if (document !== place.value) return document;
    for (const { path, message } of context.listPolicyProblems?.(kind, document) ?? []) {
      refuseProblem(place, path, message);
    }
    return document;
  };
}

function readProvider(place: Place, context: WorldContext) {
  const names = [...context.issuers.keys()];
  const fields = readFields(place, {
    issuer: required(
      text({ expected: `the name of an issuer (${names.join(", ")})`, test: (name) => names.includes(name) }),
    ),
    clientIds: required(list(text(CLIENT_ID), { expected: "a list of 1 to 100 client ids", from: 1, to: 100 })),
    thumbprints: optional(list(text(THUMBPRINT), { expected: "a list of at most 5 thumbprints", to: 5 }), []),
  });
  return {
    url: context.issuers.get(fields.issuer) ?? "",
    clientIds: fields.clientIds,
    thumbprints: fields.thumbprints,
  };
}

function readRole(place: Place, arns: TextRule, context: WorldContext) {
  const { permissionsBoundary, ...role } = readFields(place, {
    path: optional(text(IAM_PATH), "/"),
    trustPolicy: required(policy("trust", context)),
    policies: optional(record(policy("identity", context), POLICY_NAME), {}),
    managedPolicies: optional(list(managedPolicyArn(arns)), []),
    permissionsBoundary: optional(managedPolicyArn(arns), undefined),
    maxSessionDuration: optional(whole(3600, 43_200), 3600),
    tags: optional(tags, {}),
  });
  return { ...role, ...(permissionsBoundary ? { permissionsBoundary } : {}) };
}

function managedPolicyArn(rule: TextRule): Reader<string> {
  return (place) => {
    const { value } = place;
    if (typeof value === "string" && !parseArn(value)) {
      place.refuse(`an ARN: ${rule.expected}`);
      return "";
    }
    return text(rule)(place);
  };
}

function readUser(place: Place, arns: TextRule, context: WorldContext) {
  const key: Reader<{ id: string; secret: string }> = (at) =>
    readFields(at, { id: required(text(ACCESS_KEY_ID)), secret: required(secretText(SECRET_KEY)) });
  const { permissionsBoundary, ...user } = readFields(place, {
    path: optional(text(IAM_PATH), "/"),
    accessKeys: optional(
      distinct(list(key), "access key", (item) => item.id),
      [],
    ),
    policies: optional(record(policy("identity", context), POLICY_NAME), {}),
    managedPolicies: optional(list(managedPolicyArn(arns)), []),
    permissionsBoundary: optional(managedPolicyArn(arns), undefined),
    tags: optional(tags, {}),
  });
  return { ...user, ...(permissionsBoundary ? { permissionsBoundary } : {}) };
}

function readRepository(place: Place, regions: readonly string[], context: WorldContext): WorldRepository {
  const {
    policy: document,
    lifecyclePolicy,
    ...fields
  } = readFields(place, {
    region: optional(
      text({ expected: `a region of the account (${regions.join(", ")})`, test: (name) => regions.includes(name) }),
      regions[0] ?? context.region,
    ),
    imageTagMutability: optional(oneOf("MUTABLE", "IMMUTABLE"), "MUTABLE" as const),
    tags: optional(tags, {}),
    policy: optional(policy("resource", context), undefined),
    lifecyclePolicy: optional(anyMap, undefined),
    images: optional(readImages, []),
  });
  return { ...fields, ...(document ? { policy: document } : {}), ...(lifecyclePolicy ? { lifecyclePolicy } : {}) };
}
