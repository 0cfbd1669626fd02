#!/usr/bin/env bash
# Makes sure that a Docker engine answers: the one that is there, else one that this script starts (needs root).
#   engine.sh         starts one if need be, and says how to stop it
#   engine.sh stop    stops the one that this script has started, and only that
set -euo pipefail

state="${XDG_RUNTIME_DIR:-/tmp}/pullproof-dockerd-$UID"
pid_file="$state/pid"
log="$state/log"
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 2; }

if [[ ${1:-} == stop ]]; then
  if [[ ! -f $pid_file ]]; then echo "no engine was started by this script"; exit 0; fi
  pid=$(< "$pid_file")
  if [[ $(cat "/proc/$pid/comm" 2> /dev/null) == dockerd ]]; then
    kill "$pid"
    for _ in $(seq 150); do [[ -d /proc/$pid ]] || break; sleep 0.2; done
  fi
  rm -rf "$state"
  echo "stopped"
  exit 0
fi

command -v docker > /dev/null || fail "there is no docker command" "install Docker (Debian: apt-get install docker.io)"
if version=$(docker version --format '{{.Server.Version}}' 2> /dev/null) && [[ -n $version ]]; then
  echo "a Docker engine answers: $version"
  exit 0
fi
# Starting one here would not make another one answer.
[[ -z ${DOCKER_HOST:-} ]] || fail "no Docker engine answers at $DOCKER_HOST" "start that engine, or unset DOCKER_HOST"
command -v dockerd > /dev/null || fail "no Docker engine answers, and there is no dockerd to start" \
  "start Docker, or set DOCKER_HOST to an engine that runs"
((EUID == 0)) || fail "no Docker engine answers, and only root may start one" "start it: sudo systemctl start docker"

mkdir -p "$state"
setsid dockerd > "$log" 2>&1 < /dev/null &
pid=$!
echo "$pid" > "$pid_file"
for _ in $(seq 150); do
  if version=$(docker version --format '{{.Server.Version}}' 2> /dev/null) && [[ -n $version ]]; then
    echo "started a Docker engine: $version (log: $log)"
    echo "stop it with: ${BASH_SOURCE[0]} stop"
    exit 0
  fi
  [[ -d /proc/$pid ]] || break
  sleep 0.2
done
kill "$pid" 2> /dev/null || true
tail -n 5 "$log" >&2
rm -f "$pid_file"
fail "dockerd did not come up within 30 s" "the reason is in the lines above and in $log"
