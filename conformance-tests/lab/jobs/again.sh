# shellcheck shell=bash
# A device is opened again after its program was killed while it moved data: the JVM of the tools.

find_hcas

killed_while_traffic_runs() {
  local tools
  tools=$(cat "$TOOLS/process")
  junit killed "-Dhghca.lab.device=${HCAS[0]},${HCAS[1]}" "-Dhghca.lab.kill=kill -KILL $tools" \
    org.hghca.conformance.lab.DeviceDeathTest
  [ ! -d "/proc/$tools" ]
}

open_again() {
  start_tools
  hghca info -d "${HCAS[0]}" -v
}

check "killed while traffic runs" killed_while_traffic_runs
check "opened again at once" open_again
