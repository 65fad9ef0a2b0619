# shellcheck shell=bash
# What is being done, how long it takes, and how many tests passed. To be sourced.

doing="set-up"
tallied=()
logs=target/test-logs

# Says what failed.
on_exit() {
  local status=$?
  ((status == 0)) || echo "== $doing: failed" >&2
}
trap on_exit EXIT

misused() {
  trap - EXIT
  usage >&2
  exit 2
}

# step NAME COMMAND...: says what is being done, then how long it took.
step() {
  doing=$1
  local since=$SECONDS
  shift
  echo "== $doing"
  "$@"
  echo "== $doing: $((SECONDS - since)) s"
}

# family NAME COMMAND...: a step whose tests are counted. The output is kept, too.
family() {
  local name=$1 since=$SECONDS log passed
  log=$logs/${1// /-}.log
  mkdir -p "$logs"
  shift
  doing=$name
  echo "== $name"
  "$@" 2>&1 | tee "$log"
  passed=$(count_passed "$log")
  echo "== $name: $passed passed in $((SECONDS - since)) s"
  ((passed > 0)) || give_up "$name: no test ran"
  tallied+=("$(printf '%-12s %6d passed %5d s' "$name" "$passed" $((SECONDS - since)))")
  total=$((${total:-0} + passed))
}

# count_passed LOG: adds up what nextest, Cargo, Node and the grid say at their ends.
count_passed() {
  sed -nE 's/\x1b\[[0-9;]*m//g
    s/^ *Summary .* ([0-9]+) passed.*/\1/p
    s/^test result: ok\. ([0-9]+) passed.*/\1/p
    s/^(#|ℹ) pass ([0-9]+)$/\2/p
    s/^([0-9]+) passed, 0 failed$/\1/p' "$1" | awk '{ all += $1 } END { print all + 0 }'
}

# tally: what ran, at the end of everything.
tally() {
  printf '== %s\n' "${tallied[@]}"
  echo "== everything: $SECONDS s"
  echo "${total:-0} passed, 0 failed"
}
