# shellcheck shell=bash
# Is the machine ready? The findings are kept as a file. And are functions given away and taken back?

find_hcas

machine_is_ready() {
  hghca info --system | tee "$OUT/info-system.txt"
  grep "${ADDRESSES[0]}" "$OUT/info-system.txt" && grep "^ready: " "$OUT/info-system.txt"
}

check "hghca info --system finds the machine ready" machine_is_ready

# The command gives the function away and takes it back, as a kernel sees it.
unbind_and_bind() {
  local folder=/sys/bus/pci/devices/${ADDRESSES[0]}
  hghca unbind "${ADDRESSES[0]}" || return
  if [ -e "$folder/driver" ]; then
    echo "it still has the driver $(readlink "$folder/driver")"
    return 1
  fi
  hghca bind "${ADDRESSES[0]}" \
    && [ "$(basename "$(readlink "$folder/driver")")" = vfio-pci ]
}

check "hghca unbind and bind" unbind_and_bind
