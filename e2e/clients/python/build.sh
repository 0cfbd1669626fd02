#!/usr/bin/env bash
# Makes a virtual environment with exactly the packages of requirements.txt, once for each set of versions, and prints
# the folder it is in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v python3 > /dev/null; then
  echo "build.sh: python3 is not on the PATH; install Python 3.10 or newer with its venv module" >&2
  exit 2
fi
key=$({ cat requirements.txt; python3 -c 'import sys; print(sys.version, sys.executable)'; } | sha256sum | cut -c1-16)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/pullproof/python/clients-$key"

if [[ ! -f $folder/complete ]]; then
  # Programs of a virtual environment name its folder, so it is made where it stays; the mark comes last.
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet --no-deps --disable-pip-version-check --requirement requirements.txt >&2
  "$folder/bin/pip" check >&2
  touch "$folder/complete"
fi
echo "$folder"
