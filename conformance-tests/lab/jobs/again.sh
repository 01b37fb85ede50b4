# shellcheck shell=bash
# A device is opened again after its program was killed while it moved data.

find_hcas

# A JVM for this alone; it is killed by its own test, when its writes complete one after the other.
killed_while_traffic_runs() {
  local TOOLS=$TOOLS-killed
  start_tools
  junit killed "-Dhghca.lab.device=${HCAS[0]},${HCAS[1]}" \
    "-Dhghca.lab.kill=kill -KILL $(cat "$TOOLS/process")" org.hghca.conformance.lab.DeviceDeathTest
  [ ! -d "/proc/$(cat "$TOOLS/process")" ]
}

check "killed while traffic runs" killed_while_traffic_runs
check "opened again at once" hghca info -d "${HCAS[0]}" -v
