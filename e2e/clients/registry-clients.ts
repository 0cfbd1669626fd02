// The clients that know registries only: how each logs in, pulls and pushes, and what each says when it is refused.
import { CONTAINERD_SOCKET } from "./engines.ts";
import { findDebianProgram, findGoTool } from "./programs.ts";
import type { Words } from "./stage.ts";

/** One user of one client: its folder, and the password that was obtained for it. */
export interface Scene {
  readonly home: string;
  readonly password: string;
}

export interface RegistryClient {
  readonly name: string;
  /** Takes the password on standard input. Clients without it are told the password with every command. */
  login?(host: string): Words;
  pull(image: string, scene: Scene): Words;
  /** Names the pulled image `target`, where a client keeps images by name. */
  tag?(image: string, target: string): Words;
  /** Pushes what the last `pull` into the same home fetched. Absent from the CRI, which has no push. */
  push?(target: string, scene: Scene): Words;
  /** The client's own words; those of ECR are added where the client passes them on. */
  readonly says: {
    readonly wrongPassword: string;
    readonly foreign: string;
    readonly noPush?: string;
    /** Whether it shows ECR's explanation of a refused pull. */
    readonly explains: boolean;
  };
}

const skopeo = () => findDebianProgram("skopeo");
const podman = (...words: string[]): Words => [findDebianProgram("podman"), ...words];
/** With storage of its own: it would take podman's images without asking the registry. */
const buildah = (...words: string[]): Words => [
  findDebianProgram("buildah"),
  "--root=/var/lib/buildah",
  "--runroot=/run/buildah",
  ...words,
];
const docker = () => findDebianProgram("docker");
const ctr = () => findDebianProgram("ctr");
const crane = () => findGoTool("crane");
const oras = () => findGoTool("oras");
const regctl = () => findGoTool("regctl");

const CONTAINERS_PUSH = "failed to read from destination repository";

/** podman and buildah share library and words. */
function containersEngine(name: string, run: (...words: string[]) => Words): RegistryClient {
  return {
    name,
    login: (host) => run("login", "--username", "AWS", "--password-stdin", host),
    pull: (image) => run("pull", image),
    tag: (image, target) => run("tag", image, target),
    push: (target) => run("push", target),
    says: {
      wrongPassword: "invalid status code from registry 400 (Bad Request)",
      foreign: "reading manifest 1 in",
      noPush: CONTAINERS_PUSH,
      explains: true,
    },
  };
}

function crictl(...words: string[]): Words {
  const at = `unix://${CONTAINERD_SOCKET}`;
  return [findGoTool("crictl"), "--runtime-endpoint", at, "--image-endpoint", at, ...words];
}

/** Every client of this kind. */
export const REGISTRY_CLIENTS: readonly RegistryClient[] = [
  {
    name: "skopeo",
    login: (host) => [skopeo(), "login", "--username", "AWS", "--password-stdin", host],
    pull: (image, { home }) => [skopeo(), "copy", `docker://${image}`, `dir:${home}/image`],
    push: (target, { home }) => [skopeo(), "copy", `dir:${home}/image`, `docker://${target}`],
    says: {
      wrongPassword: "invalid status code from registry 400 (Bad Request)",
      foreign: "reading manifest 1 in",
      noPush: CONTAINERS_PUSH,
      explains: true,
    },
  },
  containersEngine("podman", podman),
  containersEngine("buildah", buildah),
  {
    name: "docker",
    login: (host) => [docker(), "login", "--username", "AWS", "--password-stdin", host],
    pull: (image) => [docker(), "pull", image],
    tag: (image, target) => [docker(), "tag", image, target],
    push: (target) => [docker(), "push", target],
    says: {
      wrongPassword: "/v2/ failed with status: 400 Bad Request",
      foreign: "repository does not exist or may require 'docker login': denied:",
      noPush: "denied: User: ",
      explains: true,
    },
  },
  {
    name: "containerd-ctr",
    pull: (image, { password }) => [ctr(), "images", "pull", "--user", `AWS:${password}`, image],
    tag: (image, target) => [ctr(), "images", "tag", image, target],
    push: (target, { password }) => [ctr(), "images", "push", "--user", `AWS:${password}`, target],
    says: {
      wrongPassword: "failed with status code [manifests 1]: 400 Bad Request",
      foreign: "failed with status code [manifests 1]: 403 Forbidden",
      noPush: "ctr: unexpected status: 403 Forbidden",
      explains: false,
    },
  },
  {
    name: "containerd-cri",
    pull: (image, { password }) => crictl("pull", "--creds", `AWS:${password}`, image),
    says: {
      wrongPassword: "failed with status code [manifests 1]: 400 Bad Request",
      foreign: "failed with status code [manifests 1]: 403 Forbidden",
      explains: false,
    },
  },
  {
    name: "crane",
    login: (host) => [crane(), "auth", "login", "--username", "AWS", "--password-stdin", host],
    pull: (image, { home }) => [crane(), "pull", image, `${home}/image.tar`],
    push: (target, { home }) => [crane(), "push", `${home}/image.tar`, target],
    says: {
      wrongPassword: "DENIED: Your Authorization Token is invalid.",
      foreign: "DENIED: User: ",
      noPush: "unexpected status code 403 Forbidden (HEAD responses have no body, use GET for details)",
      explains: true,
    },
  },
  {
    name: "oras",
    login: (host) => [oras(), "login", "--username", "AWS", "--password-stdin", host],
    pull: (image, { home }) => [oras(), "copy", "--to-oci-layout", image, `${home}/image:1`],
    push: (target, { home }) => [oras(), "copy", "--from-oci-layout", `${home}/image:1`, target],
    says: {
      wrongPassword: "Error response from registry: denied: Your Authorization Token is invalid.",
      foreign: "Error from source registry for",
      noPush: "response status code 403: Forbidden",
      explains: true,
    },
  },
  {
    name: "regctl",
    login: (host) => [regctl(), "registry", "login", host, "--user", "AWS", "--pass-stdin"],
    pull: (image, { home }) => [regctl(), "image", "copy", image, `ocidir://${home}/image:1`],
    push: (target, { home }) => [regctl(), "image", "copy", `ocidir://${home}/image:1`, target],
    says: {
      wrongPassword: "400",
      foreign: "request failed: unauthorized [http 403]",
      noPush: "request failed: unauthorized [http 403]",
      explains: false, // it asks by HEAD, whose answers have no body
    },
  },
];
