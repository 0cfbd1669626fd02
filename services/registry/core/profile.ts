// Profiles: in which shapes a registry refuses and how it behaves, as data. `oci` follows distribution-spec v1.1.1 and
// spec registry 3.3; `ecr` answers as ECR does (spec aws 5.1, 5.2), its oddities only with `ecrQuirks`.
import type { RefusalFacts, RefusalName, RefusalShape } from "../errors.ts";
import type { AuthenticationRefusal } from "../types.ts";
import type { PageLimits } from "./page.ts";

/** What the texts of a profile are made from. */
interface RefusalSubject extends RefusalFacts {
  readonly repository: string;
  readonly registryId: string;
  readonly message: string;
}

type RefusalOverride = Partial<RefusalShape> & { readonly text?: (subject: RefusalSubject) => string };
type RefusalOverrides = Partial<Record<RefusalName, RefusalOverride>>;

/** How refused credentials are answered. `body: "text"` is the message as plain text instead of the error document. */
interface AuthenticationShape extends RefusalShape {
  readonly challenge: boolean;
  readonly body: "document" | "text";
  readonly message: string;
}

/** What differs in behaviour, not in who may do what. */
interface Behaviour {
  readonly baseBody: string;
  readonly chunkStatus: 201 | 202;
  /** `Range` of chunk answers: the whole progress, or the first chunk for ever. */
  readonly chunkRange: "progress" | "first-chunk";
  readonly uploadStatus: boolean;
  readonly mount: boolean;
  readonly location: "relative" | "absolute";
  readonly tagsType: string;
  /** `Content-Type` of a blob HEAD: the media type that a manifest of the repository gives it, where known. */
  readonly headBlobType: "octet-stream" | "descriptor";
  /** Referrers of a repository that does not exist: an empty index, or a refusal. */
  readonly referrersOfUnknown: "empty" | "refuse";
  readonly pages: PageLimits;
  readonly refusals: RefusalOverrides;
}

export interface Profile {
  readonly documentType: string;
  readonly documentEnd: string;
  /** Whether error documents carry `detail`. */
  readonly details: boolean;
  /** The challenge, `<host>` standing for the registry's host. */
  readonly challenge: string;
  readonly authentication: Readonly<Record<AuthenticationRefusal, AuthenticationShape>>;
  readonly deniedMessage: string;
  readonly refusals: RefusalOverrides;
  readonly behaviour: Behaviour;
}

const OCI_BEHAVIOUR: Behaviour = {
  baseBody: "{}",
  chunkStatus: 202,
  chunkRange: "progress",
  uploadStatus: true,
  mount: true,
  location: "relative",
  tagsType: "application/json",
  headBlobType: "octet-stream",
  referrersOfUnknown: "empty",
  pages: { max: 1000, tooLarge: "clamp", withoutN: Number.MAX_SAFE_INTEGER },
  refusals: {},
};

const INVALID_MANIFEST_TEXT =
  "Invalid parameter at 'ImageManifest' failed to satisfy constraint: 'Invalid JSON syntax'";
const LIMIT_TEXT =
  "Invalid parameter at 'maxResults' failed to satisfy constraint: 'Member must have value less than or equal to 1000'";

const ECR_BEHAVIOUR: Behaviour = {
  baseBody: "",
  chunkStatus: 201,
  chunkRange: "first-chunk",
  uploadStatus: false,
  mount: false,
  location: "absolute",
  tagsType: "text/plain; charset=utf-8",
  headBlobType: "descriptor",
  referrersOfUnknown: "refuse",
  pages: { max: 1000, tooLarge: "refuse", withoutN: 1000 },
  refusals: {
    "manifest-unknown": { text: () => "Requested image not found" },
    "reference-invalid": { code: "MANIFEST_INVALID", status: 400 },
    "manifest-invalid": { code: "UNSUPPORTED", status: 405, text: () => INVALID_MANIFEST_TEXT },
    "manifest-blob-unknown": {
      code: "BLOB_UNKNOWN",
      status: 404,
      text: ({ digests, repository, registryId }) =>
        `Layers with digests '[${digests?.join(", ")}]' required for pushing image into repository with name ` +
        `'${repository}' in the registry with id '${registryId}' do not exist`,
    },
    "digest-mismatch": {
      code: "BLOB_UPLOAD_INVALID",
      text: () => "None of the provided layer digests match the calculated layer digest",
    },
    "page-too-large": { status: 405, text: () => LIMIT_TEXT },
  },
};

const REQUIRED = { code: "UNAUTHORIZED", status: 401, challenge: true, body: "document" } as const;
const NOT_AUTHORIZED = { code: "UNAUTHORIZED", status: 401, challenge: true, body: "text" } as const;
const REFUSED_TOKEN = { code: "DENIED", challenge: false, body: "document" } as const;
const EXPIRED_TEXT = "Your authorization token has expired. Reauthenticate and try again.";

/** The profiles by name. */
export const PROFILES = {
  oci: {
    documentType: "application/json",
    documentEnd: "",
    details: true,
    challenge: 'Basic realm="<host>"',
    authentication: {
      "no-credentials": { ...REQUIRED, message: "authentication required" },
      "bad-credentials": { ...REQUIRED, message: "the credentials are not accepted" },
      malformed: { ...REQUIRED, message: "the credentials are malformed" },
      "wrong-region": { ...REQUIRED, message: "the credentials are not for this registry" },
      expired: { ...REQUIRED, message: "the credentials have expired" },
    },
    deniedMessage: "requested access to the resource is denied",
    refusals: {},
    behaviour: OCI_BEHAVIOUR,
  },
  ecr: {
    documentType: "application/json; charset=utf-8",
    documentEnd: "\n",
    details: false,
    challenge: 'Basic realm="https://<host>/",service="ecr.amazonaws.com"',
    authentication: {
      "no-credentials": { ...NOT_AUTHORIZED, message: "Not Authorized" },
      "bad-credentials": { ...NOT_AUTHORIZED, message: "Not Authorized" },
      malformed: { ...REFUSED_TOKEN, status: 400, message: "Your Authorization Token is invalid." },
      "wrong-region": { ...REFUSED_TOKEN, status: 400, message: "Your Authorization Token is invalid." },
      expired: { ...REFUSED_TOKEN, status: 403, message: EXPIRED_TEXT },
    },
    deniedMessage: "User is not authorized to perform this operation",
    refusals: {
      "name-unknown": {
        text: ({ repository, registryId }) =>
          `The repository with name '${repository}' does not exist in the registry with id '${registryId}'`,
      },
      "tag-immutable": {
        text: ({ repository, tag }) =>
          `The image tag '${tag}' already exists in the '${repository}' repository and cannot be overwritten because ` +
          "the repository is immutable.",
      },
    },
    behaviour: ECR_BEHAVIOUR,
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;

/** The profile of a registry; ECR's oddities give way to the specification's behaviour without `ecrQuirks`. */
export function resolveProfile(name: ProfileName, ecrQuirks: boolean): Profile {
  const profile: Profile = PROFILES[name];
  return ecrQuirks ? profile : { ...profile, behaviour: OCI_BEHAVIOUR };
}
