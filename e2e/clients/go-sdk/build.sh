#!/usr/bin/env bash
# Builds the program of this folder, once for each state of its sources, and prints the folder it is in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

key=$(cat go.mod go.sum main.go | sha256sum | cut -c1-16)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/pullproof/bin/go-sdk-$key"

if [[ ! -x $folder/go-sdk ]]; then
  if ! command -v go > /dev/null; then
    echo "build.sh: go is not on the PATH; install the Go version that go.mod names" >&2
    exit 2
  fi
  mkdir -p "$folder"
  temporary=$(mktemp "$folder/.building.XXXXXX")
  trap 'rm -f "$temporary"' EXIT
  GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$temporary" . >&2
  chmod 755 "$temporary"
  mv "$temporary" "$folder/go-sdk"
fi
echo "$folder"
