#!/usr/bin/env bash
# Builds the unmodified ecr-credential-provider named in go.mod, once for each version, and prints where it is.
# The folder it is in holds nothing else, so it can serve as a kubelet's plugin directory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=$(awk '$1 == "k8s.io/cloud-provider-aws" { print $2 }' go.mod)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/pullproof/bin/ecr-credential-provider-$version"
plugin="$folder/ecr-credential-provider"

if [[ ! -x $plugin ]]; then
  if ! command -v go > /dev/null; then
    echo "build.sh: go is not on the PATH; install the Go version that go.mod names, or put a built plugin at $plugin" >&2
    exit 2
  fi
  mkdir -p "$folder"
  temporary=$(mktemp "$folder/.building.XXXXXX")
  trap 'rm -f "$temporary"' EXIT
  # The go.mod and go.sum here are what is tested: no other toolchain and no other module version is fetched on the quiet.
  GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0 \
    go build -trimpath -o "$temporary" k8s.io/cloud-provider-aws/cmd/ecr-credential-provider >&2
  chmod 755 "$temporary"
  mv "$temporary" "$plugin"
fi
echo "$plugin"
