# shellcheck shell=bash
# Two devices go away while a program moves data with them: the kernel wants them back, and waits
# until the program lets go. QEMU 11.1 ends itself when a vfio-user device is unplugged for real.

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
