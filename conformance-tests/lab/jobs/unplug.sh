# shellcheck shell=bash
# Two devices are removed while a program moves data with them: the kernel requests them back, and
# waits until the program closes them. QEMU 11.1 aborts when a vfio-user device is really unplugged.

find_hcas

unplugged() {
  junit unplug "-Dhghca.lab.device=${HCAS[0]},${HCAS[1]}" \
    "-Dhghca.lab.kill=$LAB/guest/unplug ${ADDRESSES[*]}" \
    org.hghca.conformance.lab.DeviceDeathTest
}

# The kernel is done with them a while after the program is.
they_are_gone() {
  local i
  for ((i = 0; i < 300; i++)); do
    [ -n "$(functions 1234:4843)" ] || return 0
    sleep 0.1
  done
  lspci
  return 1
}

check "taken away while traffic runs: fatal event, nothing hangs" unplugged
check "the kernel has given both functions up" they_are_gone
