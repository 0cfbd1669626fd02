#!/usr/bin/env bash
# Builds the client programs that go.mod names as tools, unmodified and once for each set of versions, and prints the
# folder they are in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

key=$(cat go.mod go.sum | sha256sum | cut -c1-16)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/pullproof/bin/clients-$key"

if [[ ! -d $folder ]]; then
  if ! command -v go > /dev/null; then
    echo "build.sh: go is not on the PATH; install the Go version that go.mod names" >&2
    exit 2
  fi
  mkdir -p "$(dirname "$folder")"
  temporary=$(mktemp -d "$folder.building.XXXXXX")
  trap 'rm -rf "$temporary"' EXIT
  # Debian's package installs a program of the same name; a folder of its own keeps the two apart.
  GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$temporary/" tool >&2
  chmod 755 "$temporary"
  mv -T "$temporary" "$folder" 2> /dev/null || [[ -d $folder ]]
fi
echo "$folder"
