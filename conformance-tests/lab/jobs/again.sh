# shellcheck shell=bash
# A device is opened again after its program was killed while it moved data.

find_hcas

# A JVM for this alone; it is killed by its own test, when its writes complete one after the other.
killed_while_traffic_runs() {
  local TOOLS=$TOOLS-killed
  start_tools
  junit killed "-Dhghca.lab.device=${HCAS[0]},${HCAS[1]}" \
    "-Dhghca.lab.kill=kill -KILL $(cat "$TOOLS/process")" org.hghca.conformance.lab.DeviceDeathTest
  # Only the test sends this signal, and only after its writes.
  if tools_live; then
    end_tools
    return 1
  fi
  wait "$(cat "$TOOLS/process")"
  [ $? -eq 137 ]
}

check "killed while traffic runs" killed_while_traffic_runs
check "opened again at once" hghca info -d "${HCAS[0]}" -v
