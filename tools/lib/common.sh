# Shared by the scripts in tools/: where the tree is, how steps are shown and timed, how a failed
# step shows its log. Source it; it sets DYNBENCH_ROOT and defines functions only.

DYNBENCH_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}"  # service managers may not set it
DYNBENCH_DATA_HOME="${XDG_DATA_HOME:-$HOME/.local/share}/dynbench"
DYNBENCH_STATE_HOME="${XDG_STATE_HOME:-$HOME/.local/state}/dynbench"
PROGRAM=$(basename "$0")

# say TEXT…: one line for people.
say() { printf '%s\n' "$*"; }

# fail TEXT…: the line on stderr, exit 1. Name the object, the rule and the next step.
fail() {
  printf '%s: %s\n' "$PROGRAM" "$*" >&2
  exit 1
}

# usage_error TEXT…: the line on stderr, exit 2.
usage_error() {
  printf '%s: %s (see %s --help)\n' "$PROGRAM" "$*" "$PROGRAM" >&2
  exit 2
}

# show_help: the comment block at the head of the calling script is its manual.
show_help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# step NAME COMMAND…: runs the command with its output in a log file and says how long it took; a
# failure shows the end of the log and ends the script. The command's last line of output that
# starts with "== " is shown as the step's remark.
step() {
  # Its own names are marked, since a function that runs as the command sees them (dynamic scope).
  local _name=$1 _log _start=$SECONDS _seconds _status
  shift
  _log=$(mktemp "${TMPDIR:-/tmp}/dynbench-step.XXXXXX")
  if [ -t 1 ]; then printf '  %-14s …\r' "$_name"; fi
  # Not `"$@" || _status=$?`: in that context bash ignores errexit inside the command.
  set +e
  (
    set -e
    "$@"
  ) </dev/null >"$_log" 2>&1
  _status=$?
  set -e
  _seconds=$((SECONDS - _start))
  if [ "$_status" -ne 0 ]; then
    printf '  %-14s failed after %d s, exit %d; the end of its log (%s):\n' \
      "$_name" "$_seconds" "$_status" "$_log" >&2
    tail -n 40 "$_log" >&2
    exit 1
  fi
  printf '  %-14s %4d s  %s\n' "$_name" "$_seconds" "$(sed -n 's/^== //p' "$_log" | tail -n 1)"
  rm -f "$_log"
}

# build_jobs: compile jobs that the host bears: its allowed cores, but one for each 2 GiB of memory
# (sources that include gRPC take up to 1.5 GB each).
build_jobs() {
  local cores memory_kib jobs
  cores=$(nproc)
  memory_kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  jobs=$((memory_kib / 2097152))
  [ "$jobs" -ge 1 ] || jobs=1
  [ "$jobs" -le "$cores" ] || jobs=$cores
  printf '%d\n' "$jobs"
}

# build_preset PRESET [TARGET…]: configures when needed and builds; the remark says whether anything
# was out of date.
build_preset() {
  local preset=$1 log target targets=()
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  cd "$DYNBENCH_ROOT"
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"
  log=$(mktemp "${TMPDIR:-/tmp}/dynbench-build.XXXXXX")
  if ! cmake --build --preset "$preset" -j "$(build_jobs)" "${targets[@]}" >"$log" 2>&1; then
    cat "$log"
    rm -f "$log"
    return 1
  fi
  cat "$log"
  if grep -q '^ninja: no work to do' "$log"; then
    say "== nothing to rebuild (build/$preset)"
  else
    say "== built into build/$preset/bin"
  fi
  rm -f "$log"
}
