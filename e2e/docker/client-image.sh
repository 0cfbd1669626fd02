#!/usr/bin/env bash
# Makes an image with a Docker engine and its command line out of this machine's own, for a client that lives inside a
# network: its engine resolves the names there, and keeps certificates of its own. Prints the image's name.
set -euo pipefail

image=pullproof-e2e/docker-client
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 2; }
docker=${PULLPROOF_E2E_DOCKER:-/usr/bin/docker}
programs=("$docker")
for name in dockerd containerd runc busybox; do
  programs+=("$(command -v "$name")") || fail "there is no $name" "install docker.io, containerd, runc and busybox-static"
done
key=$(cat "${programs[@]}" | sha256sum | cut -c1-16)
if docker image inspect "$image:$key" > /dev/null 2>&1; then echo "$image:$key"; exit 0; fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,etc/ssl/certs,lib64,proc,sys,dev,run,var/lib/docker,root,usr/bin,usr/sbin}
mkdir -m 1777 "$root/tmp"
for program in "${programs[@]}"; do
  install -D "$(readlink -f "$program")" "$root/usr/bin/$(basename "$program")"
  { ldd "$program" 2> /dev/null || true; } | grep -o '/[^ ]*' | while read -r library; do
    install -D "$(readlink -f "$library")" "$root$library"
  done || true
done
for name in $(busybox --list); do ln -s /usr/bin/busybox "$root/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\n' > "$root/etc/passwd"
printf 'root:x:0:\n' > "$root/etc/group"
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"
# No bridge and no firewall rules: this engine pulls and pushes, it runs nothing.
tar -C "$root" -c . | docker import \
  -c 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
  -c 'VOLUME /var/lib/docker' \
  -c 'CMD ["dockerd", "--bridge=none", "--iptables=false", "--ip6tables=false", "--storage-driver=vfs"]' \
  - "$image:$key" > /dev/null
echo "$image:$key"
