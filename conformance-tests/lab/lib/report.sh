# shellcheck shell=bash
# Sourced by run: results as they come, and the summary.

RESULTS=()
declare -A SEEN=()

# Notes a result and prints it; a failed check with the end of its log.
# $1: PASS, FAIL, SKIP, or NOTE for what was measured; $2: scenario; $3: what; $4: seconds; $5: log file, may be empty
note_result() {
  RESULTS+=("$(printf '%s\t%s\t%s\t%s\t%s' "$1" "$2" "$3" "$4" "$5")")
  [ "$1" = NOTE ] || step "$1 $2: $3 ($4 s)"
  [ "$1" != FAIL ] || end_of_log "$5"
}

# What a failed check printed: the lines of a tool that name a failure, and the end.
# $1: log file, may be empty
end_of_log() {
  [ -f "$1" ] || return 0
  head -n -25 "$1" | grep -E -A 6 '\bFAIL\b|\bSTOP' | sed 's/^/    | /'
  tail -n 25 "$1" | sed 's/^/    | /'
  echo "    | whole log: $1"
}

# Notes the results that a guest has written since the last time.
# $1: guest
report_results() {
  local guest=$1 status scenario what seconds log line
  local count=${SEEN[$guest]:-0}
  while IFS= read -r line; do
    IFS=$'\t' read -r status scenario what seconds log <<< "$line"
    count=$((count + 1))
    note_result "$status" "$scenario" "$what, guest $guest" "$seconds" "$OUT/$guest/$log"
  done < <(tail -n "+$((count + 1))" "$OUT/$guest/results" | grep $'\t')
  SEEN[$guest]=$count
}

# A job that did not come to its end has failed, and so has one that checked nothing.
# $1: guest
report_jobs() {
  local guest=$1 scenario job status
  while read -r scenario job _; do
    status=$(sed -n "s/^$job //p" "$OUT/$guest/ended")
    case $status in
      "") note_result FAIL "$scenario" "job $job was not done, guest $guest" 0 "$OUT/$guest/console.log" ;;
      124 | 137) note_result FAIL "$scenario" "job $job took too long, guest $guest" 0 "$OUT/$guest/logs/$job.log" ;;
      *) compgen -G "$OUT/$guest/logs/$job-*.log" > /dev/null \
        || grep -q $'^SKIP\t'"$scenario"$'\t' "$OUT/$guest/results" \
        || note_result FAIL "$scenario" "job $job checked nothing, guest $guest" 0 "$OUT/$guest/logs/$job.log" ;;
    esac
  done < "$OUT/$guest/jobs"
}

# QEMU says it when a server of the project refuses memory that the guest gives to a device: the guest's programs need not
# notice, and the device then works on pages that are the guest's own.
# $1: guest
report_refused_memory() {
  local log=$OUT/$1/qemu.log status=PASS scenario
  [ -f "$log" ] || return 0
  scenario=$(awk 'NR == 1 { print $1 }' "$OUT/$1/jobs")
  ! grep -qE 'dma_map\(.*\) = -|error reply on async request command 2 ' "$log" || status=FAIL
  note_result "$status" "$scenario" "the device takes all memory that QEMU gives it, guest $1" 0 "$log"
}

# Prints one line a check, what failed once more, and the counts, writes them as JUnit XML, and fails when a check did.
# $1: XML file
summary() {
  local result status scenario what seconds log passed=0 failed=0 skipped=0
  echo
  {
    echo '<?xml version="1.0" encoding="UTF-8"?>'
    echo '<testsuite name="lab">'
    for result in "${RESULTS[@]}"; do
      IFS=$'\t' read -r status scenario what seconds log <<< "$result"
      [ "$status" != NOTE ] || continue
      printf '  <testcase classname="lab.%s" name="%s" time="%s">' \
        "$(escape "$scenario")" "$(escape "$what")" "$seconds"
      case $status in
        FAIL) printf '<failure>%s</failure>' "$(escape "$(tail -n 25 "$log" 2> /dev/null)")" ;;
        SKIP) printf '<skipped/>' ;;
      esac
      echo '</testcase>'
    done
    echo '</testsuite>'
  } > "$1"
  for result in "${RESULTS[@]}"; do
    IFS=$'\t' read -r status scenario what seconds log <<< "$result"
    case $status in
      NOTE) continue ;;
      PASS) passed=$((passed + 1)) ;;
      SKIP) skipped=$((skipped + 1)) ;;
      *) failed=$((failed + 1)) ;;
    esac
    echo "$status $scenario: $what ($seconds s)"
  done
  for result in "${RESULTS[@]}"; do
    IFS=$'\t' read -r status scenario what _ <<< "$result"
    [ "$status" != NOTE ] || echo "measured in $scenario: $what"
  done
  for result in "${RESULTS[@]}"; do
    IFS=$'\t' read -r status scenario what seconds log <<< "$result"
    [ "$status" = FAIL ] || continue
    echo "FAIL $scenario: $what ($seconds s)"
    end_of_log "$log"
  done
  echo "$passed passed, $failed failed, $skipped skipped in $(elapsed) s," \
    "$(processor_time) s of processor time; logs: $OUT"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# The processor time of all processes that were waited for, in seconds. /proc/PID/stat has it in
# ticks: user and system, of the process and of its children.
processor_time() {
  sed 's/.*) //' "/proc/$$/stat" \
    | awk -v ticks="$(getconf CLK_TCK)" '{ printf "%d", ($12 + $13 + $14 + $15) / ticks }'
}

# Text for XML: no markup, no control characters.
# $1: text
escape() {
  printf '%s' "$1" | tr -d '\000-\010\013\014\016-\037' \
    | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g'
}
