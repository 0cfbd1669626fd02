#!/usr/bin/env bash
# Builds unmodified programs from their Go modules, once for each version, and prints the folder they are in:
#   build.sh             kubelet and kube-apiserver, as k8s/go.mod says (about 12 CPU minutes cold)
#   build.sh kubectl     kubectl beside them, for a look around
#   build.sh containerd  a newer containerd than Debian's, as containerd/go.mod says (about 4 CPU minutes cold)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

case ${1:-kubernetes} in
  kubernetes) module=k8s programs=(kubelet kube-apiserver) ;;
  kubectl) module=k8s programs=(kubectl) ;;
  containerd) module=containerd programs=(containerd containerd-shim-runc-v2 ctr) ;;
  *) echo "build.sh: expected kubernetes, kubectl or containerd, found $1" >&2 && exit 2 ;;
esac
cd "$module"

# A module build does not know its version by itself; feature gates and the node's status go by it.
ldflags="-s -w"
if [[ $module == k8s ]]; then
  name=kubernetes path=k8s.io/kubernetes/cmd tags=selinux,notest,grpcnotrace
  version=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' go.mod)
  minor=${version#v1.}
  minor=${minor%%.*}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$minor"
  done
else
  name=containerd path=github.com/containerd/containerd/v2/cmd tags=urfave_cli_no_docs
  version=$(awk '$1 == "github.com/containerd/containerd/v2" { print $2 }' go.mod)
  ldflags+=" -X ${path%/cmd}/version.Version=${version#v}"
fi
folder="${XDG_CACHE_HOME:-$HOME/.cache}/pullproof/bin/$name-$version"

temporary=
trap '[[ -z $temporary ]] || rm -f "$temporary"' EXIT
for program in "${programs[@]}"; do
  [[ -x $folder/$program ]] && continue
  if ! command -v go > /dev/null; then
    echo "build.sh: go is not on the PATH; install the Go version that $module/go.mod names, or put a built $program into $folder" >&2
    exit 2
  fi
  mkdir -p "$folder"
  temporary=$(mktemp "$folder/.building.XXXXXX")
  # The go.mod and go.sum here are what is tested: no other toolchain and no other module version is fetched on the quiet.
  GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0 \
    go build -trimpath -p 2 -tags "$tags" -ldflags "$ldflags" -o "$temporary" "$path/$program" >&2
  chmod 755 "$temporary"
  mv "$temporary" "$folder/$program"
done
echo "$folder"
