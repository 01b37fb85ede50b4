# shellcheck shell=bash
# Sourced by the jobs: checks, devices, and the programs of the project.
# LAB is the laboratory's folder, JDK a JDK's, OUT where results go.

PROJECT=$(cd "$LAB/../.." && pwd)
# shellcheck source=conformance-tests/lab/guest/programs.sh
. "$LAB/guest/programs.sh"
JOB=${JOB:-shell}
SCENARIO=${SCENARIO:-shell}
CHECKS=0
# shellcheck disable=SC2034 # for the jobs
GUEST=$(sed -n "s/.*\blab\.guest=\([^ ]*\).*/\1/p" /proc/cmdline)

# Says how a check ended, to the host: record STATUS WHAT SECONDS LOG
record() {
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$SCENARIO" "$2" "$3" "$4" >> "$OUT/results"
}

# bringup_by_kernel <option>...: a bring-up behind the kernel's VFIO, which reports no refused accesses: nothing else may be left
# unjudged. An emulated processor that shares the machine with other guests may stand still for seconds, and raises too few
# events to turn a queue of them.
bringup_by_kernel() {
  local out status=0
  out=$(hghca bringup --limit PT30S --budget PT1M --skip speed,event.ring "$@") || status=$?
  printf '%s\n' "$out"
  [ "$status" -eq 0 ] && return
  [ "$status" -eq 6 ] && ! grep '^ *OPEN ' <<< "$out" | grep -qv 'does not report refused accesses'
}

# Runs a command as a check, with an output of its own; the check is passed when it ends with 0.
# check WHAT COMMAND...
check() {
  local what=$1 log start tenths status
  shift
  CHECKS=$((CHECKS + 1))
  log=logs/$JOB-$CHECKS.log
  start=${EPOCHREALTIME/./}
  echo "\$ $*" > "$OUT/$log"
  "$@" >> "$OUT/$log" 2>&1 < /dev/null
  status=$?
  tenths=$(((${EPOCHREALTIME/./} - start) / 100000))
  if [ "$status" -eq 0 ]; then
    record PASS "$what" "$((tenths / 10)).$((tenths % 10))" "$log"
  else
    echo "ended with $status" >> "$OUT/$log"
    record FAIL "$what" "$((tenths / 10)).$((tenths % 10))" "$log"
  fi
  return "$status"
}

# Tells the host what was measured; it stands in the summary and is no check: note WHAT VALUE
note() {
  record NOTE "$1 $2" 0 -
}

# A check that is not possible here: skip WHAT WHY
skip() {
  record SKIP "$1: $2" 0 -
}

# Prints the addresses of the functions with these ids, one a line: functions VENDOR:DEVICE
functions() {
  local folder
  for folder in /sys/bus/pci/devices/*; do
    [ "$(cat "$folder/vendor"):$(cat "$folder/device")" = "0x${1%:*}:0x${1#*:}" ] \
      && basename "$folder"
  done
}

has_iommu() {
  [ -n "$(ls /sys/class/iommu)" ]
}

# Gives a function to vfio-pci, whatever drove it before: bind ADDRESS
bind() {
  local folder=/sys/bus/pci/devices/$1
  echo vfio-pci > "$folder/driver_override"
  [ ! -e "$folder/driver" ] || echo "$1" > "$folder/driver/unbind"
  echo "$1" > /sys/bus/pci/drivers_probe
  [ "$(basename "$(readlink "$folder/driver")")" = vfio-pci ]
}

# Gives a function back to the kernel's own driver: release ADDRESS
release() {
  local folder=/sys/bus/pci/devices/$1
  echo > "$folder/driver_override"
  echo "$1" > "$folder/driver/unbind"
  echo "$1" > /sys/bus/pci/drivers_probe
  [ "$(basename "$(readlink "$folder/driver")")" != vfio-pci ]
}

# Prints the number of a function's IOMMU group: group ADDRESS
group() {
  basename "$(readlink "/sys/bus/pci/devices/$1/iommu_group")"
}

# Prints the network interface with a MAC; fails where there is none: interface MAC
interface() {
  local file
  file=$(grep -l "$1" /sys/class/net/*/address) && basename "$(dirname "$file")"
}

# Sets nic to the interface of a card that Linux's virtio_net drives, which has a link and an
# address then: network_card MAC ADDRESS
network_card() {
  ln -sfn /kernel/usr/lib/modules /usr/lib/modules
  modprobe virtio_net && ls -l /sys/class/net && lspci -vvs "$(functions 1af4:1041 | tail -n 1)" || return
  nic=$(interface "$1") || return
  ip link set "$nic" up && ip address replace "$2" dev "$nic" || return
  for _ in {1..100}; do
    [ "$(cat "/sys/class/net/$nic/carrier")" = 1 ] && ip address show "$nic" && return
    sleep 0.1
  done
  return 1
}

# Whether the kernel has reported nothing that a network card is to blame for.
quiet_kernel() {
  dmesg | grep -iE "virtio|NETDEV|WARNING|BUG|Call Trace|DMAR" | tail -n 20
  ! dmesg | grep -qiE "WARNING:|BUG:|Call Trace|NETDEV WATCHDOG|DMAR.*fault|is not a head|output.*error"
}

# Runs tests; what they publish becomes notes: junit NAME [-Dkey=value...] SELECTION...
junit() {
  local status key value
  junit_run "$@"
  status=$?
  while IFS=: read -r key value; do note "$key:" "${value# }"; done \
    < <(sed -n 's/^\t- //p' "$OUT/junit-$1"/TEST-*.xml)
  return "$status"
}

# Sets HCAS to the locators of the software HCAs here, the two ends of a cable, and ADDRESSES to the
# PCI addresses of those in a guest.
find_hcas() {
  local address names=()
  ADDRESSES=()
  if [ -n "${SOCKETS:-}" ]; then
    names=("vfio-user:$SOCKETS/host-left" "vfio-user:$SOCKETS/host-right")
  else
    mapfile -t ADDRESSES < <(functions 1234:4843)
    for address in "${ADDRESSES[@]}"; do
      bind "$address"
      names+=("pci:$address")
    done
  fi
  if [ ${#names[@]} -ne 2 ]; then
    check "there are two HCAs, not ${#names[@]}" false
    exit 1
  fi
  # shellcheck disable=SC2034 # for the jobs
  HCAS=("${names[@]}")
}
