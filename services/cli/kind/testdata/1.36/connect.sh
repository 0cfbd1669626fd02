#!/bin/sh
# Connects the stack's container to kind's network under every name that nodes use. Run it again when the container is new.
set -eu

container=${1:-pullproof}
network=${KIND_EXPERIMENTAL_DOCKER_NETWORK:-kind}

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
docker network connect \
  --alias oidc.eks.us-west-2.amazonaws.com \
  --alias oidc.rogue.pullproof.test \
  --alias registry.pullproof.test \
  --alias sts.amazonaws.com \
  --alias sts.us-west-2.amazonaws.com \
  --alias api.ecr.us-west-2.amazonaws.com \
  --alias 111122223333.dkr.ecr.us-west-2.amazonaws.com \
  --alias 444455556666.dkr.ecr.us-west-2.amazonaws.com \
  "$network" "$container"
