#!/usr/bin/env bash
# Builds the two Go programs that read the generated files with kind's, containerd's and Kubernetes' own packages, once
# for each content of their sources and go.mod files, and prints the folder they are in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Minor → build tags. "decode" leaves the kubelet's and kubeadm's validation out: a tenth of the packages to compile.
minors=(1.33:decode 1.34:decode 1.35:decode 1.36: 1.37:)
# The tags of e2e/real-node/k8s as well, so that both share Go's build cache.
tags=selinux,notest,grpcnotrace

hash=$(cat build.sh with-kind/* with-kubernetes/* | sha256sum | cut -c1-16)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/pullproof/bin/kind-files-$hash"
if [[ -e $folder/complete ]]; then
  echo "$folder"
  exit
fi
if ! command -v go > /dev/null; then
  echo "build.sh: go is not on the PATH; install the Go version that with-kubernetes/go.mod names" >&2
  exit 2
fi
mkdir -p "$folder"
temporary=$(mktemp "$folder/.building.XXXXXX")
trap 'rm -f "$temporary"' EXIT
# The go.mod and go.sum files here are what is tested: nothing else is fetched on the quiet.
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0

(cd with-kind && go build -trimpath -ldflags "-s -w" -o "$temporary" . >&2)
install -m 755 "$temporary" "$folder/with-kind"
# containerd's configuration in kind's node images, which the cluster configuration patches.
install -m 644 "$(cd with-kind && go list -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files/etc/containerd/config.toml" "$folder/containerd.toml"

for entry in "${minors[@]}"; do
  minor=${entry%%:*}
  modfile=kubernetes-$minor.mod
  [[ -e with-kubernetes/$modfile ]] || modfile=go.mod # the newest
  (cd with-kubernetes && go build -modfile="$modfile" -trimpath -tags "$tags,${entry#*:}" -ldflags "-s -w" -o "$temporary" . >&2)
  install -m 755 "$temporary" "$folder/with-kubernetes-$minor"
done
touch "$folder/complete"
echo "$folder"
