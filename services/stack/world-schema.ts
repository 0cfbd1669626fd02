// The schema of a world: its sections in order. The default world is the reference of what may stand here.
import type { World, WorldSwitches, WorldTenant } from "./types.ts";
import { ACCOUNT_ID, REGION, readAccount } from "./world-accounts.ts";
import { declaredNamespace, readCluster } from "./world-cluster.ts";
import { list, record } from "./world-collections.ts";
import { collectContext, type WorldChecks, type WorldContext } from "./world-context.ts";
import { optional, readFields, required } from "./world-fields.ts";
import { readIssuer } from "./world-issuers.ts";
import { Place, type PlacedMistake, type Reader, refuseProblem } from "./world-place.ts";
import { readRegistry } from "./world-registries.ts";
import { flag, whole } from "./world-scalars.ts";
import { type TextRule, text } from "./world-texts.ts";
import { isMap } from "./world-value.ts";

const NAME: TextRule = {
  expected: "a name of lower-case letters, digits and -",
  test: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
  maximum: 63,
};
const IMAGE_PATTERN: TextRule = {
  expected: "an image name with its host, without tag and digest; * only as its end",
  test: /^[a-z0-9.-]+(?::\d+)?\/(?:[a-z0-9._/-]*\*|[a-z0-9._/-]+)$/,
};

/**
 * Reads a raw world.
 * @returns the world and every mistake in it; with a mistake, the world holds stand-ins and must not be used
 */
export function readWorld(
  value: unknown,
  source: string,
  checks: WorldChecks,
): { world: World; mistakes: readonly PlacedMistake[] } {
  const mistakes: PlacedMistake[] = [];
  const place = new Place(value, [], mistakes);
  const context = collectContext(value, checks);
  const hosts = new Map<string, string>();
  const issuers: Reader<Record<string, World["issuers"][number]>> = record((at) => readIssuer(at, context), NAME);
  const fields = readFields(place, {
    version: required(whole(1, 1)),
    region: optional(text(REGION), "us-east-1"),
    issuers: required(notEmpty(issuers)),
    accounts: optional(
      record((at) => readAccount(at, context), ACCOUNT_ID),
      {},
    ),
    cluster: optional((at) => readCluster(at, context), undefined),
    registries: optional(
      record((at) => readRegistry(at, hosts), NAME),
      {},
    ),
    tenants: optional(
      record((at) => readTenant(at, context), NAME),
      {},
    ),
    switches: optional(readSwitches, DEFAULT_SWITCHES),
  });
  refuseSharedAccessKeys(place, fields.accounts);
  refuseObjects(place.at("cluster").at("objects"), checks, [...mistakes]);
  const world: World = {
    source,
    region: fields.region,
    issuers: Object.values(fields.issuers),
    accounts: Object.values(fields.accounts),
    cluster: fields.cluster ?? { issuer: context.signingIssuers[0] ?? "", objects: [], nodes: [] },
    registries: Object.values(fields.registries),
    tenants: Object.values(fields.tenants),
    switches: fields.switches,
  };
  return { world, mistakes };
}

function notEmpty<T>(read: Reader<Record<string, T>>): Reader<Record<string, T>> {
  return (place) => {
    if (isMap(place.value) && Object.keys(place.value).length === 0)
      place.refuse("at least one issuer", "an empty map");
    return read(place);
  };
}

/** An access key id names one user of the whole world. */
function refuseSharedAccessKeys(place: Place, accounts: Readonly<Record<string, World["accounts"][number]>>): void {
  const owners = new Map<string, string>();
  for (const [account, { iam }] of Object.entries(accounts)) {
    for (const [user, { accessKeys = [] }] of Object.entries(iam.users ?? {})) {
      for (const [index, { id }] of accessKeys.entries()) {
        const owner = owners.get(id);
        const me = `${account}/${user}`;
        const at = place.at("accounts").at(account).at("users").at(user).at("accessKeys").at(index).at("id");
        if (owner !== undefined && owner !== me)
          at.refuse("an access key of its own for each user", `the key of ${owner}`);
        if (id !== "") owners.set(id, owner ?? me);
      }
    }
  }
}

/** What the API server would refuse; objects with a mistake already are left to their first one. */
function refuseObjects(objects: Place, { listManifestProblems }: WorldChecks, known: readonly PlacedMistake[]): void {
  if (!Array.isArray(objects.value)) return;
  const wrong = new Set(known.filter(({ path }) => path[1] === "objects").map(({ path }) => path[2]));
  for (const { index, path, message } of listManifestProblems?.(objects.value) ?? []) {
    if (!wrong.has(index)) refuseProblem(objects.at(index), path, message);
  }
}

function readTenant(place: Place, context: WorldContext): WorldTenant {
  const fields = readFields(place, {
    namespaces: required(list(text(declaredNamespace(context)))),
    images: required(list(text(IMAGE_PATTERN))),
  });
  return { name: String(place.path.at(-1)), ...fields };
}

const DEFAULT_SWITCHES: WorldSwitches = {
  httpIssuers: false,
  autoCreateRepositories: false,
  verifyThumbprints: false,
  blobRedirect: false,
  ecrQuirks: true,
  shortTokens: false,
  outsideNetwork: false,
};

function readSwitches(place: Place): WorldSwitches {
  return readFields(place, {
    httpIssuers: optional(flag, DEFAULT_SWITCHES.httpIssuers),
    autoCreateRepositories: optional(flag, DEFAULT_SWITCHES.autoCreateRepositories),
    verifyThumbprints: optional(flag, DEFAULT_SWITCHES.verifyThumbprints),
    blobRedirect: optional(flag, DEFAULT_SWITCHES.blobRedirect),
    ecrQuirks: optional(flag, DEFAULT_SWITCHES.ecrQuirks),
    shortTokens: optional(flag, DEFAULT_SWITCHES.shortTokens),
    outsideNetwork: optional(flag, DEFAULT_SWITCHES.outsideNetwork),
  });
}
