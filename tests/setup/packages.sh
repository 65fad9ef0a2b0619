# shellcheck shell=bash
# What the machine must have, to be sourced. Debian packages are installed when
# a command is missing; elsewhere the missing command is named.
# Nothing here writes to stdout: a caller's output may be read by a program.

PATH="$PATH:$HOME/.cargo/bin" # rustup's place, which a bare CI shell may not know

give_up() {
  echo "$*" >&2
  exit 1
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# need COMMAND PACKAGE...: COMMAND is on PATH afterwards, from Debian's PACKAGEs if need be.
need() {
  local command=$1
  shift
  if command -v "$command" >/dev/null; then return; fi
  local missing="'$command' is missing. On Debian: apt-get install $*"
  command -v apt-get >/dev/null || give_up "$missing; here, by your system's own package manager."
  ((EUID == 0)) || command -v sudo >/dev/null || give_up "$missing (as root: there is no sudo here)"
  echo "installing $*" >&2
  {
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
  } >&2 </dev/null || give_up "$missing"
}

need_rust() {
  command -v cargo >/dev/null || give_up "'cargo' is missing: install Rust 1.88 or later with rustup."
  cargo fmt --version >/dev/null 2>&1 || give_up "'cargo fmt' is missing: rustup component add rustfmt"
  cargo clippy --version >/dev/null 2>&1 || give_up "'cargo clippy' is missing: rustup component add clippy"
  need cc gcc libc6-dev # links every program
  need ps procps # tests look for processes that were left behind
}
