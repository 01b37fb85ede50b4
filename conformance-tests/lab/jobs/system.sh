# shellcheck shell=bash
# Is the machine ready? The findings are kept as a file.

find_hcas

machine_is_ready() {
  hghca info --system | tee "$OUT/info-system.txt"
  grep "${ADDRESSES[0]}" "$OUT/info-system.txt" && grep "^ready: " "$OUT/info-system.txt"
}

check "hghca info --system finds the machine ready" machine_is_ready
