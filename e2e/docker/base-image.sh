#!/usr/bin/env bash
# Makes a stand-in for node:24-bookworm-slim out of this machine's own files, for where no image can be pulled: the
# Node.js of node_modules/node, npm, the shared libraries that ldd names, and busybox in place of a Debian system.
# An image of that name that is there already is left alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

image=${1:-node:24-bookworm-slim}
if docker image inspect "$image" > /dev/null 2>&1; then exit 0; fi
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 2; }

node=$PWD/node_modules/node/bin/node
[[ -x $node ]] || fail "there is no $node" "run npm ci first"
busybox=$(command -v busybox) || fail "there is no busybox" "install busybox-static"
npm_folder=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,etc/ssl/certs,home/node,lib64,proc,sys,dev,run,var/tmp,root,usr/bin,usr/local/bin,usr/local/lib/node_modules}
mkdir -m 1777 "$root/tmp"
cp "$busybox" "$root/bin/busybox"
for name in $("$busybox" --list); do [[ $name == busybox ]] || ln -s busybox "$root/bin/$name"; done
ln -s /bin/env "$root/usr/bin/env"
cp "$node" "$root/usr/local/bin/node"
ldd "$node" | grep -o '/[^ ]*' | while read -r library; do install -D "$(readlink -f "$library")" "$root$library"; done
cp -R "$npm_folder" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
# npm inside asks the same registry as npm outside, and trusts what this machine trusts.
mkdir -p "$root/usr/local/etc"
printf 'registry=%s\ncafile=/etc/ssl/certs/ca-certificates.crt\nupdate-notifier=false\n' "$(npm config get registry)" \
  > "$root/usr/local/etc/npmrc"
printf 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' > "$root/etc/passwd"
printf 'root:x:0:\nnode:x:1000:\n' > "$root/etc/group"
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"
chown -R 1000:1000 "$root/home/node"

tar -C "$root" -c . | docker import \
  -c 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
  -c 'CMD ["node"]' \
  -c 'LABEL dev.pullproof.stand-in="1"' \
  - "$image" > /dev/null
echo "made a stand-in for $image"
