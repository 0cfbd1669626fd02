#!/usr/bin/env bash
# guard.sh FOLDER: holds a PID and a mount namespace in which one node's daemons run, for as long as standard input is
# open. Prints "ready" when it is. Whoever started it may end in any way, SIGKILL included: the pipe closes, the first
# process of the namespace ends, the system kills every daemon, shim and container in it and drops its mounts; what is
# left (cgroups, kernel settings, the folder) is removed here. guard.sh --clean FOLDER only does that last part.
set -u
trap '' INT TERM HUP

settings=(vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes)

# The kubelet sets these for the whole machine.
save() { for name in "${settings[@]}"; do echo "$name $(< "/proc/sys/$name")"; done > "$1/settings"; }

clean() {
  local folder=$1 id name value
  for id in $(ls "$folder/run/io.containerd.runtime.v2.task/k8s.io" 2> /dev/null); do
    for _ in {1..20}; do # a cgroup stays busy until its last process is reaped
      find /sys/fs/cgroup -depth -type d -path "*/k8s.io/$id*" -exec rmdir {} + 2> /dev/null
      [[ -z $(find /sys/fs/cgroup -maxdepth 3 -path "*/k8s.io/$id" -print -quit) ]] && break
      sleep 0.1
    done
  done
  rmdir /sys/fs/cgroup/*/k8s.io /sys/fs/cgroup/k8s.io 2> /dev/null
  while read -r name value; do
    [[ $(< "/proc/sys/$name") == "$value" ]] || echo "$value" > "/proc/sys/$name"
  done 2> /dev/null < "$folder/settings"
  rm -rf "$folder"
}

if [[ $1 == --clean ]]; then
  clean "$2"
  exit
fi

folder=$1
# Held while this runs: a folder whose lock is free was left behind.
exec 9> "$folder/lock"
flock 9
save "$folder"
# What the kubelet keeps at fixed places (/var/lib/kubelet, /var/log/containers) and shims in /run goes into memory.
unshare --mount --pid --fork --kill-child --mount-proc bash -c '
  trap "" INT TERM HUP
  for place in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$place" || exit; done
  echo ready
  while read -r _; do :; done
' 9>&-
clean "$folder"
