// create.sh and connect.sh: the steps that the files alone cannot do, in POSIX shell.
import { FILES } from "./paths.ts";
import type { KindPlan } from "./types.ts";

/** Names for which the stack's container answers in kind's network; the cluster's API server keeps its own. */
export function aliasesOf({ networkNames, mirror }: KindPlan): readonly string[] {
  if (mirror !== undefined) return [mirror.replace(/:\d+$/, "")];
  return networkNames.filter((name) => !/^kubernetes(\.|$)/.test(name));
}

/** Puts the stack's container on kind's network under all its names; may be run again. */
export function renderConnect(plan: KindPlan): string {
  const aliases = aliasesOf(plan).map((alias) => `  --alias ${alias} \\\n`);
  return `#!/bin/sh
# Connects the stack's container to kind's network under every name that nodes use. Run it again when the container is new.
set -eu

container=\${1:-${plan.container}}
network=\${KIND_EXPERIMENTAL_DOCKER_NETWORK:-kind}

fail() {
  echo "connect.sh: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

docker container inspect "$container" > /dev/null 2>&1 ||
  fail "there is no container $container" "start the stack first; name its container as the first argument"
docker network inspect "$network" > /dev/null 2>&1 ||
  fail "there is no network $network" "create the cluster first: kind makes the network"

# A container that is connected already keeps its old aliases, so it leaves first.
if docker container inspect --format '{{range $name, $_ := .NetworkSettings.Networks}}{{println $name}}{{end}}' "$container" | grep -Fqx "$network"; then
  docker network disconnect "$network" "$container"
fi
docker network connect \\
${aliases.join("")}  "$network" "$container"
`;
}

/** Checks that everything a node mounts is there, creates the cluster, connects the stack, applies the manifests. */
export function renderCreate(plan: KindPlan, hasWorldObjects: boolean): string {
  const keys = plan.issuer === "stack";
  const manifests = [FILES.audience, ...(hasWorldObjects ? [FILES.world] : [])];
  return `#!/bin/sh
# Creates the cluster and connects it to the running stack. Everything that nodes mount must be there before kind starts:
# Docker would make a folder in the place of a missing file, and the kubelet would not come up.
set -eu
cd "$(dirname "$0")"

endpoint=\${PULLPROOF_ENDPOINT:-http://127.0.0.1:4566}
container=\${1:-${plan.container}}

fail() {
  echo "create.sh: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

for program in docker kind kubectl curl; do
  command -v "$program" > /dev/null || fail "$program is not on the PATH" "install $program"
done
docker container inspect "$container" > /dev/null 2>&1 ||
  fail "there is no container $container" "start the stack first; name its container as the first argument"

mkdir -p tls
curl -fsS "$endpoint/_pullproof/ca.pem" -o tls/ca.new ||
  fail "no stack answers at $endpoint" "start it, or name it in PULLPROOF_ENDPOINT"
if [ -f ${FILES.ca} ] && ! cmp -s tls/ca.new ${FILES.ca}; then
  echo "create.sh: the stack has a new CA; clusters made with the old one do not trust it" >&2
fi
cat tls/ca.new > ${FILES.ca} # in place: a mounted file keeps its inode
rm tls/ca.new

[ -x ${FILES.pluginFolder}/${pluginOf(plan)} ] || fail "${FILES.pluginFolder}/${pluginOf(plan)} is missing or not executable" \\
  "put the credential provider there, built statically for the nodes' architecture (README.md says how)"
for file in ${FILES.provider} ${FILES.hostsFolder}${keys ? ` ${FILES.key} ${FILES.publicKey}` : ""}; do
  [ -e "$file" ] || fail "$file is missing" "run pullproof kind generate again"
done

# kind copies the proxy settings into its nodes: the stack's names must not go through a proxy.
direct="\${NO_PROXY:-\${no_proxy:-}}"
NO_PROXY="\${direct:+$direct,}${aliasesOf(plan).join(",")}"
no_proxy=$NO_PROXY
export NO_PROXY no_proxy

kind create cluster --config ${FILES.cluster} --wait 180s
./${FILES.connect} "$container"
kubectl --context kind-${plan.name} apply${manifests.map((file) => ` -f ${file}`).join("")}
`;
}

/** The name of the first provider's executable. */
export function pluginOf({ providers }: KindPlan): string {
  return String(providers[0]?.name);
}
