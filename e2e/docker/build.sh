#!/usr/bin/env bash
# Builds the image where nothing can be pulled: base-image.sh stands in for the base, and the plugin is the one that
# e2e/ecr-credential-provider/build.sh compiled. Prints the image's name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

image=${1:-pullproof:dev}
e2e/docker/base-image.sh >&2
plugin=$(e2e/ecr-credential-provider/build.sh)

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
# What git knows (committed or not) and nothing else: node_modules of this machine have no place in the image.
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [[ ! -e $file ]] || printf '%s\0' "$file"
done | tar --null --no-recursion -T - -c | tar -C "$context" -x
install -D "$plugin" "$context/e2e/ecr-credential-provider/bin/ecr-credential-provider"

# The classic builder: it takes base images from the engine and never asks a registry for a newer one.
DOCKER_BUILDKIT=0 docker build --network host --force-rm -t "$image" \
  --build-arg GO_IMAGE=node:24-bookworm-slim --build-arg PLUGIN=prebuilt "$context" >&2
echo "$image"
