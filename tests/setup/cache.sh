# shellcheck shell=bash
# Peers that are installed once per lock file, into a cache that outlives the work tree.
# To be sourced.

# cached MARK INSTALL FILE...: sets `place` to the folder that `INSTALL folder` filled when the
# FILEs were as they are now. A folder without MARK in it is not finished.
cached() {
  local mark=$1 install=$2 lock
  shift 2
  lock=$(cat "$@" | { sha256sum 2>/dev/null || shasum -a 256; })
  place=${XDG_CACHE_HOME:-$HOME/.cache}/midcall/${lock:0:16}
  if [[ ! -e $place/$mark ]]; then
    mkdir -p "$(dirname "$place")"
    fresh=$(mktemp -d "$place.XXXXXX")
    trap 'rm -rf "$fresh"' EXIT
    "$install" "$fresh"
    if [[ ! -e $place/$mark ]]; then # nobody else was faster
      rm -rf "$place"
      mv "$fresh" "$place"
    fi
  fi
}

# npm_ci FOLDER: installs what package-lock.json says, and runs none of its scripts.
npm_ci() {
  cp package.json package-lock.json "$1"
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error >&2 </dev/null
}

# pip_install FOLDER: installs what requirements.txt says, into a venv of the machine's Python.
pip_install() {
  python3 -m venv "$1" >&2
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --require-hashes --requirement requirements.txt >&2 </dev/null
}
