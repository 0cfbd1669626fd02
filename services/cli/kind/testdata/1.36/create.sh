#!/bin/sh
# Creates the cluster and connects it to the running stack. Everything that nodes mount must be there before kind starts:
# Docker would make a folder in the place of a missing file, and the kubelet would not come up.
set -eu
cd "$(dirname "$0")"

endpoint=${PULLPROOF_ENDPOINT:-http://127.0.0.1:4566}
container=${1:-pullproof}

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
if [ -f tls/ca.pem ] && ! cmp -s tls/ca.new tls/ca.pem; then
  echo "create.sh: the stack has a new CA; clusters made with the old one do not trust it" >&2
fi
cat tls/ca.new > tls/ca.pem # in place: a mounted file keeps its inode
rm tls/ca.new

[ -x plugin/bin/ecr-credential-provider ] || fail "plugin/bin/ecr-credential-provider is missing or not executable" \
  "put the credential provider there, built statically for the nodes' architecture (README.md says how)"
for file in plugin/config/config.yaml certs.d config/sa.key config/sa.pub; do
  [ -e "$file" ] || fail "$file is missing" "run pullproof kind generate again"
done

# kind copies the proxy settings into its nodes: the stack's names must not go through a proxy.
direct="${NO_PROXY:-${no_proxy:-}}"
NO_PROXY="${direct:+$direct,}oidc.eks.us-west-2.amazonaws.com,oidc.rogue.pullproof.test,registry.pullproof.test,sts.amazonaws.com,sts.us-west-2.amazonaws.com,api.ecr.us-west-2.amazonaws.com,111122223333.dkr.ecr.us-west-2.amazonaws.com,444455556666.dkr.ecr.us-west-2.amazonaws.com"
no_proxy=$NO_PROXY
export NO_PROXY no_proxy

kind create cluster --config kind.yaml --wait 180s
./connect.sh "$container"
kubectl --context kind-pullproof apply -f manifests/audience.yaml -f manifests/world.yaml
