# shellcheck shell=bash
# The server of both HCAs is killed while traffic runs. The last job of its guest.

find_hcas
check "server killed while traffic runs: fatal event, nothing hangs" junit death \
  "-Dhghca.lab.device=${HCAS[0]},${HCAS[1]}" "-Dhghca.lab.kill=$LAB/guest/ask kill hcas" \
  --select-class org.hghca.conformance.lab.DeviceDeathTest
