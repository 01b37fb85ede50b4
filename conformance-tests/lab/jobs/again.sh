# shellcheck shell=bash
# A device is opened again after its program was killed while it moved data.

find_hcas

# Starts the demo, kills it without warning while its traffic runs, and starts it again at once.
kill_and_open_again() {
  local log=$OUT/logs/$JOB-killed.log pid i
  hghca demo -d "${HCAS[0]}" -d "${HCAS[1]}" --seconds 600 > "$log" 2>&1 &
  pid=$!
  # The last line before the measurement.
  for ((i = 0; i < 1200; i++)); do
    grep -q "'datagram: it is me'" "$log" && break
    kill -0 "$pid" || break
    sleep 0.1
  done
  sleep 2
  if ! pkill -KILL -P "$pid" java; then
    echo "the demo was not running any more:"
    tail "$log"
    return 1
  fi
  wait "$pid"
  hghca info -d "${HCAS[0]}" -v
}

check "open again at once after kill -9 while traffic runs" kill_and_open_again
