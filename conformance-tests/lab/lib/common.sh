# shellcheck shell=bash
# Sourced by run: messages, and what has to be undone at the end.

START_SECONDS=$(date +%s)

# Seconds since the start.
elapsed() {
  echo $(($(date +%s) - START_SECONDS))
}

step() {
  echo "[$(elapsed) s] $*"
}

die() {
  echo "lab: $*" >&2
  exit 1
}

# Ends a process that this script started: SIGTERM, waits up to 5 s, then SIGKILL.
# $1: process id
end_process() {
  local pid=$1 i
  kill "$pid" 2> /dev/null || return 0
  for ((i = 0; i < 50; i++)); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  kill -KILL "$pid" 2> /dev/null
  wait "$pid" 2> /dev/null
  return 0
}

# The processes to end and the folders to remove, whatever happens.
PROCESSES=()
SCRATCH=()

clean_up() {
  local status=$? pid folder
  trap - EXIT INT TERM
  for pid in "${PROCESSES[@]}"; do end_process "$pid"; done
  for folder in "${SCRATCH[@]}"; do rm -rf "$folder"; done
  exit "$status"
}

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
