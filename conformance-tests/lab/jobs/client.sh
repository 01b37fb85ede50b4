# shellcheck shell=bash
# On the host: our vfio-user client against our server, in two processes.

find_hcas
check "hghca info over a socket" hghca info -d "${HCAS[0]}" -v
check "hghca demo over two sockets" "$PROJECT/tools/bin/hghca" demo -d "${HCAS[0]}" -d "${HCAS[1]}"
check "hghca bringup over two sockets" hghca bringup -d "${HCAS[0]}" --loop "peer=${HCAS[1]}"
check "server killed while traffic runs: fatal event, nothing hangs" junit death \
  "-Dhghca.lab.device=${HCAS[0]},${HCAS[1]}" "-Dhghca.lab.kill=$LAB/guest/ask kill hcas" \
  org.hghca.conformance.lab.DeviceDeathTest
