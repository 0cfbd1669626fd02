#!/usr/bin/env bash
# Builds the unmodified Kubernetes programs that k8s/go.mod names, once for each version, and prints the folder they are
# in. Without arguments: kubelet and kube-apiserver, about 10 CPU minutes cold; `build.sh kubectl` for a look around.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/k8s"

version=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' go.mod)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/pullproof/bin/kubernetes-$version"
programs=("$@")
((${#programs[@]})) || programs=(kubelet kube-apiserver)

# A module build does not know its version by itself; the feature gates and the node's status go by it.
minor=${version#v1.}
minor=${minor%%.*}
ldflags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$minor"
done

temporary=
trap '[[ -z $temporary ]] || rm -f "$temporary"' EXIT
for program in "${programs[@]}"; do
  [[ -x $folder/$program ]] && continue
  if ! command -v go > /dev/null; then
    echo "build.sh: go is not on the PATH; install the Go version that k8s/go.mod names, or put a built $program into $folder" >&2
    exit 2
  fi
  mkdir -p "$folder"
  temporary=$(mktemp "$folder/.building.XXXXXX")
  # The go.mod and go.sum here are what is tested: no other toolchain and no other module version is fetched on the quiet.
  GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0 \
    go build -trimpath -p 2 -tags selinux,notest,grpcnotrace -ldflags "$ldflags" -o "$temporary" "k8s.io/kubernetes/cmd/$program" >&2
  chmod 755 "$temporary"
  mv "$temporary" "$folder/$program"
done
echo "$folder"
